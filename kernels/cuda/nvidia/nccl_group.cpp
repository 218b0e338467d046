// Groups of processes by NCCL, each with one GPU. Note: communicators are non-blocking, so that no
// call of NCCL waits for a peer that never comes: settle() waits, with an end. One lock for each
// member keeps abort(), which another thread may call at any time, out of the middle of a call.
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

#include "kernels/cuda/families.h"
#include "kernels/cuda/runtime/devices.h"
#include "kernels/device_error.h"
#include "nccl.h"

namespace rushlight {

struct GroupMember {
  std::mutex turn;
  gpu::nccl::ncclComm_t comm = nullptr;
  bool gone = false;
  int device, rank, size;
};

}  // namespace rushlight

namespace rushlight::gpu {
namespace {

using namespace nccl;
using Clock = std::chrono::steady_clock;
using What = MemberCall::What;

const Functions& library_here() {
  if (const Functions* f = functions<Functions>()) return *f;
  throw DeviceError(DeviceError::Kind::fault, library(Functions::kind()).words.c_str());
}

std::string words_of(const Functions& f, ncclResult_t status, ncclComm_t comm) {
  const char* more = f.last_error(comm);
  return std::string("NCCL error: ") + f.words(status) + (more && *more ? "\n" : "") +
         (more ? more : "");
}
[[noreturn]] void fail(const std::string& words) {
  throw DeviceError(DeviceError::Kind::fault, words.c_str());
}

// What a call has become, once the communicator is no longer busy with it.
void settle(const Functions& f, GroupMember& m, ncclResult_t status, Clock::time_point deadline,
            const char* call) {
  std::unique_lock lock(m.turn);
  for (;;) {
    if (m.gone) fail(std::string(call) + ": the communicator was aborted");
    if (status == ncclSuccess || status == ncclInProgress)
      if (const ncclResult_t result = f.async_error(m.comm, &status); result != ncclSuccess)
        status = result;
    if (status == ncclSuccess) return;
    if (status != ncclInProgress) fail(words_of(f, status, m.comm) + "\nin " + call);
    if (Clock::now() >= deadline) fail(std::string(call) + ": the other ranks have not come");
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    lock.lock();
  }
}

bool new_id(char (&id)[kGroupIdBytes]) {
  const Functions* f = functions<Functions>();
  if (!f) return false;
  ncclUniqueId made;
  if (const ncclResult_t status = f->new_id(&made); status != ncclSuccess)
    fail(words_of(*f, status, nullptr) + "\nin ncclGetUniqueId");
  static_assert(sizeof made.internal == kGroupIdBytes);
  std::memcpy(id, made.internal, sizeof id);
  return true;
}

void abort_locked(const Functions& f, GroupMember& m) {
  if (m.gone) return;
  m.gone = true;
  if (m.comm) f.abort(m.comm);
}

GroupMember* join(int device, const char (&id)[kGroupIdBytes], int rank, int size,
                  std::int64_t milliseconds) {
  const Functions& f = library_here();
  const OnDevice there(device);
  auto* m = new GroupMember{{}, nullptr, false, device, rank, size};
  ncclUniqueId given;
  std::memcpy(given.internal, id, sizeof id);
  ncclConfig_t config;
  config.blocking = 0;
  try {
    const ncclResult_t status = f.join(&m->comm, size, given, rank, &config);
    settle(f, *m, status, Clock::now() + std::chrono::milliseconds(milliseconds),
           "ncclCommInitRankConfig");
  } catch (...) {
    abort_locked(f, *m);
    delete m;
    throw;
  }
  return m;
}

ncclDataType_t element_of(DType d) {
  switch (d) {
    case DType::int8: return ncclInt8;
    case DType::int32: return ncclInt32;
    case DType::int64: return ncclInt64;
    case DType::float16: return ncclFloat16;
    case DType::float32: return ncclFloat32;
    case DType::float64: return ncclFloat64;
    case DType::bfloat16: return ncclBfloat16;
    default: return ncclUint8;  // of bytes and bool
  }
}
int operation_of(MemberCall::Reduction r) {
  constexpr int all[] = {ncclSum, ncclProd, ncclMin, ncclMax};
  return all[int(r)];
}

// A part of each rank of `all` to each, or from each.
ncclResult_t parts(const Functions& f, const GroupMember& m, const MemberCall& c, bool sends,
                   bool receives, cudaStream_t stream) {
  const std::size_t bytes = c.count * std::size_t(item_size(c.dtype));
  ncclResult_t status = ncclSuccess;
  for (int r = 0; r < m.size && status == ncclSuccess; ++r) {
    const std::size_t at = bytes * std::size_t(r);
    if (sends)
      status = f.send(static_cast<const char*>(c.in) + at, c.count, element_of(c.dtype), r, m.comm,
                      stream);
    if (receives && status == ncclSuccess)
      status = f.receive(static_cast<char*>(c.out) + at, c.count, element_of(c.dtype), r, m.comm,
                         stream);
  }
  return status;
}

ncclResult_t call(const Functions& f, const GroupMember& m, const MemberCall& c,
                  cudaStream_t stream) {
  const ncclDataType_t e = element_of(c.dtype);
  const int operation = operation_of(c.reduction);
  const bool is_root = m.rank == c.peer;
  ncclResult_t status = ncclSuccess;
  switch (c.what) {
    case What::all_reduce: return f.all_reduce(c.in, c.out, c.count, e, operation, m.comm, stream);
    case What::reduce: return f.reduce(c.in, c.out, c.count, e, operation, c.peer, m.comm, stream);
    case What::all_gather: return f.all_gather(c.in, c.out, c.count, e, m.comm, stream);
    case What::reduce_scatter:
      return f.reduce_scatter(c.in, c.out, c.count, e, operation, m.comm, stream);
    case What::broadcast: return f.broadcast(c.in, c.out, c.count, e, c.peer, m.comm, stream);
    case What::all_to_all: return parts(f, m, c, true, true, stream);
    case What::gather:
      status = f.send(c.in, c.count, e, c.peer, m.comm, stream);
      return is_root && status == ncclSuccess ? parts(f, m, c, false, true, stream) : status;
    case What::scatter:
      status = f.receive(c.out, c.count, e, c.peer, m.comm, stream);
      return is_root && status == ncclSuccess ? parts(f, m, c, true, false, stream) : status;
    case What::send: return f.send(c.in, c.count, e, c.peer, m.comm, stream);
    case What::receive: return f.receive(c.out, c.count, e, c.peer, m.comm, stream);
  }
  return ncclInvalidArgument;
}

void enqueue(GroupMember* m, const MemberCall* calls, int count, StreamId stream,
             std::int64_t milliseconds) {
  const Functions& f = library_here();
  const OnDevice there(m->device);
  const auto deadline = Clock::now() + std::chrono::milliseconds(milliseconds);
  ncclResult_t status = ncclSuccess;
  {
    const std::lock_guard lock(m->turn);
    if (m->gone) fail("the communicator was aborted");
    status = f.begin();
    for (int i = 0; i < count && status == ncclSuccess; ++i)
      status = call(f, *m, calls[i], reinterpret_cast<cudaStream_t>(stream));
    const ncclResult_t end = f.end();  // also after an error, or the thread stays in the group
    if (status == ncclSuccess) status = end;
  }
  settle(f, *m, status, deadline, "ncclGroupEnd");
  if (blocking()) gpu::check(cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(stream)), "NCCL");
}

bool error(GroupMember* m, char* words, std::size_t size) {
  const Functions& f = library_here();
  const std::lock_guard lock(m->turn);
  ncclResult_t state = ncclSuccess;
  const ncclResult_t result = m->gone ? ncclSuccess : f.async_error(m->comm, &state);
  if (result != ncclSuccess) state = result;
  if (!m->gone && (state == ncclSuccess || state == ncclInProgress)) return false;
  const std::string text = m->gone ? "the communicator was aborted" : words_of(f, state, m->comm);
  std::snprintf(words, size, "%s", text.c_str());
  return true;
}

void abort(GroupMember* m) {
  const Functions& f = library_here();
  const OnDevice there(m->device);
  const std::lock_guard lock(m->turn);
  abort_locked(f, *m);
}

void leave(GroupMember* m, std::int64_t milliseconds) {
  const Functions& f = library_here();
  const OnDevice there(m->device);
  try {
    if (!m->gone) {
      const ncclResult_t status = f.finalize(m->comm);
      settle(f, *m, status, Clock::now() + std::chrono::milliseconds(milliseconds),
             "ncclCommFinalize");
      f.destroy(m->comm);
    }
  } catch (const DeviceError&) {
    abort(m);
  }
  delete m;
}

}  // namespace

const GroupKernels group_kernels = {new_id, join, enqueue, error, abort, leave};

}  // namespace rushlight::gpu
