// Repeated tensors: the whole side by side, or each index in turn.
#include "autograd/showing.h"
#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "kernels/index.h"
#include "ops/join.h"
#include "ops/reduce/reduce.h"
#include "ops/scan.h"
#include "ops/sort/sort.h"

namespace rushlight {

Tensor repeat(const Tensor& input, const Shape& repeats) {
  const int extra = repeats.rank - input.dim();
  if (extra < 0)
    fail<RuntimeError>(
        "Number of dimensions of repeat dims can not be smaller than number of "
        "dimensions of tensor");
  Shape padded, whole;
  for (int d = 0; d < repeats.rank; ++d) {
    if (repeats[d] < 0)
      fail<RuntimeError>("Trying to create tensor with negative dimension ", repeats[d], ": ",
                         repeats);
    padded.push_back(d < extra ? 1 : input->shape[d - extra]);
    whole.push_back(checked_mul(padded[d], repeats[d]));
  }
  Tensor out = empty(whole, input.dtype(), input.device());
  if (out.numel() && !out.device().is_meta()) {
    const GradMode off(false);
    // Dense rows are read where they lie, often from one that is expanded.
    const bool dense_rows = input.dim() && input.strides().back() == 1;
    const Tensor tile = expand(dense_rows ? input : contiguous(input), padded);
    // One copy, which writes along: (repeats, size) for each dimension that repeats.
    Shape apart;
    int more = 0;
    for (int d = 0; d < repeats.rank; ++d) more += repeats[d] != 1;
    if (repeats.rank + more <= kMaxRank) {
      Tensor from = tile;
      for (int d = 0; d < repeats.rank; ++d) {
        if (repeats[d] != 1) {
          from = unsqueeze(from, apart.rank);
          apart.push_back(repeats[d]);
        }
        apart.push_back(padded[d]);
      }
      copy_bits(view(out, apart), expand(from, apart));
    } else {
      // A copy for each tile.
      auto place = [&](auto& self, const Tensor& part, int d) -> void {
        if (d == repeats.rank) return copy_bits(part, tile);
        for (std::int64_t r = 0; r < repeats[d]; ++r)
          self(self, narrow(part, d, r * padded[d], padded[d]), d + 1);
      };
      place(place, out, 0);
    }
  }
  return record("RepeatBackward0", std::move(out),
                showing(
                    "repeats self_sym_sizes",
                    [padded](Tensor g, Node&, const Shape& repeats, const Shape& from) {
                      Tensor sum_of = g;
                      for (int d = 0; d < repeats.rank; ++d) {
                        if (repeats[d] == 1) continue;
                        if (repeats[d] == 0) return Gradients(zeros(from, g.dtype(), g.device()));
                        const std::int64_t at = d;
                        sum_of =
                            sum(unflatten(sum_of, d, {repeats[d], padded[d]}), {&at, 1}, false);
                      }
                      return Gradients(view(contiguous(sum_of), from));
                    },
                    Shape(repeats), input.shape()),
                input);
}

Tensor tile(const Tensor& input, const Shape& dims) {
  Shape padded;
  for (int d = dims.rank; d < input.dim(); ++d) padded.push_back(1);
  for (std::int64_t n : dims) padded.push_back(n);
  return repeat(input, padded);
}

static void check_output_size(std::optional<std::int64_t> given, std::int64_t total) {
  if (given && *given != total)
    fail<RuntimeError>(
        "allocated size does not match required size\nrepeat_interleave(): "
        "output_size is ",
        *given, ", but the repeats add up to ", total);
}

Tensor repeat_interleave(const Tensor& given, std::int64_t repeats, std::optional<std::int64_t> dim,
                         std::optional<std::int64_t> output_size) {
  const Tensor input = dim && given.dim() ? given : reshape(given, {-1});
  const int at = wrap_dim(dim.value_or(0), input.dim());
  if (repeats < 0) fail<RuntimeError>("Repeats must be non-negative\ngot ", repeats);
  Shape spread = input.shape(), whole = input.shape();
  whole[at] = checked_mul(input->shape[at], repeats);
  check_output_size(output_size, whole[at]);
  spread.rank = std::int8_t(at + 1);
  spread.push_back(repeats);
  for (int d = at + 1; d < input.dim(); ++d) spread.push_back(input->shape[d]);
  return view(contiguous(expand(unsqueeze(input, at + 1), spread)), whole);
}

Tensor repeat_interleave(const Tensor& repeats, std::optional<std::int64_t> output_size) {
  if (repeats.dim() != 1)
    fail<RuntimeError>("repeat_interleave only accept 1D vector as repeat\n",
                       describe("repeats", repeats));
  if (repeats.dtype() != DType::int64 && repeats.dtype() != DType::int32)
    fail<RuntimeError>("repeats has to be Long or Int tensor\n", describe("repeats", repeats));
  const GradMode off(false);
  const Tensor counts = to(repeats, DType::int64);
  const bool on_cpu = counts.device().is_cpu();
  if (on_cpu && counts.numel() && item(amin(counts, {}, false)).as_int() < 0)
    fail<RuntimeError>("repeats can not be negative\n", describe("repeats", repeats));
  if (!counts.numel()) {
    check_output_size(output_size, 0);
    return counts;
  }
  const Tensor ends = cumsum(counts, 0, {});
  std::int64_t total = output_size.value_or(0);
  if (on_cpu || !output_size) {
    total = item(select(ends, 0, -1)).as_int();
    check_output_size(output_size, total);
  }
  if (total < 0) fail<RuntimeError>("repeats can not be negative\n", describe("repeats", repeats));
  Options options;
  options.dtype = DType::int64;
  options.device = counts.device();
  if (on_cpu) {
    const Tensor dense = contiguous(counts), out = empty({total}, DType::int64, counts.device());
    const View n = dense_view(dense, DType::int64, dense.numel()), o = view_of(out);
    const Unlocked unlocked(double(total) * 0.3, {&dense, &out});
    backend(kCpu).index->repeat(o, n);
    return out;
  }
  return searchsorted(ends, arange(0, total, 1, options), false, true, {});
}

Tensor repeat_interleave(const Tensor& given, const Tensor& repeats,
                         std::optional<std::int64_t> dim, std::optional<std::int64_t> output_size) {
  check_same_device("repeat_interleave", given, "input", repeats, "repeats");
  const Tensor input = dim && given.dim() ? given : reshape(given, {-1});
  const int at = wrap_dim(dim.value_or(0), input.dim());
  const std::int64_t n = input->shape[at];
  Tensor counts = repeats;
  if (repeats.dim() == 0 || (repeats.dim() == 1 && repeats.size(0) == 1 && n != 1))
    counts = expand(reshape(repeats, {1}), {n});
  if (counts.dim() == 1 && counts.size(0) != n)
    fail<RuntimeError>(
        "repeats must have the same size as input along dim, but got "
        "repeats.size(0) = ",
        counts.size(0), " and input.size(", at, ") = ", n);
  return index_select(input, at, repeat_interleave(counts, output_size));
}

}  // namespace rushlight
