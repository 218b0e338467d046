// In place of NCCL, for tests: what the members of a group are called with between begin and end is
// compared (all must ask for the same), checked against the memory of each device, and done.
#include "kernels/cuda/nvidia/nccl.h"

#include <atomic>
#include <unistd.h>
#include <vector>

#include "kernels/dtype.h"
#include "memory.h"
#include "nccl_group.h"

using emulated::wrong;
using namespace rushlight::gpu::nccl;

namespace {

struct Call {
  bool sums;
  const void* from;
  void* to;
  std::size_t count;
  ncclDataType_t element;
  int root;
  cudaStream_t stream;
};
struct Clique {
  std::vector<ncclComm_t> members;
};
std::atomic<int> reductions{0}, broadcasts{0}, groups{0};
std::vector<Clique*> cliques;
bool inside = false;

}  // namespace

namespace rushlight::gpu::nccl {
struct ncclComm {
  int device;
  std::vector<Call> calls;
  emulated::Across* across = nullptr;  // of several processes
};
}  // namespace rushlight::gpu::nccl

namespace {

using emulated::bytes_of;
using emulated::GroupCall;
double value_at(const void* p, ncclDataType_t e, std::size_t i) {
  switch (e) {
    case ncclFloat64: return static_cast<const double*>(p)[i];
    case ncclFloat16: return double(rushlight::load(static_cast<const rushlight::float16*>(p) + i));
    case ncclBfloat16:
      return double(rushlight::load(static_cast<const rushlight::bfloat16*>(p) + i));
    default: return double(static_cast<const float*>(p)[i]);
  }
}
void put(void* p, ncclDataType_t e, std::size_t i, double v) {
  switch (e) {
    case ncclFloat64: static_cast<double*>(p)[i] = v; break;
    case ncclFloat16: rushlight::store(static_cast<rushlight::float16*>(p) + i, float(v)); break;
    case ncclBfloat16: rushlight::store(static_cast<rushlight::bfloat16*>(p) + i, float(v)); break;
    default: static_cast<float*>(p)[i] = float(v);
  }
}

bool calls_agree(const Clique& c, std::size_t at) {
  const Call& first = c.members[0]->calls[at];
  for (std::size_t i = 0; i < c.members.size(); ++i) {
    const Call& call = c.members[i]->calls[at];
    if (call.sums != first.sums || call.count != first.count || call.element != first.element ||
        call.root != first.root || call.root < 0 || call.root >= int(c.members.size()))
      return wrong("member %zu wants something else than the others", i);
    const std::uint64_t bytes = call.count * bytes_of(call.element);
    const int device = c.members[i]->device;
    if (!emulated::holds("what is read", call.from, bytes, device)) return false;
    const bool writes = !call.sums || int(i) == call.root;
    if (writes && !emulated::holds("what is written", call.to, bytes, device)) return false;
  }
  return true;
}

void exchange(const std::vector<Call>& calls) {
  const Call& first = calls[0];
  const Call& root = calls[std::size_t(first.root)];
  for (std::size_t i = 0; first.sums && i < first.count; ++i) {
    double sum = 0;
    for (const Call& call : calls) sum += value_at(call.from, first.element, i);
    put(root.to, first.element, i, sum);
  }
  for (const Call& call : calls)
    if (!first.sums) std::memmove(call.to, root.from, first.count * bytes_of(first.element));
}

bool run(const Clique& c) {
  for (const ncclComm_t m : c.members)
    if (m->calls.size() != c.members[0]->calls.size())
      return wrong("one member is asked for %zu things and another for %zu", m->calls.size(),
                   c.members[0]->calls.size());
  for (std::size_t at = 0; at < c.members[0]->calls.size(); ++at) {
    if (!calls_agree(c, at)) return false;
    std::vector<Call> calls;
    std::vector<cudaStream_t> streams;
    std::vector<int> devices;
    for (const ncclComm_t m : c.members) {
      calls.push_back(m->calls[at]);
      streams.push_back(m->calls[at].stream);
      devices.push_back(m->device);
    }
    ++(calls[0].sums ? reductions : broadcasts);
    emulated::meet(streams, devices, [calls] { exchange(calls); });
  }
  return true;
}

ncclResult_t ask(ncclComm_t m, const Call& call) {
  if (!inside || !m || call.count == 0) {
    wrong("a call outside of a group, or of nothing");
    return ncclInvalidArgument;
  }
  m->calls.push_back(call);
  return ncclSuccess;
}

ncclResult_t ask_across(ncclComm_t m, const GroupCall& call) {
  if (!inside || !m || !m->across || call.count == 0) {
    wrong("a call outside of a group, of nothing, or of no group of processes");
    return ncclInvalidArgument;
  }
  return emulated::ask_across(*m->across, call);
}

}  // namespace

