// A block's shared memory, and what of it ASan must not let a kernel reach. Apart from fibers.cpp,
// which is compiled without sanitizers.
#include "shared_memory.h"

#include "cuda_runtime.h"
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
static void __asan_poison_memory_region(const void volatile*, std::size_t) {}
static void __asan_unpoison_memory_region(const void volatile*, std::size_t) {}
#endif

namespace rushlight::gpu {
constexpr std::size_t kMostShared = 228 << 10;
float4 dynamic_shared[kMostShared / sizeof(float4)];  // declared in kernels/cuda/device.h
}  // namespace rushlight::gpu

namespace emulator {

using rushlight::gpu::dynamic_shared, rushlight::gpu::kMostShared;

void open_shared(std::size_t bytes) {
  const std::size_t beyond = (bytes + 7) / 8 * 8;
  __asan_poison_memory_region(reinterpret_cast<char*>(dynamic_shared) + beyond,
                              kMostShared - beyond);
}
void close_shared() { __asan_unpoison_memory_region(dynamic_shared, kMostShared); }
void forget_shared(std::size_t bytes) { std::memset(dynamic_shared, 0xff, bytes); }

}  // namespace emulator
