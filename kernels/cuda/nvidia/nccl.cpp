// Sums and copies over several GPUs by NCCL: all jobs of a call are one piece of work, each GPU on
// its own stream. The members of a group are made at its first use, which takes seconds, and kept.
#include "nccl.h"

#include <map>
#include <mutex>
#include <vector>

#include "kernels/cuda/families.h"
#include "kernels/cuda/runtime/devices.h"

namespace rushlight::gpu {
namespace nccl {

const LibraryKind& Functions::kind() {
  static constexpr LibraryKind kind = {
      .title = "NCCL",
      .name = "nccl",
      .soname = "libnccl.so.2",
      .variable = "RUSHLIGHT_NCCL_LIBRARY",
      .package = "nvidia-nccl-cu13",
      .needs = {},
      .floor = 22700,  // the first for CUDA 13
      .version =
          [](void* f) {
            int version = 0;
            reinterpret_cast<ncclResult_t (*)(int*)>(f)(&version);
            return version;
          },
      .names = names,
      .count = sizeof names / sizeof names[0],
  };
  return kind;
}

}  // namespace nccl

namespace {

using namespace nccl;

void check(const Functions& f, ncclResult_t status, const char* call) {
  if (status != ncclSuccess) fail_call(Functions::kind(), "NCCL", f.words(status), call);
}

ncclDataType_t element_of(DType d) {
  return d == DType::float64    ? ncclFloat64
         : d == DType::float16  ? ncclFloat16
         : d == DType::bfloat16 ? ncclBfloat16
                                : ncclFloat32;
}

std::mutex& working() {
  static auto* one = new std::mutex;
  return *one;
}
const std::vector<ncclComm_t>& members_of(const Functions& f, const DeviceGroup& group) {
  static auto* all = new std::map<std::vector<int>, std::vector<ncclComm_t>>;
  std::vector<ncclComm_t>& members = (*all)[{group.devices, group.devices + group.count}];
  if (members.empty()) {
    std::vector<ncclComm_t> made(std::size_t(group.count), nullptr);
    check(f, f.create(made.data(), group.count, group.devices), "ncclCommInitAll");
    members = std::move(made);
  }
  return members;
}

void finish(const DeviceGroup& group) {
  if (!blocking()) return;
  for (int i = 0; i < group.count; ++i) {
    const OnDevice there(group.devices[i]);
    gpu::check(cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(group.streams[i])), "NCCL");
  }
}

// Calls f(functions, member, stream, i) for each device as one piece of work.
template <class F>
bool together(const DeviceGroup& group, F each) {
  const Functions* f = group.count > 1 ? functions<Functions>() : nullptr;
  if (!f) return false;
  const std::lock_guard lock(working());
  const std::vector<ncclComm_t>& members = members_of(*f, group);
  check(*f, f->begin(), "ncclGroupStart");
  ncclResult_t status = ncclSuccess;
  for (int i = 0; i < group.count && status == ncclSuccess; ++i)
    status = each(*f, members[std::size_t(i)], reinterpret_cast<cudaStream_t>(group.streams[i]), i);
  const ncclResult_t end = f->end();  // also after an error, or the thread stays in the group
  check(*f, status, "ncclReduce or ncclBroadcast");
  check(*f, end, "ncclGroupEnd");
  finish(group);
  return true;
}

bool reduce(const DeviceGroup& group, int jobs, const View* parts, const View* totals) {
  return together(group, [&](const Functions& f, ncclComm_t member, cudaStream_t stream, int i) {
    ncclResult_t status = ncclSuccess;
    for (int j = 0; j < jobs && status == ncclSuccess; ++j)
      status = f.reduce(parts[j * group.count + i].data, i == group.root ? totals[j].data : nullptr,
                        std::size_t(totals[j].numel), element_of(totals[j].dtype), ncclSum,
                        group.root, member, stream);
    return status;
  });
}

bool broadcast(const DeviceGroup& group, int jobs, const View* sources, const View* targets) {
  return together(group, [&](const Functions& f, ncclComm_t member, cudaStream_t stream, int i) {
    ncclResult_t status = ncclSuccess;
    for (int j = 0; j < jobs && status == ncclSuccess; ++j) {
      void* target = i == group.root ? sources[j].data : targets[j * group.count + i].data;
      status = f.broadcast(target, target, std::size_t(sources[j].numel),
                           element_of(sources[j].dtype), group.root, member, stream);
    }
    return status;
  });
}

}  // namespace

const CollectiveKernels collective_kernels = {reduce, broadcast, &group_kernels};

}  // namespace rushlight::gpu
