// In place of cuSOLVER, for tests: the same functions on the emulator's memory, answered by the
// CPU's LAPACK. Types, sizes, steps from column to column, memory and workspace of every call are
// checked, and that the workspace is as large as was said and nobody else's: it is filled with NaN.
#include "kernels/cuda/nvidia/cusolver.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <vector>

#include "kernels/cpu/linalg/lapack.h"
#include "memory.h"

using emulated::holds;
using emulated::wrong;
using rushlight::lapack;
using namespace rushlight::gpu::cusolver;

namespace rushlight::gpu::cusolver {
struct HandleBody {
  cudaStream_t stream = nullptr;
};
struct OptionsBody {};
struct JacobiBody {};
}  // namespace rushlight::gpu::cusolver

namespace {

constexpr Bytes kOnDevice = 3000, kOnHost = 500;
constexpr int kElements = 300;  // of the older functions' workspace
constexpr Long kMostTogether = 30000;
std::atomic<int> calls{0}, batches{0};
std::atomic<bool> gives_up{false};

// A batch of matrices; columns lie `lead` elements apart.
struct Matrix {
  const char* what;
  const void* data;
  Long rows, columns, lead;
  Element element;
  Long count = 1;
};

Bytes bytes_of(Element e) { return e == Element::float64 ? 8 : 4; }

bool is_sound(const Matrix& m) {
  if (m.element != Element::float32 && m.element != Element::float64)
    return wrong("%s: there is no element %d", m.what, int(m.element));
  if (m.rows < 1 || m.columns < 1 || m.count < 1)
    return wrong("%s: %lld matrices of %lld x %lld", m.what, static_cast<long long>(m.count),
                 static_cast<long long>(m.rows), static_cast<long long>(m.columns));
  if (m.lead < m.rows)
    return wrong("%s: a step of %lld in columns of %lld", m.what, static_cast<long long>(m.lead),
                 static_cast<long long>(m.rows));
  const auto elements =
      std::uint64_t(m.lead) * std::uint64_t(m.count * m.columns - 1) + std::uint64_t(m.rows);
  return holds(m.what, m.data, elements * bytes_of(m.element));
}
bool are_sound(Handle handle, std::initializer_list<Matrix> matrices, Element computed) {
  if (!handle) return wrong("no handle");
  for (const Matrix& m : matrices) {
    if (!is_sound(m)) return false;
    if (m.element != computed) return wrong("%s is of another element", m.what);
  }
  return true;
}
bool has_room(const void* work, Bytes bytes, Bytes needed, int* info, Long count = 1) {
  if (bytes < needed)
    return wrong("a workspace of %zu bytes, where %zu were asked for", bytes, needed);
  return holds("the workspace", work, bytes) && holds("info", info, std::uint64_t(count) * 4);
}
bool has_both(Options options, const void* work, Bytes bytes, void* host, Bytes host_bytes,
              int* info, Long count = 1) {
  if (!options) return wrong("no options");
  if (host_bytes < kOnHost) return wrong("a host workspace of %zu bytes", host_bytes);
  std::memset(host, 0xff, host_bytes);
  return has_room(work, bytes, kOnDevice, info, count);
}
Status say_room(bool good, Options options, Bytes* device, Bytes* host) {
  if (!good || !options) return kInvalidValue;
  *device = kOnDevice;
  *host = kOnHost;
  return kSuccess;
}

// Calls work(number of the type) when the stream comes to it.
template <class F>
Status give(Handle handle, Element element, void* room, Bytes bytes, F work) {
  ++calls;
  emulated::give(handle->stream, [=] {
    std::memset(room, 0xff, bytes);  // NaN
    if (element == Element::float64)
      work(double());
    else
      work(float());
  });
  return kSuccess;
}

// Calls a function of LAPACK that can be asked how much memory it wants.
template <class T, class F>
void with_memory(F call) {
  T answer = 0;
  call(&answer, -1);
  const auto size = int(double(answer) * 1.0000002 + 1);
  std::vector<T> work(std::size_t(size) + 1);
  call(work.data(), size);
}

template <class T>
void eigen_of(Vectors vectors, Triangle triangle, int n, T* a, int lead, T* values, int* info) {
  const char *job = vectors == Vectors::wanted ? "V" : "N",
             *part = triangle == Triangle::upper ? "U" : "L";
  std::vector<int> integers(std::size_t(n) * 5 + 10);
  const auto count = int(integers.size());
  with_memory<T>([&](T* work, int size) {
    const int asked = size < 0 ? -1 : count;
    lapack<T>().syevd(job, part, &n, a, &lead, values, work, &size, integers.data(), &asked, info,
                      1, 1);
  });
}

// As many columns of u and v as `thin` says.
template <class T>
void svd_of(Vectors vectors, bool thin, int m, int n, T* a, int lead, T* s, T* u, int lead_u, T* v,
            int lead_v, int* info) {
  const int k = std::min(m, n), columns = thin ? k : n;
  const char* job = vectors == Vectors::none ? "N" : thin ? "S" : "A";
  std::vector<T> turned(std::size_t(columns) * std::size_t(n));
  std::vector<int> integers(std::size_t(k) * 8);
  with_memory<T>([&](T* work, int size) {
    lapack<T>().gesdd(job, &m, &n, a, &lead, s, u, &lead_u, turned.data(), &columns, work, &size,
                      integers.data(), info, 1);
  });
  for (int i = 0; i < columns && vectors == Vectors::wanted; ++i)
    for (int j = 0; j < n; ++j)
      v[std::size_t(i) * std::size_t(lead_v) + std::size_t(j)] =
          turned[std::size_t(j) * std::size_t(columns) + std::size_t(i)];
}

// The matrices of a decomposition; u and v only where they are wanted.
bool svd_is_sound(Handle handle, Element e, Vectors vectors, bool thin, int m, int n, const void* a,
                  int lead, const void* s, const void* u, int lead_u, const void* v, int lead_v,
                  Jacobi jacobi, Long count = 1) {
  if (!jacobi) return wrong("it is not said how to iterate");
  const Long k = std::min(m, n);
  if (lead_u < m || lead_v < n) return wrong("steps of %d and %d in u and v", lead_u, lead_v);
  if (count > 1 && (lead != m || lead_u != m || lead_v != n))
    return wrong("the matrices of a batch do not lie one after the other");
  if (!are_sound(handle, {{"a", a, m, n, lead, e, count}, {"s", s, k, 1, k, e, count}}, e))
    return false;
  return vectors == Vectors::none || are_sound(handle,
                                               {{"u", u, m, thin ? k : m, lead_u, e, count},
                                                {"v", v, n, thin ? k : n, lead_v, e, count}},
                                               e);
}

Status reflections_room(Handle handle, Element e, int m, int n, int k, const void* a, int lead,
                        const void* tau, int* room) {
  if (m < n || n < k || !are_sound(handle, {{"a", a, m, n, lead, e}, {"tau", tau, k, 1, k, e}}, e))
    return kInvalidValue;
  *room = kElements;
  return kSuccess;
}
Status reflections(Handle handle, Element e, int m, int n, int k, void* a, int lead,
                   const void* tau, void* work, int room, int* info) {
  int wanted;
  const Status said = reflections_room(handle, e, m, n, k, a, lead, tau, &wanted);
  const Bytes bytes = Bytes(room) * bytes_of(e);
  if (said != kSuccess || !has_room(work, bytes, kElements * bytes_of(e), info))
    return kInvalidValue;
  return give(handle, e, work, bytes, [=]<class T>(T) {
    with_memory<T>([&](T* memory, int size) {
      lapack<T>().orgqr(&m, &n, &k, static_cast<T*>(a), &lead, static_cast<const T*>(tau), memory,
                        &size, info);
    });
  });
}

Status svd_room(Handle handle, Element e, Vectors vectors, bool thin, int m, int n, const void* a,
                int lead, const void* s, const void* u, int lead_u, const void* v, int lead_v,
                int* room, Jacobi jacobi, Long count) {
  if (!svd_is_sound(handle, e, vectors, thin, m, n, a, lead, s, u, lead_u, v, lead_v, jacobi,
                    count))
    return kInvalidValue;
  *room = kElements;
  return kSuccess;
}
Status svd(Handle handle, Element e, Vectors vectors, bool thin, int m, int n, void* a, int lead,
           void* s, void* u, int lead_u, void* v, int lead_v, void* work, int room, int* info,
           Jacobi jacobi, Long count) {
  const Bytes bytes = Bytes(room) * bytes_of(e);
  if (!svd_is_sound(handle, e, vectors, thin, m, n, a, lead, s, u, lead_u, v, lead_v, jacobi,
                    count) ||
      !has_room(work, bytes, kElements * bytes_of(e), info, count))
    return kInvalidValue;
  return give(handle, e, work, bytes, [=]<class T>(T) {
    const Long k = std::min(m, n);
    for (Long i = 0; i < count; ++i)
      svd_of(vectors, thin, m, n, static_cast<T*>(a) + i * lead * n, lead,
             static_cast<T*>(s) + i * k, static_cast<T*>(u) + i * lead_u * m, lead_u,
             static_cast<T*>(v) + i * lead_v * n, lead_v, info + i);
    if (gives_up) info[count - 1] = int(k) + 1;
  });
}

bool batch_is_sound(Long count, Long m, Long n, Long most) {
  if (count > kMostTogether) return wrong("%lld matrices at once", static_cast<long long>(count));
  return (m <= most && n <= most) || wrong("a batch of matrices that are too large");
}

}  // namespace

