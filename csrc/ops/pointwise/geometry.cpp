// Ordering and merging of dimensions; see the header.
#include "geometry.h"

#include "core/dense_view.h"

namespace rushlight {

void CallGeometry::bind(Operand& o, const Tensor& t) {
  const Body& b = *t.body();
  if (dense_) {
    check_alive(t);
    const auto item = std::int64_t(item_size(b.dtype));
    if (std::size_t((b.offset + b.numel) * item) > b.storage->bytes) [[unlikely]]
      stored_view_of(t);  // throws, but for a tensor without elements
    // Another thread may have changed it while a copy of another operand was made.
    if (!b.contiguous || b.numel != numel_) [[unlikely]]
      fail_changed(t);
    if (is_only_stored(b.dtype) && !(complex_ && is_complex(b.dtype))) [[unlikely]]
      refuse_stored("kernel", b.dtype);
    o = {static_cast<char*>(b.storage->data) + b.offset * item, &kOne, b.dtype};
    return;
  }
  View v;
  if (complex_ && is_complex(b.dtype))
    start_stored_view(v, t);
  else
    start_view(v, t);
  std::int64_t* strides = strides_[count_].data();
  broadcast_strides(b.shape, b.strides.data(), shape_, strides);
  // A dimension of one element has its place in the order too, if no other operand is larger there.
  for (int d = b.shape.rank - 1, to = shape_.rank - 1; d >= 0; --d, --to)
    if (shape_.sizes[std::size_t(to)] == 1) strides[to] = b.strides[std::size_t(d)];
  o = {v.data, strides, v.dtype};
  operands_[count_++] = &o;
}

void CallGeometry::order() {
  ordered_ = true;
  order_by_strides(shape_.view(), strides_, count_, order_);
}

Tensor CallGeometry::make(Operand& o, DType dtype, Device device) {
  if (dense_) {
    Tensor t = empty(shape_, dtype, device);
    o = {t->storage->data, &kOne, dtype};
    return t;
  }
  if (!ordered_) order();
  bool row_major = true;
  for (int i = 0; i < shape_.rank; ++i) row_major &= order_[i] == shape_.rank - 1 - i;
  Strides& strides = strides_[count_];
  operands_[count_++] = &o;
  Tensor t;
  if (row_major || numel_ == 0) {
    t = empty(shape_, dtype, device);
    std::copy_n(t->strides.begin(), shape_.rank, strides.begin());
  } else {
    strides = dense_strides(shape_.view(), order_);
    t = empty_strided(shape_, strides.data(), dtype, device);
  }
  o = {t->storage->data, strides.data(), dtype};
  return t;
}

void CallGeometry::finish(PointwiseCall& c) {
  c.numel = numel_;
  if (dense_ || shape_.rank == 0) {
    for (int k = 0; k < count_; ++k) operands_[k]->strides = &kOne;
    c.rank = 1;
    c.sizes = &numel_;
    return;
  }
  if (shape_.rank == 1 && numel_ > 1) {  // nothing to merge
    c.rank = 1;
    c.sizes = &numel_;
    return;
  }
  if (!ordered_) order();
  // Groups of dimensions, the fastest first; a dimension joins the group before it where every
  // operand steps over exactly that group.
  int rank = 0;
  Strides merged[kOperands];
  for (int i = 0; i < shape_.rank; ++i) {
    const auto d = std::size_t(order_[i]);
    const std::int64_t size = shape_.sizes[d];
    if (size == 1) continue;
    const auto last = std::size_t(rank - 1);
    bool joins = rank > 0;
    for (int k = 0; joins && k < count_; ++k)
      joins = strides_[k][d] == checked_mul(merged[k][last], sizes_[last]);
    if (joins) {
      sizes_[last] = checked_mul(sizes_[last], size);
      continue;
    }
    sizes_[rank] = size;
    for (int k = 0; k < count_; ++k) merged[k][std::size_t(rank)] = strides_[k][d];
    ++rank;
  }
  if (rank == 0) {
    sizes_[0] = 1;
    for (int k = 0; k < count_; ++k) merged[k][0] = 1;
    rank = 1;
  }
  std::reverse(sizes_, sizes_ + rank);
  for (int k = 0; k < count_; ++k)
    std::reverse_copy(merged[k].begin(), merged[k].begin() + rank, strides_[k].begin());
  c.rank = rank;
  c.sizes = sizes_;
}

}  // namespace rushlight
