// Runs a pointwise call: cuts it into segments for which every operand is a dense run of the type
// the op computes in, either where it lies or in a block on the stack, and hands each segment to
// the op's one loop. Not a template: the per-op part is a row of PointwiseLoops.
#include <algorithm>
#include <cstring>

#include "complex.h"
#include "job.h"
#include "kernels/cpu/runs.h"
#include "kernels/cpu/short_rows.h"
#include "kernels/parallel.h"
#include "loops.h"

namespace rushlight {
namespace {

constexpr std::int64_t kSlowGrain = 512;  // the same for ops computed in double
constexpr std::int64_t kLongRowBytes = 256;  // a row is sooner taken where it lies than in a block
constexpr std::int64_t kFarBytes = 1 << 21;  // operands of so many do not stay in a near cache
constexpr std::int64_t kFewRows = 16;  // of any length are sooner taken one by one than in blocks
constexpr std::int64_t kShortRow = 64;  // up to here a row is brought sooner than a call begins

const PointwiseTable table = [] {  // made at load: a call has no test of a static's initialisation
  PointwiseTable rows;
  append_arithmetic_loops(rows);
  append_selection_loops(rows);
  append_comparison_loops(rows);
  append_exponential_loops(rows);
  append_trigonometric_loops(rows);
  append_activation_loops(rows);
  append_loss_loops(rows);
  append_special_loops(rows);
  append_bessel_loops(rows);
  return rows;
}();
const PointwiseLoops& row_of(int op) { return table[std::size_t(op)]; }

enum class Access : std::uint8_t {
  linear,  // dense over the whole call: used where it lies
  constant,  // a number, or all strides 0: one block, filled once
  unwanted,  // a result that is not wanted: a block that is dropped
  rows,  // dense along the last dimension only: used where it lies while a segment is in a row
  repeated,  // the last operand of `by_scalar`: one element for each row
  moved  // converted, or strided: copied through a block
};

Access access_of(const Job& job, int i, bool is_row_wise) {
  const PointwiseCall& c = job.call;
  const Operand& o = job.operand(i);
  if (!o.data) return Access::unwanted;
  if (o.is_scalar()) return Access::constant;
  bool is_dense = true, is_constant = i >= job.outputs;
  std::int64_t expected = 1;
  for (int d = c.rank - 1; d >= 0; --d) {
    is_dense &= o.strides[d] == expected;
    is_constant &= o.strides[d] == 0;
    expected *= c.sizes[d];
  }
  if (is_constant) return Access::constant;
  // bool is read through a block when its bytes may be other than 0 and 1: only `load` checks that
  const bool same = o.dtype == kBlockDType[int(job.types[i])];
  if (same && is_dense) return Access::linear;
  if (same && is_row_wise && o.strides[c.rank - 1] == 1) return Access::rows;
  if (same && is_row_wise && o.strides[c.rank - 1] == 0 && job.is_alone(i)) return Access::repeated;
  return Access::moved;
}

// Where an operand of more than one dimension has been read or written up to. What is dense in
// several dimensions is one row.
class Cursor {
 public:
  // In place, as what was just written in pieces is slow to copy.
  void begin(const PointwiseCall& c, const Operand& o, std::int64_t linear) {
    last_ = 0, offset_ = 0;
    sizes_[0] = c.sizes[0], strides_[0] = o.strides[0];
    for (int d = 1; d < c.rank; ++d) {
      const bool joined = strides_[last_] == o.strides[d] * c.sizes[d];
      if (!joined) ++last_;
      sizes_[last_] = joined ? sizes_[last_] * c.sizes[d] : c.sizes[d];
      strides_[last_] = o.strides[d];
    }
    if (linear == 0) return void(std::fill_n(index_, last_ + 1, 0));  // the usual: no division
    for (int d = last_; d > 0; --d) {
      index_[d] = linear % sizes_[d];
      linear /= sizes_[d];
      offset_ += index_[d] * strides_[d];
    }
    index_[0] = linear;
    offset_ += linear * strides_[0];
  }
  std::int64_t offset() const { return offset_; }  // in elements
  std::int64_t left() const { return sizes_[last_] - index_[last_]; }  // in this row
  void advance(std::int64_t n) {  // at most to the end of the row
    offset_ += n * strides_[last_];
    index_[last_] += n;
    if (index_[last_] < sizes_[last_]) return;
    offset_ -= index_[last_] * strides_[last_];
    index_[last_] = 0;
    for (int d = last_ - 1; d >= 0; --d) {
      offset_ += strides_[d];
      if (++index_[d] < sizes_[d]) return;
      offset_ -= sizes_[d] * strides_[d];
      index_[d] = 0;
    }
  }
  // Calls f(offset, done, count) for the runs along the last dimension that make up n positions.
  template <class F>
  void for_each_run(std::int64_t n, F f) {
    for (std::int64_t done = 0; done < n;) {
      const std::int64_t count = std::min(n - done, left());
      f(offset_, done, count);
      advance(count);
      done += count;
    }
  }
  // Reads n positions of an operand into a block; a row that repeats is read once.
  void read(const Operand& o, std::int64_t n, BlockType type, char* block) {
    const auto own = std::int64_t(kBlockItem[int(type)]), item = std::int64_t(item_size(o.dtype));
    if (o.dtype == kBlockDType[int(type)] && o.dtype != DType::boolean) return gather(o, n, block);
    if (sizes_[last_] <= kShortRow && item <= 2 * own) {  // converted together
      alignas(64) char together[2 * kBlockBytes];
      gather(o, n, together);
      return read_block(type, block, o.dtype, together, 1, n);
    }
    for_each_rows(n, [&](std::int64_t offset, std::int64_t done, std::int64_t count,
                         std::int64_t rows, std::int64_t far) {
      char* const to = block + done * own;
      for (std::int64_t r = 0; r < (far ? rows : 1); ++r)
        read_block(type, to + r * count * own, o.dtype,
                   static_cast<char*>(o.data) + (offset + r * far) * item, strides_[last_], count);
      if (!far) repeat_bytes(to, count * own, rows);
    });
  }

