// Copies, casts and fills. A thread moves one element, or one item of 16 bytes where both sides are
// dense and of one type; any strides, any two dtypes. A transpose goes through tiles in shared
// memory, so that both sides are read and written in whole rows.
#include "../stored.h"
#include "families.h"
#include "runtime/launch.h"

namespace rushlight::gpu {
namespace {

constexpr int kCopyTile = 32, kCopyRows = 8;

// Dimensions ordered by the strides of the output, largest first, so that neighbouring threads
// write neighbouring elements.
Strided<2> plan(const View& out, const View& in) {
  int order[kMaxRank];
  for (int d = 0; d < out.rank; ++d) {
    int at = d;
    for (; at > 0 && out.strides[order[at - 1]] < out.strides[d]; --at) order[at] = order[at - 1];
    order[at] = d;
  }
  Strided<2> p;
  for (int k = out.rank - 1; k >= 0; --k)
    p.add(out.sizes[order[k]], out.strides[order[k]], in.strides[order[k]]);
  return p;
}

template <class S>
__global__ void copy_items(Strided<2> p, S* out, const S* in) {
  for (Index i = first_item(); i < p.numel; i += stride()) {
    Index at[2];
    p.at(i, at);
    out[at[0]] = in[at[1]];
  }
}

// By way of C, which holds every value of the input's type.
template <class C>
__global__ void cast_items(Strided<2> p, void* out, DType to, const void* in, DType from) {
  for (Index i = first_item(); i < p.numel; i += stride()) {
    Index at[2];
    p.at(i, at);
    store_as(out, at[0], to, load_as<C>(in, at[1], from));
  }
}

// The same where either type is only stored.
template <class C>
__global__ void cast_stored_items(Strided<2> p, void* out, DType to, const void* in, DType from) {
  for (Index i = first_item(); i < p.numel; i += stride()) {
    Index at[2];
    p.at(i, at);
    const C value = dispatch_stored(from, ReadStored<C>{in, at[1]});
    dispatch_stored(to, WriteStored<C>{out, at[0], value});
  }
}

__global__ void copy_dense(Index n, uint4* out, const uint4* in) {
  for (Index i = first_item(); i < n; i += stride()) out[i] = in[i];
}

// out[r * step + c] = in[c * in_step + r] in tiles of 32 x 32; the tile's rows are 33 long, so that
// a column of it lies in 32 different banks.
template <class S>
__global__ void transpose(Index rows, Index columns, S* out, Index out_step, const S* in,
                          Index in_step) {
  S* tile = shared_memory<S>();
  const Index row = Index(blockIdx.y) * kCopyTile, column = Index(blockIdx.x) * kCopyTile;
  const int x = threadIdx.x, y = threadIdx.y;
  for (int k = y; k < kCopyTile; k += kCopyRows)
    if (row + x < rows && column + k < columns)
      tile[k * (kCopyTile + 1) + x] = in[(column + k) * in_step + row + x];
  __syncthreads();
  for (int k = y; k < kCopyTile; k += kCopyRows)
    if (row + k < rows && column + x < columns)
      out[(row + k) * out_step + column + x] = tile[x * (kCopyTile + 1) + k];
}

bool is_aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % sizeof(uint4) == 0; }

template <class S>
void copy_same(const Strided<2>& p, S* out, const S* in) {
  if (p.is_dense(0) && p.is_dense(1)) {
    const std::size_t bytes = std::size_t(p.numel) * sizeof(S);
    if (bytes % sizeof(uint4) == 0 && is_aligned(out) && is_aligned(in))
      return launch_items("copy", copy_dense, Index(bytes / sizeof(uint4)),
                          Index(bytes / sizeof(uint4)), reinterpret_cast<uint4*>(out),
                          reinterpret_cast<const uint4*>(in));
  }
  if (p.rank == 2 && p.strides[0][0] == 1 && p.strides[1][1] == 1 && p.strides[1][0] != 1 &&
      p.sizes[1] <= Index(65535) * kCopyTile && p.strides[1][0] > 0) {
    const dim3 grid(unsigned((p.sizes[0] + kCopyTile - 1) / kCopyTile),
                    unsigned((p.sizes[1] + kCopyTile - 1) / kCopyTile));
    return launch("copy", transpose<S>, grid, dim3(kCopyTile, kCopyRows),
                  sizeof(S) * kCopyTile * (kCopyTile + 1), p.sizes[1], p.sizes[0], out,
                  p.strides[0][1], in, p.strides[1][0]);
  }
  launch_items("copy", copy_items<S>, p.numel, p, out, in);
}

void copy(const View& out, const View& in) {
  const Strided<2> p = plan(out, in);
  if (out.dtype == in.dtype)
    return dispatch_stored_size(
        out.dtype, [&]<class S>(Type<S>) { copy_same<S>(p, out.as<S>(), in.as<const S>()); });
  if (is_only_stored(out.dtype) || is_only_stored(in.dtype))
    return dispatch_widest(in.dtype, [&]<class C>(Type<C>) {
      launch_items("cast", cast_stored_items<C>, p.numel, p, out.data, out.dtype,
                   static_cast<const void*>(in.data), in.dtype);
    });
  const auto cast = in.dtype == DType::float64 ? cast_items<double>
                    : is_floating(in.dtype)    ? cast_items<float>
                                               : cast_items<Index>;
  launch_items("cast", cast, p.numel, p, out.data, out.dtype, static_cast<const void*>(in.data),
               in.dtype);
}

template <class S>
__global__ void fill_items(Strided<1> p, S* out, S value) {
  for (Index i = first_item(); i < p.numel; i += stride()) {
    Index at[1];
    p.at(i, at);
    out[at[0]] = value;
  }
}

void fill(const View& out, Scalar value) {
  Strided<1> p;
  for (int d = out.rank - 1; d >= 0; --d) p.add(out.sizes[d], out.strides[d]);
  const Element element(value, out.dtype);
  dispatch_stored_size(out.dtype, [&]<class S>(Type<S>) {
    S bits;
    memcpy(&bits, element.bytes, sizeof(S));
    launch_items("fill", fill_items<S>, p.numel, p, out.as<S>(), bits);
  });
}

template <class C>
__global__ void range_items(Range r, void* out, DType dtype) {
  for (Index i = first_item(); i < r.count; i += stride()) {
    if (r.kind == Range::Kind::whole)
      store_as(out, i, dtype, r.whole(i));
    else
      store_as(out, i, dtype,
               r.kind == Range::Kind::forward          ? r.forward<C>(i)
               : r.kind == Range::Kind::in_vectors     ? r.in_vectors<C>(i)
               : r.kind == Range::Kind::from_both_ends ? r.from_both_ends<C>(i)
                                                       : r.power<C>(i));
  }
}

void range(const View& out, const Range& r) {
  launch_items("range", r.computed == DType::float32 ? range_items<float> : range_items<double>,
               r.count, r, out.data, out.dtype);
}

}  // namespace

const CopyKernels copy_kernels = {copy, fill, range, nullptr};

}  // namespace rushlight::gpu
