// What is used of cuSOLVER's dense part, in our own words: numbers and signatures are facts of its
// binary interface, the same in all of CUDA 13, so that none of NVIDIA's headers is needed to
// build. Matrices are stored by columns, `lead` elements from one to the next; info is the
// device's.
#pragma once
#include <cuda_runtime.h>

#include "libraries.h"

namespace rushlight::gpu::cusolver {

using Status = int;
inline constexpr Status kSuccess = 0, kInvalidValue = 3;

enum class Element : int { float32 = 0, float64 = 1 };
enum class Vectors : int { none = 0, wanted = 1 };
enum class Triangle : int { lower = 0, upper = 1 };

using Handle = struct HandleBody*;
using Options = struct OptionsBody*;
using Jacobi = struct JacobiBody*;  // how long and how exactly that iterates
using Long = std::int64_t;
using Bytes = std::size_t;

// Each factorisation is two functions: how much room it wants, and the work itself. The newer ones
// take any element and count bytes, on the device and on the host; the older ones are one for each
// element (float32, float64) and count elements, on the device.
struct Functions {
  Status (*version)(int*);
  Status (*create)(Handle*);
  Status (*create_options)(Options*);
  Status (*create_jacobi)(Jacobi*);
  Status (*set_stream)(Handle, cudaStream_t);
  Status (*lu_room)(Handle, Options, Long m, Long n, Element, const void* a, Long lead,
                    Element computed, Bytes* device, Bytes* host);
  Status (*lu)(Handle, Options, Long m, Long n, Element, void* a, Long lead, Long* pivots,
               Element computed, void* work, Bytes, void* host_work, Bytes, int* info);
  Status (*cholesky_room)(Handle, Options, Triangle, Long n, Element, const void* a, Long lead,
                          Element computed, Bytes* device, Bytes* host);
  Status (*cholesky)(Handle, Options, Triangle, Long n, Element, void* a, Long lead,
                     Element computed, void* work, Bytes, void* host_work, Bytes, int* info);
  Status (*qr_room)(Handle, Options, Long m, Long n, Element, const void* a, Long lead, Element,
                    const void* tau, Element computed, Bytes* device, Bytes* host);
  Status (*qr)(Handle, Options, Long m, Long n, Element, void* a, Long lead, Element, void* tau,
               Element computed, void* work, Bytes, void* host_work, Bytes, int* info);
  Status (*eigen_room)(Handle, Options, Vectors, Triangle, Long n, Element, const void* a,
                       Long lead, Element, const void* values, Element computed, Bytes* device,
                       Bytes* host);
  Status (*eigen)(Handle, Options, Vectors, Triangle, Long n, Element, void* a, Long lead, Element,
                  void* values, Element computed, void* work, Bytes, void* host_work, Bytes,
                  int* info);
  // The same for matrices that lie one after the other.
  Status (*eigen_batch_room)(Handle, Options, Vectors, Triangle, Long n, Element, const void* a,
                             Long lead, Element, const void* values, Element computed,
                             Bytes* device, Bytes* host, Long batch);
  Status (*eigen_batch)(Handle, Options, Vectors, Triangle, Long n, Element, void* a, Long lead,
                        Element, void* values, Element computed, void* work, Bytes, void* host_work,
                        Bytes, int* info, Long batch);
  Status (*reflections_room[2])(Handle, int m, int n, int k, const void* a, int lead,
                                const void* tau, int* room);
  Status (*reflections[2])(Handle, int m, int n, int k, void* a, int lead, const void* tau,
                           void* work, int room, int* info);
  // By Jacobi's method: v is not transposed; thin: as many columns of u and v as values.
  Status (*svd_room[2])(Handle, Vectors, int thin, int m, int n, const void* a, int lead,
                        const void* s, const void* u, int lead_u, const void* v, int lead_v,
                        int* room, Jacobi);
  Status (*svd[2])(Handle, Vectors, int thin, int m, int n, void* a, int lead, void* s, void* u,
                   int lead_u, void* v, int lead_v, void* work, int room, int* info, Jacobi);
  // The same for matrices that lie one after the other, of kMostBatchSide rows and columns at
  // most; all columns of u and v.
  Status (*svd_batch_room[2])(Handle, Vectors, int m, int n, const void* a, int lead, const void* s,
                              const void* u, int lead_u, const void* v, int lead_v, int* room,
                              Jacobi, int batch);
  Status (*svd_batch[2])(Handle, Vectors, int m, int n, void* a, int lead, void* s, void* u,
                         int lead_u, void* v, int lead_v, void* work, int room, int* info, Jacobi,
                         int batch);

  static constexpr const char* names[] = {"cusolverGetVersion",
                                          "cusolverDnCreate",
                                          "cusolverDnCreateParams",
                                          "cusolverDnCreateGesvdjInfo",
                                          "cusolverDnSetStream",
                                          "cusolverDnXgetrf_bufferSize",
                                          "cusolverDnXgetrf",
                                          "cusolverDnXpotrf_bufferSize",
                                          "cusolverDnXpotrf",
                                          "cusolverDnXgeqrf_bufferSize",
                                          "cusolverDnXgeqrf",
                                          "cusolverDnXsyevd_bufferSize",
                                          "cusolverDnXsyevd",
                                          "cusolverDnXsyevBatched_bufferSize",
                                          "cusolverDnXsyevBatched",
                                          "cusolverDnSorgqr_bufferSize",
                                          "cusolverDnDorgqr_bufferSize",
                                          "cusolverDnSorgqr",
                                          "cusolverDnDorgqr",
                                          "cusolverDnSgesvdj_bufferSize",
                                          "cusolverDnDgesvdj_bufferSize",
                                          "cusolverDnSgesvdj",
                                          "cusolverDnDgesvdj",
                                          "cusolverDnSgesvdjBatched_bufferSize",
                                          "cusolverDnDgesvdjBatched_bufferSize",
                                          "cusolverDnSgesvdjBatched",
                                          "cusolverDnDgesvdjBatched"};
  static const LibraryKind& kind();
};
inline constexpr int kMostBatchSide = 32;

}  // namespace rushlight::gpu::cusolver