 private:
  void gather(const Operand& o, std::int64_t n, char* block) {
    const auto item = std::int64_t(item_size(o.dtype));
    for_each_rows(n, [&](std::int64_t offset, std::int64_t done, std::int64_t count,
                         std::int64_t rows, std::int64_t far) {
      gather_rows(block + done * item, static_cast<char*>(o.data) + offset * item, o.dtype, far,
                  strides_[last_], rows, count);
    });
  }
  // Calls f(offset, done, count, rows, far) for pieces of a row, and for whole rows that lie `far`
  // from each other.
  template <class F>
  void for_each_rows(std::int64_t n, F f) {
    const std::int64_t far = last_ > 0 ? strides_[last_ - 1] : 0;
    for (std::int64_t done = 0; done < n;) {
      const std::int64_t row = sizes_[last_], count = std::min(n - done, left());
      std::int64_t rows = 1;
      if (count == row && last_ > 0)
        rows = std::min((n - done) / row, sizes_[last_ - 1] - index_[last_ - 1]);
      f(offset_, done, count, rows, far);
      done += count * rows;
      if (rows > 1) offset_ += (rows - 1) * far, index_[last_ - 1] += rows - 1;
      advance(count);
    }
  }

  int last_;
  std::int64_t sizes_[kMaxRank], strides_[kMaxRank], offset_, index_[kMaxRank];
};

// Whether some input is one element for each row, and fills a block for each.
bool repeats(const Job& job) {
  const PointwiseCall& c = job.call;
  for (int i = job.outputs; i < job.operands; ++i) {
    const Operand& o = job.operand(i);
    if (o.data && !o.is_scalar() && o.strides[c.rank - 1] == 0 && !job.is_alone(i)) return true;
  }
  return false;
}

}  // namespace

void run_range(const Job& job, std::int64_t begin, std::int64_t end) {
  const PointwiseCall& c = job.call;
  const std::int64_t row = c.sizes[c.rank - 1];
  const int last = job.operands - 1;
  const auto item = std::min<std::int64_t>(4, std::int64_t(kBlockItem[int(job.types[last])]));
  const bool is_row_wise = c.rank > 1 && row * item >= (repeats(job) ? 4 : 1) * kLongRowBytes;
  alignas(64) char blocks[kMaxOperands][kBlockBytes];
  Access access[kMaxOperands] = {};
  void* pointers[kMaxOperands];
  Cursor cursors[kMaxOperands];
  std::int64_t items[kMaxOperands];  // bytes of an element
  bool needs_blocks = false, in_rows = false;
  std::size_t widest = 1;
  int gathered = 0;
  for (int i = 0; i < job.operands; ++i) {
    const Operand& o = job.operand(i);
    access[i] = access_of(job, i, is_row_wise);
    gathered += i >= job.outputs && access[i] == Access::moved;
    items[i] = std::int64_t(item_size(o.dtype));
    if (access[i] >= Access::rows) cursors[i].begin(c, o, begin);
    if (access[i] == Access::rows || access[i] == Access::repeated)
      in_rows = true;
    else
      needs_blocks |=
          access[i] != Access::linear && !(access[i] == Access::constant && job.is_alone(i));
    widest = std::max(widest, kBlockItem[int(job.types[i])]);
  }
  const bool by_scalar =
      job.by_scalar && (access[last] == Access::constant || access[last] == Access::repeated);
  const PointwiseLoop loop = by_scalar ? job.by_scalar : job.loop;
  // What is read far apart is written while it is in the nearest cache. Several that are gathered
  // from memory come by turns of a block: the shorter it is, the more of them the processor has on
  // their way at once.
  const bool is_scattered = access[0] == Access::moved && end - begin >= kGrain &&
                            job.operand(0).strides[c.rank - 1] != 1;
  const bool is_far = gathered > 1 && c.numel * std::int64_t(widest) >= kFarBytes;
  const std::int64_t parts = !is_scattered && !is_far     ? 1
                             : gathered < 3               ? 2
                             : widest < 8 || is_scattered ? 4
                                                          : 8;
  const std::int64_t block = kBlockBytes / parts;
  const std::int64_t limit = needs_blocks ? block / std::int64_t(widest) : end - begin;
  for (int i = 0; i < job.operands; ++i) {
    pointers[i] = blocks[i];
    const Operand& o = job.operand(i);
    if (access[i] == Access::linear) pointers[i] = static_cast<char*>(o.data) + begin * items[i];
    if (access[i] != Access::constant) continue;
    const bool alone = by_scalar && job.is_alone(i);
    const std::int64_t n = alone ? 1 : std::min(limit, end - begin);
    const BlockType type = alone ? job.scalar_type : job.types[i];
    if (o.is_scalar())
      fill_block(type, blocks[i], *static_cast<const Scalar*>(o.data), n);
    else
      read_block(type, blocks[i], o.dtype, o.data, 0, n);
  }
  std::int64_t left = !in_rows ? end - begin : begin ? row - begin % row : row;
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t n = std::min(std::min(limit, end - at), left);
    left = in_rows && n == left ? row : left - n;
    for (int i = 0; i < job.operands; ++i) {
      if (access[i] == Access::rows || access[i] == Access::repeated) {
        const Operand& o = job.operand(i);
        pointers[i] = static_cast<char*>(o.data) + cursors[i].offset() * items[i];
        cursors[i].advance(n);
        if (access[i] == Access::repeated && job.scalar_type != job.types[i]) {
          read_block(job.scalar_type, blocks[i], o.dtype, pointers[i], 0, 1);
          pointers[i] = blocks[i];
        }
      } else if (access[i] == Access::moved && i >= job.outputs) {
        cursors[i].read(job.operand(i), n, job.types[i], blocks[i]);
      }
    }
    loop(n, pointers, pointers + job.outputs, c.parameters);
    for (int i = 0; i < job.operands; ++i) {
      if (access[i] == Access::linear) {
        pointers[i] = static_cast<char*>(pointers[i]) + n * items[i];
      } else if (access[i] == Access::moved && i < job.outputs) {
        const Operand& o = job.operand(i);
        cursors[i].for_each_run(n, [&](std::int64_t offset, std::int64_t done, std::int64_t count) {
          write_block(job.types[i], blocks[i] + std::size_t(done) * kBlockItem[int(job.types[i])],
                      o.dtype, static_cast<char*>(o.data) + offset * items[i],
                      o.strides[c.rank - 1], count);
        });
      }
    }
    at += n;
  }
}

