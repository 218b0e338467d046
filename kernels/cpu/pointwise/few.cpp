// Small calls: what does not lie dense, or not in the op's type, passes through a block as short as
// the call is. No segments, no cursors: setting those up would take longer than the elements.
#include "job.h"
#include "kernels/stored.h"

namespace rushlight {
namespace {

// `far` is the step from row to row. Single arguments and not a struct, which would be read whole
// after it was written in pieces.
template <class S>
void gather(S* to, const S* from, std::int64_t far, std::int64_t near, std::int64_t rows,
            std::int64_t row) {
  for (std::int64_t r = 0; r < rows; ++r, from += far)
    for (std::int64_t k = 0; k < row; ++k) *to++ = from[k * near];
}
template <class S>
void scatter(S* to, const S* from, std::int64_t far, std::int64_t near, std::int64_t rows,
             std::int64_t row) {
  for (std::int64_t r = 0; r < rows; ++r, to += far)
    for (std::int64_t k = 0; k < row; ++k) to[k * near] = *from++;
}

}  // namespace

void run_few(const Job& job) {
  const PointwiseCall& c = job.call;
  const std::int64_t row = c.sizes[c.rank - 1], rows = c.rank == 2 ? c.sizes[0] : 1;
  alignas(64) char blocks[kMaxOperands][kFew * kMaxItemSize];
  void* pointers[kMaxOperands] = {};
  PointwiseLoop loop = job.loop;
  unsigned moved = 0;  // bits of outputs that are not written where they lie
  for (int i = 0; i < job.operands; ++i) {
    const Operand& o = job.operand(i);
    const BlockType type = job.types[i];
    pointers[i] = blocks[i];
    if (!o.data) continue;  // a result that is not wanted
    if (o.is_scalar()) {
      const bool alone = job.is_alone(i);
      if (alone) loop = job.by_scalar;
      fill_block(alone ? job.scalar_type : type, blocks[i], *static_cast<const Scalar*>(o.data),
                 alone ? 1 : c.numel);
      continue;
    }
    const std::int64_t near = o.strides[c.rank - 1], far = c.rank == 2 ? o.strides[0] : row;
    const bool same = o.dtype == kBlockDType[int(type)];
    if (same && near == 1 && far == row) {
      pointers[i] = o.data;
    } else if (i < job.outputs) {
      moved |= 1u << i;
    } else if (same) {
      dispatch_stored_size(o.dtype, [&]<class S>(Type<S>) {
        gather(reinterpret_cast<S*>(blocks[i]), static_cast<const S*>(o.data), far, near, rows,
               row);
      });
    } else {
      const auto item = std::int64_t(item_size(o.dtype)),
                 step = std::int64_t(kBlockItem[int(type)]);
      for (std::int64_t r = 0; r < rows; ++r)
        read_block(type, blocks[i] + r * row * step, o.dtype,
                   static_cast<const char*>(o.data) + r * far * item, near, row);
    }
  }
  loop(c.numel, pointers, pointers + job.outputs, c.parameters);
  for (int i = 0; moved >> i; ++i) {
    if (!(moved >> i & 1)) continue;
    const Operand& o = job.operand(i);
    const BlockType type = job.types[i];
    const std::int64_t near = o.strides[c.rank - 1], far = c.rank == 2 ? o.strides[0] : row;
    if (o.dtype == kBlockDType[int(type)]) {
      dispatch_stored_size(o.dtype, [&]<class S>(Type<S>) {
        scatter(static_cast<S*>(o.data), reinterpret_cast<const S*>(blocks[i]), far, near, rows,
                row);
      });
    } else {
      const auto item = std::int64_t(item_size(o.dtype)),
                 step = std::int64_t(kBlockItem[int(type)]);
      for (std::int64_t r = 0; r < rows; ++r)
        write_block(type, blocks[i] + r * row * step, o.dtype,
                    static_cast<char*>(o.data) + r * far * item, near, row);
    }
  }
}

}  // namespace rushlight