extern "C" {

// For tests: how many factorisations there were, how many of them of a whole batch, and that
// singular values are not found.
int emulated_factorisations() { return calls; }
int emulated_batches() { return batches; }
void emulated_give_up(int yes) { gives_up = yes != 0; }

Status cusolverGetVersion(int* version) {
  *version = 12401;
  return kSuccess;
}
Status cusolverDnCreate(Handle* h) {
  *h = new HandleBody;
  return kSuccess;
}
Status cusolverDnCreateParams(Options* o) {
  *o = new OptionsBody;
  return kSuccess;
}
Status cusolverDnCreateGesvdjInfo(Jacobi* j) {
  *j = new JacobiBody;
  return kSuccess;
}
Status cusolverDnSetStream(Handle h, cudaStream_t stream) {
  h->stream = stream;
  return kSuccess;
}

Status cusolverDnXgetrf_bufferSize(Handle h, Options o, Long m, Long n, Element e, const void* a,
                                   Long lead, Element computed, Bytes* device, Bytes* host) {
  return say_room(are_sound(h, {{"a", a, m, n, lead, e}}, computed), o, device, host);
}
Status cusolverDnXgetrf(Handle h, Options o, Long m, Long n, Element e, void* a, Long lead,
                        Long* pivots, Element computed, void* work, Bytes bytes, void* host,
                        Bytes host_bytes, int* info) {
  const Long k = std::min(m, n);
  if (!are_sound(h, {{"a", a, m, n, lead, e}}, computed) ||
      !holds("pivots", pivots, std::uint64_t(k) * 8) ||
      !has_both(o, work, bytes, host, host_bytes, info))
    return kInvalidValue;
  return give(h, e, work, bytes, [=]<class T>(T) {
    const int rows = int(m), columns = int(n), step = int(lead);
    std::vector<int> exchanged(static_cast<std::size_t>(k));
    lapack<T>().getrf(&rows, &columns, static_cast<T*>(a), &step, exchanged.data(), info);
    std::copy(exchanged.begin(), exchanged.end(), pivots);
  });
}

Status cusolverDnXpotrf_bufferSize(Handle h, Options o, Triangle, Long n, Element e, const void* a,
                                   Long lead, Element computed, Bytes* device, Bytes* host) {
  return say_room(are_sound(h, {{"a", a, n, n, lead, e}}, computed), o, device, host);
}
Status cusolverDnXpotrf(Handle h, Options o, Triangle triangle, Long n, Element e, void* a,
                        Long lead, Element computed, void* work, Bytes bytes, void* host,
                        Bytes host_bytes, int* info) {
  if (!are_sound(h, {{"a", a, n, n, lead, e}}, computed) ||
      !has_both(o, work, bytes, host, host_bytes, info))
    return kInvalidValue;
  return give(h, e, work, bytes, [=]<class T>(T) {
    const int rows = int(n), step = int(lead);
    lapack<T>().potrf(triangle == Triangle::upper ? "U" : "L", &rows, static_cast<T*>(a), &step,
                      info, 1);
  });
}

Status cusolverDnXgeqrf_bufferSize(Handle h, Options o, Long m, Long n, Element e, const void* a,
                                   Long lead, Element of_tau, const void* tau, Element computed,
                                   Bytes* device, Bytes* host) {
  const Long k = std::min(m, n);
  return say_room(are_sound(h, {{"a", a, m, n, lead, e}, {"tau", tau, k, 1, k, of_tau}}, computed),
                  o, device, host);
}
Status cusolverDnXgeqrf(Handle h, Options o, Long m, Long n, Element e, void* a, Long lead,
                        Element of_tau, void* tau, Element computed, void* work, Bytes bytes,
                        void* host, Bytes host_bytes, int* info) {
  const Long k = std::min(m, n);
  if (!are_sound(h, {{"a", a, m, n, lead, e}, {"tau", tau, k, 1, k, of_tau}}, computed) ||
      !has_both(o, work, bytes, host, host_bytes, info))
    return kInvalidValue;
  return give(h, e, work, bytes, [=]<class T>(T) {
    const int rows = int(m), columns = int(n), step = int(lead);
    with_memory<T>([&](T* memory, int size) {
      lapack<T>().geqrf(&rows, &columns, static_cast<T*>(a), &step, static_cast<T*>(tau), memory,
                        &size, info);
    });
  });
}

Status cusolverDnXsyevd_bufferSize(Handle h, Options o, Vectors, Triangle, Long n, Element e,
                                   const void* a, Long lead, Element of_values, const void* values,
                                   Element computed, Bytes* device, Bytes* host) {
  return say_room(
      are_sound(h, {{"a", a, n, n, lead, e}, {"values", values, n, 1, n, of_values}}, computed), o,
      device, host);
}
Status cusolverDnXsyevd(Handle h, Options o, Vectors vectors, Triangle triangle, Long n, Element e,
                        void* a, Long lead, Element of_values, void* values, Element computed,
                        void* work, Bytes bytes, void* host, Bytes host_bytes, int* info) {
  if (!are_sound(h, {{"a", a, n, n, lead, e}, {"values", values, n, 1, n, of_values}}, computed) ||
      !has_both(o, work, bytes, host, host_bytes, info))
    return kInvalidValue;
  return give(h, e, work, bytes, [=]<class T>(T) {
    eigen_of(vectors, triangle, int(n), static_cast<T*>(a), int(lead), static_cast<T*>(values),
             info);
  });
}

Status cusolverDnXsyevBatched_bufferSize(Handle h, Options o, Vectors, Triangle, Long n, Element e,
                                         const void* a, Long lead, Element of_values,
                                         const void* values, Element computed, Bytes* device,
                                         Bytes* host, Long count) {
  return say_room(
      batch_is_sound(count, n, n, n) &&
          are_sound(h,
                    {{"a", a, n, n, lead, e, count}, {"values", values, n, 1, n, of_values, count}},
                    computed),
      o, device, host);
}
Status cusolverDnXsyevBatched(Handle h, Options o, Vectors vectors, Triangle triangle, Long n,
                              Element e, void* a, Long lead, Element of_values, void* values,
                              Element computed, void* work, Bytes bytes, void* host,
                              Bytes host_bytes, int* info, Long count) {
  if (!batch_is_sound(count, n, n, n) ||
      !are_sound(h, {{"a", a, n, n, lead, e, count}, {"values", values, n, 1, n, of_values, count}},
                 computed) ||
      !has_both(o, work, bytes, host, host_bytes, info, count))
    return kInvalidValue;
  ++batches;
  return give(h, e, work, bytes, [=]<class T>(T) {
    for (Long i = 0; i < count; ++i)
      eigen_of(vectors, triangle, int(n), static_cast<T*>(a) + i * lead * n, int(lead),
               static_cast<T*>(values) + i * n, info + i);
  });
}

Status cusolverDnSorgqr_bufferSize(Handle h, int m, int n, int k, const void* a, int lead,
                                   const void* tau, int* room) {
  return reflections_room(h, Element::float32, m, n, k, a, lead, tau, room);
}
Status cusolverDnDorgqr_bufferSize(Handle h, int m, int n, int k, const void* a, int lead,
                                   const void* tau, int* room) {
  return reflections_room(h, Element::float64, m, n, k, a, lead, tau, room);
}
Status cusolverDnSorgqr(Handle h, int m, int n, int k, void* a, int lead, const void* tau,
                        void* work, int room, int* info) {
  return reflections(h, Element::float32, m, n, k, a, lead, tau, work, room, info);
}
Status cusolverDnDorgqr(Handle h, int m, int n, int k, void* a, int lead, const void* tau,
                        void* work, int room, int* info) {
  return reflections(h, Element::float64, m, n, k, a, lead, tau, work, room, info);
}

Status cusolverDnSgesvdj_bufferSize(Handle h, Vectors vectors, int thin, int m, int n,
                                    const void* a, int lead, const void* s, const void* u,
                                    int lead_u, const void* v, int lead_v, int* room, Jacobi j) {
  return svd_room(h, Element::float32, vectors, thin, m, n, a, lead, s, u, lead_u, v, lead_v, room,
                  j, 1);
}
Status cusolverDnDgesvdj_bufferSize(Handle h, Vectors vectors, int thin, int m, int n,
                                    const void* a, int lead, const void* s, const void* u,
                                    int lead_u, const void* v, int lead_v, int* room, Jacobi j) {
  return svd_room(h, Element::float64, vectors, thin, m, n, a, lead, s, u, lead_u, v, lead_v, room,
                  j, 1);
}
Status cusolverDnSgesvdj(Handle h, Vectors vectors, int thin, int m, int n, void* a, int lead,
                         void* s, void* u, int lead_u, void* v, int lead_v, void* work, int room,
                         int* info, Jacobi j) {
  return svd(h, Element::float32, vectors, thin, m, n, a, lead, s, u, lead_u, v, lead_v, work, room,
             info, j, 1);
}
Status cusolverDnDgesvdj(Handle h, Vectors vectors, int thin, int m, int n, void* a, int lead,
                         void* s, void* u, int lead_u, void* v, int lead_v, void* work, int room,
                         int* info, Jacobi j) {
  return svd(h, Element::float64, vectors, thin, m, n, a, lead, s, u, lead_u, v, lead_v, work, room,
             info, j, 1);
}

Status cusolverDnSgesvdjBatched_bufferSize(Handle h, Vectors vectors, int m, int n, const void* a,
                                           int lead, const void* s, const void* u, int lead_u,
                                           const void* v, int lead_v, int* room, Jacobi j,
                                           int count) {
  return batch_is_sound(count, m, n, 32) ? svd_room(h, Element::float32, vectors, false, m, n, a,
                                                    lead, s, u, lead_u, v, lead_v, room, j, count)
                                         : kInvalidValue;
}
Status cusolverDnDgesvdjBatched_bufferSize(Handle h, Vectors vectors, int m, int n, const void* a,
                                           int lead, const void* s, const void* u, int lead_u,
                                           const void* v, int lead_v, int* room, Jacobi j,
                                           int count) {
  return batch_is_sound(count, m, n, 32) ? svd_room(h, Element::float64, vectors, false, m, n, a,
                                                    lead, s, u, lead_u, v, lead_v, room, j, count)
                                         : kInvalidValue;
}
Status cusolverDnSgesvdjBatched(Handle h, Vectors vectors, int m, int n, void* a, int lead, void* s,
                                void* u, int lead_u, void* v, int lead_v, void* work, int room,
                                int* info, Jacobi j, int count) {
  ++batches;
  return batch_is_sound(count, m, n, 32) ? svd(h, Element::float32, vectors, false, m, n, a, lead,
                                               s, u, lead_u, v, lead_v, work, room, info, j, count)
                                         : kInvalidValue;
}
Status cusolverDnDgesvdjBatched(Handle h, Vectors vectors, int m, int n, void* a, int lead, void* s,
                                void* u, int lead_u, void* v, int lead_v, void* work, int room,
                                int* info, Jacobi j, int count) {
  ++batches;
  return batch_is_sound(count, m, n, 32) ? svd(h, Element::float64, vectors, false, m, n, a, lead,
                                               s, u, lead_u, v, lead_v, work, room, info, j, count)
                                         : kInvalidValue;
}

}  // extern "C"
