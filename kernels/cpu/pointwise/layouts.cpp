// Calls whose operands lie so that there is a quicker way than by segments (job.h).
#include <algorithm>
#include <optional>

#include "job.h"
#include "kernels/cpu/runs.h"
#include "kernels/cpu/scratch.h"
#include "kernels/cpu/transpose.h"
#include "kernels/parallel.h"
#include "kernels/stored.h"

namespace rushlight {
namespace {

// The same job for a part of its call.
Job part_of(const Job& job, const PointwiseCall& part) {
  Job same{part, job.loop, job.by_scalar, job.outputs, job.operands, job.is_slow, {}};
  std::copy_n(job.types, kMaxOperands, same.types);
  same.scalars = job.scalars, same.scalar_type = job.scalar_type;
  return same;
}

constexpr std::int64_t kTileRows = 64, kTileColumns = 1024;

// Whether input i of a call of two dimensions is dense along the first, the others' far one.
bool is_transposed(const PointwiseCall& c, const Operand& o) {
  return o.data && !o.is_scalar() && o.strides[0] == 1 && o.strides[1] > 1 && c.sizes[0] > 1 &&
         o.dtype != DType::complex128;  // as large as what transposes moves at a time
}

}  // namespace

bool run_rows(const Job& job, std::int64_t begin, std::int64_t end) {
  const PointwiseCall& c = job.call;
  const int last = c.rank - 1;
  const std::int64_t row = c.sizes[last];
  alignas(64) char numbers[kMaxOperands][kFew * kMaxItemSize];
  void* at[kMaxOperands];
  std::int64_t items[kMaxOperands];  // bytes of an element, 0 of a number
  PointwiseLoop loop = job.loop;
  for (int i = 0; i < job.operands; ++i) {
    const Operand& o = job.operand(i);
    if (!o.data) return false;
    const bool alone = job.is_alone(i);
    if (o.is_scalar()) {
      if (row > kFew && !alone) return false;
      fill_block(alone ? job.scalar_type : job.types[i], at[i] = numbers[i],
                 *static_cast<const Scalar*>(o.data), alone ? 1 : row);
      items[i] = 0;
      if (alone) loop = job.by_scalar;
      continue;
    }
    if (alone && o.strides[last] == 0 && job.scalar_type == job.types[i])
      loop = job.by_scalar;
    else if (o.strides[last] != 1)
      return false;
    if (o.dtype != kBlockDType[int(job.types[i])]) return false;
    at[i] = o.data;
    items[i] = std::int64_t(item_size(o.dtype));
  }
  std::int64_t index[kMaxRank] = {};
  const auto move = [&](int d, std::int64_t steps) {
    index[d] += steps;
    for (int i = 0; i < job.operands; ++i)
      if (items[i])
        at[i] = static_cast<char*>(at[i]) + steps * job.operand(i).strides[d] * items[i];
  };
  for (std::int64_t d = last, rest = begin; --d >= 0 && rest; rest /= c.sizes[d])
    move(int(d), rest % c.sizes[d]);
  std::int64_t steps[kMaxOperands];
  for (int i = 0; i < job.operands; ++i)
    steps[i] = items[i] ? job.operand(i).strides[last - 1] * items[i] : 0;
  while (begin < end) {
    const std::int64_t rows = std::min(end - begin, c.sizes[last - 1] - index[last - 1]);
    for (std::int64_t r = 0; r < rows; ++r) {
      loop(row, at, at + job.outputs, c.parameters);
      for (int i = 0; i < job.operands; ++i) at[i] = static_cast<char*>(at[i]) + steps[i];
    }
    begin += rows, index[last - 1] += rows;
    for (int d = last - 1; d > 0 && index[d] == c.sizes[d]; --d)
      move(d, -c.sizes[d]), move(d - 1, 1);
  }
  return true;
}

// Those inputs are transposed back, a tile at a time, as one element from each line of the cache is
// slow to read.
bool run_transposed(const Job& job) {
  const PointwiseCall& c = job.call;
  const std::int64_t rows = c.sizes[0], columns = c.sizes[1];
  bool any = false;
  for (int i = job.outputs; i < job.operands; ++i) any |= is_transposed(c, job.operand(i));
  if (!any || rows < 16 || columns < kLongRow) return false;
  const std::int64_t across = (columns + kTileColumns - 1) / kTileColumns;
  const std::int64_t down = (rows + kTileRows - 1) / kTileRows;
  parallel_for(across * down, 1, [&](std::int64_t begin, std::int64_t end) {
    for (; begin < end; ++begin) {
      const std::int64_t r = begin / across * kTileRows, k = begin % across * kTileColumns;
      const std::int64_t sizes[] = {std::min(kTileRows, rows - r),
                                    std::min(kTileColumns, columns - k)};
      const std::int64_t dense[] = {sizes[1], 1};
      std::optional<Scratch<std::uint64_t>> copies[kMaxOperands];
      PointwiseCall tile = c;
      tile.sizes = sizes, tile.numel = sizes[0] * sizes[1];
      for (int i = 0; i < job.operands; ++i) {
        Operand& o = i < job.outputs ? tile.out[i] : tile.in[i - job.outputs];
        if (!o.data || o.is_scalar()) continue;
        const auto item = std::int64_t(item_size(o.dtype));
        char* const at = static_cast<char*>(o.data) + (r * o.strides[0] + k * o.strides[1]) * item;
        o.data = at;
        if (i < job.outputs || !is_transposed(c, o)) continue;
        o.data = copies[i].emplace(std::size_t(tile.numel)).data();
        dispatch_size(o.dtype, [&]<class S>(Type<S>) {
          transpose(reinterpret_cast<const S*>(at), o.strides[1], sizes[1], sizes[0],
                    static_cast<S*>(o.data), sizes[1]);
        });
        o.strides = dense;
      }
      run_range(part_of(job, tile), 0, tile.numel);
    }
  });
  return true;
}

// One element of each row of results is computed, and fills it, where results are dense.
bool run_filled(const Job& job) {
  const PointwiseCall& c = job.call;
  const int last = c.rank - 1;
  const std::int64_t n = c.sizes[last], rows = c.numel / n;
  if (n < kLongRow) return false;
  for (int i = 0; i < job.operands; ++i) {
    const Operand& o = job.operand(i);
    if (!o.data || o.is_scalar()) continue;
    if (i >= job.outputs && o.strides[last] != 0) return false;
    std::int64_t expected = 1;
    for (int d = last; i < job.outputs && d >= 0; expected *= c.sizes[d--])
      if (o.strides[d] != expected) return false;
  }
  constexpr std::int64_t kOne[] = {1};
  std::int64_t dense[kMaxRank];
  dense[std::max(last - 1, 0)] = 1;
  for (int d = last - 2; d >= 0; --d) dense[d] = dense[d + 1] * c.sizes[d + 1];
  std::optional<Scratch<std::uint64_t>> results[kMaxInputs];
  PointwiseCall part = c;
  part.rank = std::max(last, 1), part.numel = rows, part.sizes = last ? c.sizes : kOne;
  for (int i = 0; i < job.outputs; ++i)
    if (c.out[i].data) {
      const std::size_t words = item_size(c.out[i].dtype) > 8 ? 2 : 1;
      part.out[i].data = results[i].emplace(std::size_t(rows) * words).data();
      part.out[i].strides = dense;
    }
  run(part_of(job, part));
  for (int i = 0; i < job.outputs; ++i)
    if (c.out[i].data)
      dispatch_stored_size(c.out[i].dtype, [&]<class S>(Type<S>) {
        S* const to = static_cast<S*>(c.out[i].data);
        const S* const from = static_cast<const S*>(part.out[i].data);
        parallel_for(c.numel, kGrain, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t row = begin / n; begin < end; ++row) {
            const std::int64_t stop = std::min(end, (row + 1) * n);
            fill_run(to + begin, stop - begin, from[row]);
            begin = stop;
          }
        });
      });
  return true;
}

