// The only macros of the code base. HOST_DEVICE: runs on both sides. CLONES: gcc compiles the loop
// for two instruction sets and the loader chooses one; CLONES_512: for AVX-512 too, which takes a
// quarter more time to compile and gains where much is computed for each element (exp, matmul), not
// where memory is read and added. Where a compiler lacks that, or under a sanitizer, both are
// empty.
#pragma once
#ifdef __CUDACC__
#define HOST_DEVICE __host__ __device__
#else
#define HOST_DEVICE
#endif
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && \
    !defined(RUSHLIGHT_NO_CLONES)
#define CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#define CLONES_512 __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#define CLONES_512
#endif

namespace rushlight {
#ifdef __CUDA_ARCH__
inline constexpr bool kDeviceCode = true;  // kernels/math/ then takes CUDA's functions
#else
inline constexpr bool kDeviceCode = false;
#endif
}  // namespace rushlight