void run(const Job& job) {
  const PointwiseCall& c = job.call;
  const std::int64_t grain = job.is_slow ? kSlowGrain : kGrain;
  if (c.rank == 1 && c.numel <= grain) {  // the common small call: nothing to convert
    void* pointers[kMaxOperands];
    alignas(64) char numbers[kMaxOperands][kFew * kMaxItemSize];
    bool is_direct = true;
    PointwiseLoop loop = job.loop;
    for (int i = 0; i < job.operands; ++i) {
      const Operand& o = job.operand(i);
      pointers[i] = o.data;
      const bool alone = o.data && !o.strides && job.is_alone(i);
      if (alone || (o.data && !o.strides && c.numel <= kFew))
        fill_block(alone ? job.scalar_type : job.types[i], pointers[i] = numbers[i],
                   *static_cast<const Scalar*>(o.data), alone ? 1 : c.numel);
      else
        is_direct &=
            o.data && o.strides && *o.strides == 1 && o.dtype == kBlockDType[int(job.types[i])];
      if (alone) loop = job.by_scalar;
    }
    if (is_direct) return loop(c.numel, pointers, pointers + job.outputs, c.parameters);
    return c.numel <= kFew ? run_few(job) : run_range(job, 0, c.numel);
  }
  if (c.rank == 2 && c.numel <= kFew) return run_few(job);
  const std::int64_t row = c.sizes[c.rank - 1], rows = c.numel / row;
  const auto row_bytes = row * std::int64_t(kBlockItem[int(job.types[job.operands - 1])]);
  const bool by_rows = c.rank > 1 && row <= grain &&
                       (row_bytes >= kLongRowBytes || (c.rank == 2 && rows < kFewRows));
  if (by_rows && c.numel <= grain && run_rows(job, 0, rows)) return;
  if (c.numel > 4096 && c.sizes[0] > 1 && run_repeated(job)) return;
  if (c.numel > 4096 && run_filled(job)) return;
  if (c.rank == 2 && c.numel > 4096 && run_transposed(job)) return;
  if (by_rows && c.numel > grain && run_rows(job, 0, 0))
    return parallel_for(rows, std::max<std::int64_t>(1, grain / row),
                        [&](std::int64_t begin, std::int64_t end) { run_rows(job, begin, end); });
  if (c.numel <= 2 * grain) return run_range(job, 0, c.numel);
  parallel_for(c.numel, grain,
               [&](std::int64_t begin, std::int64_t end) { run_range(job, begin, end); });
}