extern "C" {

// For tests: how many sums, copies and groups there were.
int emulated_reductions() { return reductions; }
int emulated_broadcasts() { return broadcasts; }
int emulated_groups() { return groups; }

ncclResult_t ncclGetVersion(int* version) {
  *version = 22703;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t status) {
  return status == ncclInvalidUsage  ? "invalid usage (run with NCCL_DEBUG=WARN for details)"
         : status == ncclRemoteError ? "remote process exited or there was a network error"
                                     : "invalid argument";
}
const char* ncclGetLastError(ncclComm_t) { return emulated::last_words(); }
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static int made = 0;
  *id = {};
  std::snprintf(id->internal, sizeof id->internal, "rushlight-nccl-%d-%d", int(getpid()), ++made);
  return ncclSuccess;
}
ncclResult_t ncclCommInitRankConfig(ncclComm_t* m, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  if (config->magic != 0xcafebeef || config->size != sizeof *config || config->blocking != 0)
    return ncclInvalidArgument;
  const int device = emulated::function_named<int()>("emulated_device")();
  *m = new ncclComm{device, {}, emulated::join_across(size, id, rank, device)};
  return ncclInProgress;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t m, ncclResult_t* state) {
  if (!m || !m->across) return ncclInvalidArgument;
  *state = emulated::state_of(*m->across);
  return ncclSuccess;
}
ncclResult_t ncclCommFinalize(ncclComm_t m) { return m ? ncclSuccess : ncclInvalidArgument; }
ncclResult_t ncclCommAbort(ncclComm_t m) {
  emulated::leave_across(m->across);
  delete m;
  return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t m) { return ncclCommAbort(m); }
ncclResult_t ncclAllReduce(const void* part, void* total, std::size_t count, ncclDataType_t e,
                           int operation, ncclComm_t m, cudaStream_t stream) {
  return ask_across(m, {GroupCall::all_reduce, part, total, count, e, operation, 0, stream});
}
ncclResult_t ncclAllGather(const void* part, void* all, std::size_t count, ncclDataType_t e,
                           ncclComm_t m, cudaStream_t stream) {
  return ask_across(m, {GroupCall::all_gather, part, all, count, e, 0, 0, stream});
}
ncclResult_t ncclReduceScatter(const void* parts, void* total, std::size_t count, ncclDataType_t e,
                               int operation, ncclComm_t m, cudaStream_t stream) {
  return ask_across(m, {GroupCall::reduce_scatter, parts, total, count, e, operation, 0, stream});
}
ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t e, int peer, ncclComm_t m,
                      cudaStream_t stream) {
  return ask_across(m, {GroupCall::send, from, nullptr, count, e, 0, peer, stream});
}
ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t e, int peer, ncclComm_t m,
                      cudaStream_t stream) {
  return ask_across(m, {GroupCall::receive, nullptr, to, count, e, 0, peer, stream});
}
ncclResult_t ncclCommInitAll(ncclComm_t* members, int count, const int* devices) {
  auto* clique = new Clique;
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < i; ++k)
      if (devices[k] == devices[i]) return ncclInvalidArgument;
    members[i] = new ncclComm{devices[i], {}, nullptr};
    clique->members.push_back(members[i]);
  }
  cliques.push_back(clique);
  return ncclSuccess;
}
ncclResult_t ncclGroupStart() {
  inside = true;
  ++groups;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  inside = false;
  emulated::end_across();
  bool good = true;
  for (const Clique* c : cliques) {
    good = run(*c) && good;
    for (const ncclComm_t m : c->members) m->calls.clear();
  }
  return good ? ncclSuccess : ncclInvalidArgument;
}
ncclResult_t ncclReduce(const void* part, void* total, std::size_t count, ncclDataType_t e,
                        int operation, int root, ncclComm_t m, cudaStream_t stream) {
  if (m && m->across)
    return ask_across(m, {GroupCall::reduce, part, total, count, e, operation, root, stream});
  return operation == ncclSum ? ask(m, {true, part, total, count, e, root, stream})
                              : ncclInvalidArgument;
}
ncclResult_t ncclBroadcast(const void* source, void* place, std::size_t count, ncclDataType_t e,
                           int root, ncclComm_t m, cudaStream_t stream) {
  if (m && m->across)
    return ask_across(m, {GroupCall::broadcast, source, place, count, e, 0, root, stream});
  return ask(m, {false, source, place, count, e, root, stream});
}

}  // extern "C"