// `count` > 0 copies of `size` bytes, `apart` from each other.
void copy_parts(char* to, const char* from, std::int64_t size, std::int64_t apart,
                std::int64_t count) {
  copy_bytes(to, from, size);
  if (apart == size) return repeat_bytes(to, size, count);
  for (std::int64_t k = 1; k < count; ++k) copy_bytes(to + k * apart, from, size);
}

// One part is computed, and copied to the others, where results lie dense in each.
bool run_repeated(const Job& job) {
  const PointwiseCall& c = job.call;
  for (int i = 0; i < job.operands; ++i) {
    const Operand& o = job.operand(i);
    if (!o.data || o.is_scalar()) continue;
    if (i >= job.outputs) {
      if (o.strides[0] != 0) return false;
      continue;
    }
    std::int64_t expected = 1;
    for (int d = c.rank - 1; d > 0; expected *= c.sizes[d--])
      if (o.strides[d] != expected) return false;
  }
  PointwiseCall part = c;
  part.rank = c.rank - 1, part.numel = c.numel / c.sizes[0], part.sizes = c.sizes + 1;
  for (int i = 0; i < job.operands; ++i) {
    Operand& o = i < job.outputs ? part.out[i] : part.in[i - job.outputs];
    if (o.data && !o.is_scalar()) ++o.strides;
  }
  run(part_of(job, part));
  parallel_for(c.sizes[0] - 1, std::max<std::int64_t>(1, kGrain / part.numel),
               [&](std::int64_t begin, std::int64_t end) {
                 for (int i = 0; i < job.outputs; ++i) {
                   const Operand& o = c.out[i];
                   const auto item = std::int64_t(item_size(o.dtype));
                   char* const first = static_cast<char*>(o.data);
                   const std::int64_t apart = o.strides ? o.strides[0] * item : 0;
                   if (first)
                     copy_parts(first + (begin + 1) * apart, first, part.numel * item, apart,
                                end - begin);
                 }
               });
  return true;
}

}  // namespace rushlight