namespace {

CLONES bool none_is_zero(const std::int64_t* p, std::int64_t n) {
  int found = 0;
  for (std::int64_t i = 0; i < n; ++i) found |= p[i] == 0;
  return !found;
}

// The position of the first divisor that is zero, or -1.
std::int64_t find_zero(const PointwiseCall& c, const Operand& divisor) {
  if (divisor.is_scalar()) return static_cast<const Scalar*>(divisor.data)->as_int() == 0 ? 0 : -1;
  std::int64_t block[kBlockBytes / 8];
  Cursor cursor;
  cursor.begin(c, divisor, 0);
  for (std::int64_t at = 0; at < c.numel; at += kBlockBytes / 8) {
    const std::int64_t n = std::min<std::int64_t>(kBlockBytes / 8, c.numel - at);
    cursor.read(divisor, n, BlockType::integer, reinterpret_cast<char*>(block));
    if (none_is_zero(block, n)) continue;
    for (std::int64_t i = 0; i < n; ++i)
      if (block[i] == 0) return at + i;
  }
  return -1;
}

// Whether the operands that `by_scalar` takes as one element each can be that.
bool takes_scalars(const PointwiseLoops& l, const PointwiseCall& c) {
  for (int i = l.inputs - l.scalars; l.scalars > 1 && i < l.inputs; ++i)
    if (!c.in[i].is_scalar()) return false;
  return true;
}

// The index in kSmallTypes of the one type that a call reads and writes, or -1.
int small_type(const PointwiseLoops& l, const PointwiseCall& c) {
  int found = -1;
  for (int i = 0; i < l.inputs; ++i) {
    if (l.bool_inputs >> i & 1 || c.in[i].is_scalar()) continue;
    const int index = kSmallIndex[std::size_t(c.in[i].dtype)];
    if (index < 0 || (found >= 0 && index != found)) return -1;
    found = index;
  }
  if (found < 0 || !l.small[found] || (!l.bool_result && kSmallTypes[found] != c.out[0].dtype))
    return -1;
  const bool rounds = found == kBfloat16 && l.rounds_bfloat16;
  const bool by_scalar = rounds && l.by_scalar[int(BlockType::bfloat16)] && takes_scalars(l, c);
  for (int i = 0; i < (by_scalar ? l.inputs - l.scalars : l.inputs); ++i)
    if (c.in[i].is_scalar() && !fits_small(*static_cast<const Scalar*>(c.in[i].data), found))
      return -1;
  for (int i = 0; i < l.parameters && !rounds; ++i)
    if (!fits_small(c.parameters[i], found)) return -1;
  return found;
}

// A test whose answer is the same for every integer.
void fill_constant(const PointwiseCall& c, bool value) {
  const Operand& o = c.out[0];
  if (c.rank == 1 && *o.strides == 1 && c.numel <= kGrain)
    return void(std::memset(o.data, value, std::size_t(c.numel)));
  parallel_for(c.numel, kGrain, [&](std::int64_t begin, std::int64_t end) {
    Cursor cursor;
    cursor.begin(c, o, begin);
    cursor.for_each_run(end - begin, [&](std::int64_t offset, std::int64_t, std::int64_t count) {
      char* const to = static_cast<char*>(o.data) + offset;
      const std::int64_t stride = o.strides[c.rank - 1];
      if (stride == 1) return void(std::memset(to, value, std::size_t(count)));
      for (std::int64_t i = 0; i < count; ++i) to[i * stride] = value;
    });
  });
}

// Whether a call of an op whose inputs may be swapped has its number, or what is one for each row,
// first.
bool is_reversed(const PointwiseLoops& l, const PointwiseCall& c) {
  const auto is_alone = [&](const Operand& o) {
    return o.is_scalar() || (o.strides[c.rank - 1] == 0 && c.sizes[c.rank - 1] > 1);
  };
  return is_alone(c.in[0]) && !is_alone(c.in[1]) &&
         (!l.parameters || c.parameters[0].as_double() == 1);
}

// Whether all that is read and written is of one dtype; a number is of none.
bool is_all_of(const PointwiseLoops& l, const PointwiseCall& c, DType dtype) {
  bool all = c.out[0].dtype == dtype;
  for (int i = 0; i < l.inputs; ++i) all &= !c.in[i].is_scalar() && c.in[i].dtype == dtype;
  return all;
}

std::int64_t forward_by(const PointwiseLoops& l, const PointwiseCall& c) {
  auto type = BlockType(c.computes);
  if (l.changes_sign && is_all_of(l, c, DType::float16)) [[unlikely]] {
    PointwiseCall as_bfloat16 = c;
    as_bfloat16.out[0].dtype = DType::bfloat16;
    for (int i = 0; i < l.inputs; ++i) as_bfloat16.in[i].dtype = DType::bfloat16;
    return forward_by(l, as_bfloat16);
  }
  if (l.constant && type == BlockType::integer && c.out[0].dtype == DType::boolean) {
    fill_constant(c, l.constant_value);
    return -1;
  }
  if (l.divides && c.computes == Computes::integer)
    if (const std::int64_t zero = find_zero(c, c.in[1]); zero >= 0) return zero;
  if ((l.commutes || l.reversed) && is_reversed(l, c)) [[unlikely]] {
    PointwiseCall swapped = c;
    std::swap(swapped.in[0], swapped.in[1]);
    return forward_by(l.reversed ? *l.reversed : l, swapped);
  }
  Job job{c, l.forward[int(c.computes)], nullptr, 1, 1 + l.inputs, l.in_double, {}};
  const bool may_be_small =
      type == BlockType::integer
          ? l.small[0] != nullptr
          : c.out[0].dtype == DType::bfloat16 && type == BlockType::real32 && l.small[kBfloat16];
  if (const int small = may_be_small ? small_type(l, c) : -1; small >= 0) {
    job.loop = l.small[small];
    type = BlockType(int(BlockType::uint8) + small);
  }
  job.by_scalar = takes_scalars(l, c) ? l.by_scalar[int(type)] : nullptr;
  job.scalars = l.scalars;
  job.scalar_type = type == BlockType::bfloat16 ? BlockType::real32 : type;
  job.types[0] = l.bool_result ? BlockType::boolean : type;
  for (int i = 0; i < l.inputs; ++i)
    job.types[1 + i] = l.bool_inputs >> i & 1 ? BlockType::boolean : type;
  run(job);
  return -1;
}

std::int64_t forward(int op, const PointwiseCall& c) {
  return c.numel ? forward_by(row_of(op), c) : -1;
}

// Whether everything that is read and written is bfloat16.
bool is_all_bfloat16(const Job& job) {
  for (int i = 0; i < job.operands; ++i) {
    const Operand& o = job.operand(i);
    if (!o.data) continue;  // a result that is not wanted
    if (o.is_scalar() ? !fits_small(*static_cast<const Scalar*>(o.data), kBfloat16)
                      : o.dtype != DType::bfloat16)
      return false;
  }
  return true;
}

void backward(int op, const PointwiseCall& c) {
  if (c.numel == 0) return;
  const PointwiseLoops& l = row_of(op);
  auto type = BlockType(c.computes);
  Job job{c,           l.backward[int(c.computes)], nullptr,
          l.gradients, l.gradients + 1 + l.saved,   l.in_double,
          {}};
  if (l.bfloat16_backward && type == BlockType::real32 && is_all_bfloat16(job))
    job.loop = l.bfloat16_backward, type = BlockType::bfloat16;
  bool of_first = l.first_gradients[int(type)];
  for (int i = l.gradients - l.scalars; of_first && i < l.gradients; ++i) of_first = !c.out[i].data;
  if (of_first) {
    job.loop = l.first_gradients[int(type)];
    job.outputs -= l.scalars, job.operands -= l.scalars;
  }
  for (int i = 0; i < job.operands; ++i)
    job.types[i] =
        i >= job.outputs && l.bool_saved >> (i - job.outputs) & 1 ? BlockType::boolean : type;
  run(job);
}

}  // namespace

const PointwiseKernels cpu_pointwise = {&forward, &backward, &run_complex};

}  // namespace rushlight
