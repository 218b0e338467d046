// The provider of real GPUs as one table, and the one symbol that the library exports.
#include "kernels/provider.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "devices.h"
#include "kernels/cuda/families.h"
#include "kernels/cuda/nvidia/libraries.h"
#include "kernels/device_error.h"
#include "memory.h"
#include "pinned.h"

namespace rushlight::gpu {
namespace {

cudaStream_t stream_of(StreamId id) { return reinterpret_cast<cudaStream_t>(id); }
cudaEvent_t event_of(void* event) { return static_cast<cudaEvent_t>(event); }

void synchronize(int index) {
  const OnDevice there(index);
  check(cudaDeviceSynchronize(), "synchronize");
  raise_notes();
}

// Never the number of a virtual machine, which count from 1.
std::uint32_t generation(int) { return 0x80000000u; }

void properties(int index, DeviceProperties* out) {
  cudaDeviceProp p;
  check(cudaGetDeviceProperties(&p, index), "properties");
  std::snprintf(out->name, sizeof out->name, "%.127s", p.name);
  const auto* u = reinterpret_cast<const unsigned char*>(p.uuid.bytes);
  std::snprintf(out->uuid, sizeof out->uuid,
                "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0],
                u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13],
                u[14], u[15]);
  out->total_memory = std::int64_t(p.totalGlobalMem);
  out->major = p.major;
  out->minor = p.minor;
  out->multi_processor_count = p.multiProcessorCount;
  out->max_threads_per_multi_processor = p.maxThreadsPerMultiProcessor;
  out->max_threads_per_block = p.maxThreadsPerBlock;
  out->warp_size = p.warpSize;
  out->regs_per_multiprocessor = p.regsPerMultiprocessor;
  out->shared_memory_per_block = int(p.sharedMemPerBlock);
  out->l2_cache_size = p.l2CacheSize;
}

// Of a device and priority; a stream is made when its turn comes first.
struct StreamPool {
  cudaStream_t all[kStreams] = {};
  unsigned next = 0;
};
struct DeviceStreams {
  std::mutex mutex;
  std::map<int, StreamPool> by_priority;
};

StreamId new_stream(int index, int priority) {
  static auto* devices = new DeviceStreams[kMostDevices];  // never destroyed, as streams are not
  const OnDevice there(index);
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "stream");
  const int wanted = std::clamp(priority, greatest, least);
  const std::lock_guard lock(devices[index].mutex);
  StreamPool& pool = devices[index].by_priority[wanted];
  cudaStream_t& stream = pool.all[pool.next % kStreams];
  if (!stream)
    check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, wanted), "stream");
  ++pool.next;
  return reinterpret_cast<StreamId>(stream);
}

bool is_done(cudaError_t answer, const char* op) {
  if (answer == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  check(answer, op);
  return true;
}
bool stream_done(int index, StreamId stream) {
  const OnDevice there(index);
  return is_done(cudaStreamQuery(stream_of(stream)), "Stream.query");
}
void stream_synchronize(int index, StreamId stream) {
  const OnDevice there(index);
  check(cudaStreamSynchronize(stream_of(stream)), "Stream.synchronize");
  raise_notes();
}
void stream_wait(int index, StreamId stream, void* event) {
  const OnDevice there(index);
  check(cudaStreamWaitEvent(stream_of(stream), event_of(event), 0), "Stream.wait_event");
}

void* new_event(int index, bool timing) {
  const OnDevice there(index);
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, timing ? 0 : cudaEventDisableTiming), "Event");
  return event;
}
void release_event(void* event) noexcept {
  if (is_forked_child()) return;
  if (cudaEventDestroy(event_of(event)) != cudaSuccess) cudaGetLastError();
}
void record_event(void* event, int index, StreamId stream) {
  const OnDevice there(index);
  check(cudaEventRecord(event_of(event), stream_of(stream)), "Event.record");
}
bool event_done(void* event) { return is_done(cudaEventQuery(event_of(event)), "Event.query"); }
void event_synchronize(void* event) {
  check(cudaEventSynchronize(event_of(event)), "Event.synchronize");
  raise_notes();
}
double event_elapsed(void* start, void* end) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, event_of(start), event_of(end)), "Event.elapsed_time");
  return double(milliseconds);
}

constexpr DeviceRuntime kRuntime = {
    .device_count = device_count,
    .why_not_more = why_not_more,
    .memory_source = memory_source,
    .generation = generation,
    .properties = properties,
    .memory_info = memory_info,
    .memory_stats = memory_stats,
    .reset_memory_stats = reset_memory_stats,
    .limit_memory = limit_memory,
    .empty_cache = empty_cache,
    .allocate_pinned = allocate_pinned,
    .release_pinned = release_pinned,
    .can_access_peer = can_access_peer,
    .record_stream = record_stream,
    .new_stream = new_stream,
    .stream_done = stream_done,
    .stream_synchronize = stream_synchronize,
    .stream_wait = stream_wait,
    .new_event = new_event,
    .release_event = release_event,
    .record_event = record_event,
    .event_done = event_done,
    .event_synchronize = event_synchronize,
    .event_elapsed = event_elapsed,
};

constexpr Backend kBackend = {
    .name = "cuda",
    .enter = enter,
    .allocate = allocate,
    .release = release,
    .copy_bytes = copy_bytes,
    .synchronize = synchronize,
    .runtime = &kRuntime,
    .copy = &copy_kernels,
    .pointwise = &pointwise_kernels,
    .matmul = &matmul_kernels,
    .linalg = &linalg_kernels,
    .conv = &conv_kernels,
    .pool = &pool_kernels,
    .fold = &fold_kernels,
    .resample = &resample_kernels,
    .grid_sample = &grid_sample_kernels,
    .norm = &norm_kernels,
    .attention = &attention_kernels,
    .softmax = &softmax_kernels,
    .cross_entropy = &cross_entropy_kernels,
    .ctc = &ctc_kernels,
    .embedding = &embedding_kernels,
    .sparse = &sparse_kernels,
    .index = &index_kernels,
    .triangular = &triangular_kernels,
    .distance = &distance_kernels,
    .reduce = &reduce_kernels,
    .scan = &scan_kernels,
    .sort = &sort_kernels,
    .random = &random_kernels,
    .optim = &optim_kernels,
    .recurrent = &recurrent_kernels,
    .fft = nullptr,
    .libraries = &provider_libraries,
    .collectives = &collective_kernels,
    .pixels = nullptr,
};

}  // namespace
}  // namespace rushlight::gpu

extern "C" __attribute__((visibility("default"))) const rushlight::Backend* rushlight_cuda_backend(
    int abi, const rushlight::ProviderHost* host) {
  if (abi != rushlight::kProviderAbi) return nullptr;
  rushlight::gpu::set_host(host);
  return &rushlight::gpu::kBackend;
}
