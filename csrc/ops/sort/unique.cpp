// Distinct values, their indices and counts. As in torch, the values of what requires grad do so
// too, and their gradient is refused.
#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "kernels/sort.h"
#include "sort.h"

namespace rushlight {
namespace {

Tensor without_derivative(Tensor values, const Tensor& input, bool by_slice, bool consecutive) {
  constexpr const char* kNodes[] = {"Unique2Backward0", "UniqueDimBackward0",
                                    "UniqueConsecutiveBackward0"};
  constexpr const char* kNames[] = {"_unique2", "unique_dim", "unique_consecutive"};
  const int which = consecutive ? 2 : by_slice;
  return record(
      kNodes[which], std::move(values),
      [name = kNames[which]](Tensor) -> Gradients {
        fail<NotImplementedError>("the derivative for '", name, "' is not implemented.");
      },
      input);
}

std::int64_t* integers_of(const Tensor& t) { return t ? view_of(t).as<std::int64_t>() : nullptr; }

}  // namespace

// The first of what has room for more. A few do not hold on to the memory of all.
static Tensor first_of(const Tensor& room, std::int64_t found) {
  if (found < room.numel() / 2) return clone(narrow(room, 0, 0, found));
  return resize_(room, Shape{found}, 0);
}

// Runs of the elements in their order.
static std::tuple<Tensor, Tensor, Tensor> runs_in(const Tensor& input, const UniqueParts& wanted) {
  const GradMode off(false);
  const std::int64_t n = input.numel();
  const Tensor dense = contiguous(input);
  const Tensor values = empty({n}, input.dtype(), input.device());
  Tensor inverse, counts;
  if (wanted.inverse) inverse = empty(input.sizes(), DType::int64, input.device());
  if (wanted.counts) counts = empty({n}, DType::int64, input.device());
  std::int64_t found = 0;
  if (n) {
    report_wait(input.device(), "unique()");
    View from = dense_view(dense, values.dtype(), n);
    from.rank = 1, from.sizes[0] = n, from.strides[0] = 1;
    const View to = view_of(values);
    const Backend& b = backend(input.device());
    const Unlocked unlocked(time_of_wait(input.device(), double(n)),
                            {&dense, &values, &inverse, &counts});
    found = b.sort->runs(to, from, integers_of(inverse), integers_of(counts));
  }
  return {first_of(values, found), inverse, counts ? first_of(counts, found) : counts};
}

static std::tuple<Tensor, Tensor, Tensor> found_in(const Tensor& input,
                                                   std::optional<std::int64_t> d, bool consecutive,
                                                   const UniqueParts& wanted) {
  const GradMode off(false);
  if (d && input.dim() == 0)
    fail<IndexError>("Dimension specified as ", *d, " but tensor has no dimensions");
  const int dim = d ? wrap_dim(*d, input.dim()) : 0;
  const bool by_slice = d.has_value();
  // Slices along `dim` as the rows of a matrix; single elements where no dim is given.
  Tensor rows = by_slice ? contiguous(movedim(input, Shape{dim}, Shape{0})) : input;
  const Shape slices = rows.shape();
  const std::int64_t n = by_slice ? slices[0] : input.numel();
  const std::int64_t width = !by_slice ? 1 : n ? input.numel() / n : 0;
  if (by_slice && n == 0 && numel_of(slices.view().subspan(1)) == 0 && input.dim() > 1)
    fail<RuntimeError>("unique(): there are no elements in the slices along dimension ", dim, "\n",
                       describe("input", input));
  rows = reshape(rows, Shape{n, width});
  // Compared where they lie, rows must not change under the sort, which trusts its order.
  if (width > 1 && rows->storage.get() == input->storage.get()) rows = clone(rows);
  const Tensor first = empty({n}, DType::int64, input.device());
  Tensor inverse, counts;
  if (wanted.inverse) inverse = empty({n}, DType::int64, input.device());
  if (wanted.counts) counts = empty({n}, DType::int64, input.device());
  std::int64_t found = 0;
  if (n && !input.device().is_meta()) {
    report_wait(input.device(), "unique()");
    const View view = view_of(rows);
    const Backend& b = backend(input.device());
    const Unlocked unlocked(time_of_wait(input.device(), double(input.numel()) * 20),
                            {&rows, &first, &inverse, &counts});
    found = b.sort->unique(view, consecutive, integers_of(first), integers_of(inverse),
                           integers_of(counts));
  }
  Shape shape = slices;
  if (by_slice)
    shape[0] = found;
  else
    shape = Shape{found};
  const Tensor at = expand(unsqueeze(narrow(first, 0, 0, found), 1), Shape{found, width});
  Tensor values = reshape(gather(rows, 0, at), shape);
  if (by_slice) values = alias(movedim(values, Shape{0}, Shape{dim}));
  const Tensor indices = by_slice || !inverse ? inverse : reshape(inverse, input.shape());
  return {values, indices, counts ? first_of(counts, found) : counts};
}

std::tuple<Tensor, Tensor, Tensor> unique(const Tensor& input, std::optional<std::int64_t> d,
                                          bool consecutive, const UniqueParts& wanted) {
  check_alive(input);
  const Device device = input.device();
  const bool by_runs = consecutive && !d && !device.is_meta() && backend(device).sort->runs;
  const Tensor own = detach(input);  // whose sizes no other thread changes
  auto [values, indices, counts] =
      by_runs ? runs_in(own, wanted) : found_in(own, d, consecutive, wanted);
  return {without_derivative(std::move(values), input, d.has_value(), consecutive), indices,
          counts};
}

}  // namespace rushlight
