// Views: new geometry on the same storage. Their gradients are views too, or a scatter into zeros.
#include "ops/view.h"

#include <limits>

#include "autograd/showing.h"

namespace rushlight {
namespace {

Tensor seen_as(const Tensor& input, const Shape& size, const Strides& strides,
               std::int64_t offset) {
  return geometry(input, size, strides.data(), offset);
}

}  // namespace

Tensor detach(const Tensor& input) { return alias(input); }

// Of a result that is input with another shape.
static auto reshaped_from(const Tensor& input) {
  return showing(
      "self_sym_sizes",
      both([](Tensor g, Node&, const Shape& from) { return Gradients(reshape(g, from)); },
           [](Rows rows, Node&, const Shape& from) {
             return Gradients(reshape(rows.g, with_rows(rows.g, from)));
           }),
      input.shape());
}

Tensor view(const Tensor& input, const Shape& size) {
  const Shape shape = infer_shape(size, input.numel());
  Strides strides{};
  if (!view_strides(input.sizes(), input->strides.data(), shape, strides))
    fail<RuntimeError>(
        "view size is not compatible with input tensor's size and stride (at least one dimension "
        "spans across two contiguous subspaces). Use .reshape(...) instead.\ninput has shape ",
        input.sizes(), " and strides ", input.strides(), "; asked for ", shape);
  return make_view("ViewBackward0", input, seen_as(input, shape, strides, input.offset()),
                   reshaped_from(input));
}

Tensor reshape(const Tensor& input, const Shape& size) {
  const Shape shape = infer_shape(size, input.numel());
  Strides strides{};
  if (view_strides(input.sizes(), input->strides.data(), shape, strides))
    return make_view("ViewBackward0", input, seen_as(input, shape, strides, input.offset()),
                     reshaped_from(input));
  Tensor dense = empty(input.sizes(), input.dtype(), input.device());
  if (!input.device().is_meta()) copy_bits(dense, input);
  contiguous_strides(shape, strides);
  return record("UnsafeViewBackward0", seen_as(dense, shape, strides, 0), reshaped_from(input),
                input);
}

Tensor view_dtype(const Tensor& input, DType dtype) {
  if (dtype == input.dtype()) return alias(input);
  const auto old_size = std::int64_t(item_size(input.dtype())),
             size = std::int64_t(item_size(dtype));
  Shape shape = input.shape();
  Strides strides = input->strides;
  std::int64_t offset = input.offset();
  if (size != old_size) {
    if (input.dim() == 0)
      fail<RuntimeError>("self.dim() cannot be 0 to view ", scalar_name(input.dtype()), " as ",
                         scalar_name(dtype), " (different element sizes)");
    const auto last = std::size_t(input.dim() - 1);
    if (strides[last] != 1)
      fail<RuntimeError>("self.stride(-1) must be 1 to view ", scalar_name(input.dtype()), " as ",
                         scalar_name(dtype), " (different element sizes), but got ", strides[last]);
    auto rescale = [&](std::int64_t n, const std::string& what) {
      if (checked_mul(n, old_size) % size)
        fail<RuntimeError>(what, " must be divisible by ", double(size) / double(old_size),
                           " to view ", scalar_name(input.dtype()), " as ", scalar_name(dtype),
                           " (different element sizes), but got ", n);
      return n * old_size / size;
    };
    shape.sizes[last] = rescale(shape.sizes[last], "self.size(-1)");
    offset = rescale(offset, "self.storage_offset()");
    for (std::size_t d = 0; d < last; ++d)
      strides[d] = rescale(strides[d], text("self.stride(", d, ")"));
  }
  Tensor out = from_storage(input->storage, dtype, shape, strides.data(), offset);
  return out;
}

Tensor flatten(const Tensor& input, std::int64_t start, std::int64_t end) {
  const int first = wrap_dim(start, input.dim()), last = wrap_dim(end, input.dim());
  if (first > last)
    fail<RuntimeError>("flatten() has invalid args: start_dim cannot come after end_dim");
  if (input.dim() == 0) return reshape(input, {1});
  if (first == last) return input;
  Shape shape;
  std::int64_t merged = 1;
  for (int d = 0; d < input.dim(); ++d) {
    if (d < first || d > last)
      shape.push_back(input->shape[d]);
    else
      merged = checked_mul(merged, input->shape[d]);
    if (d == last) shape.push_back(merged);
  }
  return reshape(input, shape);
}

Tensor unflatten(const Tensor& input, std::int64_t dim, const Shape& sizes) {
  const int at = wrap_dim(dim, input.dim());
  if (input.dim() == 0)
    fail<RuntimeError>("unflatten got an unexpected error:\nDimension specified as ", dim,
                       " but tensor has no dimensions");
  if (sizes.rank == 0) fail<RuntimeError>("unflatten: sizes must be non-empty");
  Shape shape;
  for (int d = 0; d < at; ++d) shape.push_back(input->shape[d]);
  std::int64_t known = 1;
  int holes = 0;
  for (std::int64_t n : sizes) {
    if (n == -1)
      ++holes;
    else
      known = checked_mul(known, n);
  }
  const std::int64_t whole = input->shape[at];
  const bool fits = holes == 0 ? known == whole : holes == 1 && known > 0 && whole % known == 0;
  if (!fits)
    fail<RuntimeError>("unflatten: Provided sizes ", sizes,
                       " don't multiply up to the size of dim ", at, " (", whole,
                       ") in the input tensor");
  for (std::int64_t n : sizes) shape.push_back(n == -1 ? whole / known : n);
  for (int d = at + 1; d < input.dim(); ++d) shape.push_back(input->shape[d]);
  return view(input, shape);
}

Tensor expand(const Tensor& input, const Shape& size) {
  const int extra = size.rank - input.dim();
  if (extra < 0)
    fail<RuntimeError>("expand(torch.", input.device().is_cuda() ? "cuda." : "",
                       scalar_name(input.dtype()), "Tensor{", input.sizes(), "}, size=", size,
                       "): the number of sizes provided (", int(size.rank),
                       ") must be greater or equal to the number of dimensions in the tensor (",
                       input.dim(), ")");
  Shape shape = size;
  Strides strides{};
  for (int d = size.rank - 1; d >= 0; --d) {  // the last one first, as what does not fit is named
    const std::int64_t own = d < extra ? 1 : input->shape[d - extra];
    if (shape[d] == -1) {
      if (d < extra)
        fail<RuntimeError>("The expanded size of the tensor (-1) isn't allowed in a leading, ",
                           "non-existing dimension ", d, "\nexpand(): sizes ", size,
                           " for a tensor of shape ", input.sizes());
      shape[d] = own;
    }
    if (own != shape[d] && own != 1)
      fail<RuntimeError>("The expanded size of the tensor (", shape[d],
                         ") must match the existing size (", own, ") at non-singleton dimension ",
                         d, ".  Target sizes: ", size, ".  Tensor sizes: ", input.sizes());
    strides[std::size_t(d)] =
        d < extra || (own == 1 && shape[d] != 1) ? 0 : input->strides[std::size_t(d - extra)];
  }
  if (input.dim())  // a new dimension of size 1 lies as unsqueeze() would have it
    for (int d = extra - 1; d >= 0; --d)
      if (shape[d] == 1)
        strides[std::size_t(d)] = checked_mul(shape[d + 1], strides[std::size_t(d) + 1]);
  return make_view(
      "ExpandBackward0", input, seen_as(input, shape, strides, input.offset()),
      showing("self_sym_sizes",
              both([](Tensor g, Node&, const Shape& from) { return Gradients(sum_to(g, from)); },
                   [](Rows rows, Node&, const Shape& from) {
                     return Gradients(sum_rows_to(rows.g, from));
                   }),
              input.shape()));
}

Tensor permute(const Tensor& input, const Shape& dims) {
  if (dims.rank != input.dim())
    fail<RuntimeError>(
        "permute(sparse_coo): number of dimensions in the tensor input does not "
        "match the length of the desired ordering of dimensions i.e. input.dim() = ",
        input.dim(), " is not equal to len(dims) = ", int(dims.rank));
  Shape shape, back;
  Strides strides{};
  shape.rank = back.rank = dims.rank;
  unsigned seen = 0;
  for (int d = 0; d < dims.rank; ++d) {
    const int from = wrap_dim(dims[d], input.dim());
    if (seen >> from & 1) fail<RuntimeError>("permute(): duplicate dims are not allowed.");
    seen |= 1u << from;
    shape[d] = input->shape[from];
    strides[std::size_t(d)] = input->strides[std::size_t(from)];
    back[from] = d;
  }
  return make_view(
      "PermuteBackward0", input, seen_as(input, shape, strides, input.offset()),
      showing("dims",
              both([back](Tensor g, Node&, const Shape&) { return Gradients(permute(g, back)); },
                   [back](Rows rows, Node&, const Shape&) {
                     Shape dims{0};
                     for (const std::int64_t d : back) dims.push_back(d + 1);
                     return Gradients(permute(rows.g, dims));
                   }),
              Shape(dims)));
}

static Tensor swapped(const char* name, const char* names, const Tensor& input, int a, int b) {
  Shape shape = input.shape();
  Strides strides = input->strides;
  if (input.dim()) {
    std::swap(shape[a], shape[b]);
    std::swap(strides[std::size_t(a)], strides[std::size_t(b)]);
  }
  return make_view(name, input, seen_as(input, shape, strides, input.offset()),
                   showing(names,
                           both([](Tensor g, Node&, std::int64_t a,
                                   std::int64_t b) { return Gradients(transpose(g, a, b)); },
                                [](Rows rows, Node&, std::int64_t a, std::int64_t b) {
                                  return a == b ? Gradients(rows.g)
                                                : Gradients(transpose(rows.g, a + 1, b + 1));
                                }),
                           std::int64_t(a), std::int64_t(b)));
}
Tensor transpose(const Tensor& input, std::int64_t dim0, std::int64_t dim1) {
  const int a = wrap_dim(dim0, input.dim()), b = wrap_dim(dim1, input.dim());
  return swapped("TransposeBackward0", "dim0 dim1", input, a, b);
}
Tensor t(const Tensor& input) {
  if (input.dim() > 2)
    fail<RuntimeError>("t() expects a tensor with <= 2 dimensions, but self is ", input.dim(), "D");
  return swapped("TBackward0", "", input, 0, input.dim() == 2 ? 1 : 0);
}

Tensor squeeze(const Tensor& input, Sizes dims) {
  const unsigned mask = dim_mask(dims, std::max(input.dim(), 1));
  Shape shape;
  Strides strides{};
  for (int d = 0; d < input.dim(); ++d) {
    if (input->shape[d] == 1 && mask >> d & 1) continue;
    strides[std::size_t(shape.rank)] = input->strides[std::size_t(d)];
    shape.push_back(input->shape[d]);
  }
  const char* name = dims.empty()       ? "SqueezeBackward0"
                     : dims.size() == 1 ? "SqueezeBackward1"
                                        : "SqueezeBackward2";
  return make_view(name, input, seen_as(input, shape, strides, input.offset()),
                   reshaped_from(input));
}

Tensor unsqueeze(const Tensor& input, std::int64_t dim) {
  const int at = wrap_dim(dim, input.dim() + 1);
  Shape shape;
  Strides strides{};
  for (int d = 0; d < at; ++d) {
    strides[std::size_t(d)] = input->strides[std::size_t(d)];
    shape.push_back(input->shape[d]);
  }
  shape.push_back(1);  // refuses a ninth dimension, before its stride is written
  strides[std::size_t(at)] =
      at < input.dim() ? checked_mul(input->shape[at], input->strides[std::size_t(at)]) : 1;
  for (int d = at; d < input.dim(); ++d) {
    shape.push_back(input->shape[d]);
    strides[std::size_t(d + 1)] = input->strides[std::size_t(d)];
  }
  return make_view(
      "UnsqueezeBackward0", input, seen_as(input, shape, strides, input.offset()),
      showing("dim",
              both([](Tensor g, Node&, std::int64_t d) { return Gradients(squeeze(g, {&d, 1})); },
                   [](Rows rows, Node&, std::int64_t d) {
                     const std::int64_t behind = d + 1;
                     return Gradients(squeeze(rows.g, {&behind, 1}));
                   }),
              std::int64_t(at)));
}

Tensor select(const Tensor& input, std::int64_t dim, std::int64_t index) {
  if (input.dim() == 0) fail<IndexError>("select() cannot be applied to a 0-dim tensor.");
  const int at = wrap_dim(dim, input.dim());
  const std::int64_t n = input->shape[at];
  if (index < -n || index >= n)
    fail<IndexError>("select(): index ", index, " out of range for tensor of size ", input.sizes(),
                     " at dimension ", at);
  if (index < 0) index += n;
  Shape shape;
  Strides strides{};
  for (int d = 0; d < input.dim(); ++d) {
    if (d == at) continue;
    strides[std::size_t(shape.rank)] = input->strides[std::size_t(d)];
    shape.push_back(input->shape[d]);
  }
  const std::int64_t offset =
      checked_add(input.offset(), checked_mul(index, input->strides[std::size_t(at)]));
  return make_view(
      "SelectBackward0", input, seen_as(input, shape, strides, offset),
      showing("self_sym_sizes dim index",
              both(
                  [](Tensor g, Node&, const Shape& from, std::int64_t at, std::int64_t index) {
                    return Gradients(select_backward(g, from, int(at), index));
                  },
                  [](Rows rows, Node&, const Shape& from, std::int64_t at, std::int64_t index) {
                    return Gradients(
                        select_backward(rows.g, with_rows(rows.g, from), int(at) + 1, index));
                  }),
              input.shape(), std::int64_t(at), index));
}

// Clamped to the dimension, as Python slices are.
static std::int64_t clamp_index(std::int64_t i, std::int64_t n) {
  return std::clamp<std::int64_t>(i < 0 ? i + n : i, 0, n);
}

Tensor slice(const Tensor& input, std::int64_t dim, std::optional<std::int64_t> start,
             std::optional<std::int64_t> end, std::int64_t step) {
  if (input.dim() == 0) fail<RuntimeError>("slice() cannot be applied to a 0-dim tensor.");
  const int at = wrap_dim(dim, input.dim());
  if (step <= 0) fail<RuntimeError>("slice step must be positive\nstep is ", step);
  const std::int64_t n = input->shape[at];
  const std::int64_t first = clamp_index(start.value_or(0), n);
  const std::int64_t last = std::max(first, end ? clamp_index(*end, n) : n);
  Shape shape = input.shape();
  Strides strides = input->strides;
  shape[at] = (last - first) / step + ((last - first) % step != 0);
  const std::int64_t offset =
      checked_add(input.offset(), checked_mul(first, strides[std::size_t(at)]));
  if (shape[at] > 1) strides[std::size_t(at)] = checked_mul(strides[std::size_t(at)], step);
  return make_view(
      "SliceBackward0", input, seen_as(input, shape, strides, offset),
      showing("self_sym_sizes dim - start end step",
              both(
                  [last, step](Tensor g, Node&, const Shape& from, std::int64_t at,
                               std::int64_t first) {
                    return Gradients(slice_backward(g, from, int(at), first, last, step));
                  },
                  [last, step](Rows rows, Node&, const Shape& from, std::int64_t at,
                               std::int64_t first) {
                    return Gradients(slice_backward(rows.g, with_rows(rows.g, from), int(at) + 1,
                                                    first, last, step));
                  }),
              input.shape(), std::int64_t(at), first, start.value_or(0),
              end.value_or(std::numeric_limits<std::int64_t>::max()), step));
}

Tensor narrow(const Tensor& input, std::int64_t dim, std::int64_t start, std::int64_t length) {
  if (input.dim() == 0) fail<RuntimeError>("narrow() cannot be applied to a 0-dim tensor.");
  if (length < 0) fail<RuntimeError>("narrow(): length must be non-negative.");
  const int at = wrap_dim(dim, input.dim());
  const std::int64_t n = input->shape[at];
  if (start < -n || start > n)
    fail<IndexError>("start out of range (expected to be in range of [", -n, ", ", n, "], but got ",
                     start, ")");
  if (start < 0) start += n;
  if (length > n - start)
    fail<RuntimeError>("start (", start, ") + length (", length, ") exceeds dimension size (", n,
                       ").");
  return slice(input, at, start, start + length, 1);
}

Tensor diagonal(const Tensor& input, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  const int a = wrap_dim(dim1, input.dim()), b = wrap_dim(dim2, input.dim());
  if (a == b) fail<RuntimeError>("diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  const std::int64_t rows = input->shape[a], columns = input->shape[b];
  const std::int64_t skip = offset >= 0 ? std::min(offset, columns) : std::max(offset, -rows);
  const std::int64_t length = std::max<std::int64_t>(
      0, skip >= 0 ? std::min(rows, columns - skip) : std::min(rows + skip, columns));
  Shape shape;
  Strides strides{};
  for (int d = 0; d < input.dim(); ++d) {
    if (d == a || d == b) continue;
    strides[std::size_t(shape.rank)] = input->strides[std::size_t(d)];
    shape.push_back(input->shape[d]);
  }
  strides[std::size_t(shape.rank)] =
      checked_add(input->strides[std::size_t(a)], input->strides[std::size_t(b)]);
  shape.push_back(length);
  const std::int64_t start =
      length == 0 ? input.offset()
                  : checked_add(input.offset(),
                                skip >= 0 ? checked_mul(skip, input->strides[std::size_t(b)])
                                          : checked_mul(-skip, input->strides[std::size_t(a)]));
  return make_view("DiagonalBackward0", input, seen_as(input, shape, strides, start),
                   showing(
                       "self_sym_sizes offset dim1 dim2",
                       [](Tensor g, Node&, const Shape& from, std::int64_t offset, std::int64_t a,
                          std::int64_t b) {
                         return Gradients(diagonal_backward(g, from, offset, int(a), int(b)));
                       },
                       input.shape(), std::int64_t(offset), std::int64_t(a), std::int64_t(b)));
}

Tensor unfold(const Tensor& input, std::int64_t dim, std::int64_t size, std::int64_t step) {
  const int at = wrap_dim(dim, input.dim());
  const std::int64_t n = input.dim() ? input->shape[at] : 1;
  if (size < 0) fail<RuntimeError>("size is ", size, " but must be >= 0");
  if (size > n)
    fail<RuntimeError>("maximum size for tensor at dimension ", at, " is ", n, " but size is ",
                       size);
  if (step <= 0) fail<RuntimeError>("step is ", step, " but must be > 0");
  Shape shape = input.shape();
  Strides strides = input->strides;
  const std::int64_t old = input.dim() ? strides[std::size_t(at)] : 1;
  if (input.dim()) {
    shape[at] = (n - size) / step + 1;
    strides[std::size_t(at)] = shape[at] > 1 ? checked_mul(step, old) : old;
  }
  shape.push_back(size);  // refuses a ninth dimension, before its stride is written
  strides[std::size_t(shape.rank - 1)] = old;
  return make_view("UnfoldBackward0", input, seen_as(input, shape, strides, input.offset()),
                   showing(
                       "self_sym_sizes dimension size step",
                       [](Tensor g, Node&, const Shape& from, std::int64_t at, std::int64_t size,
                          std::int64_t step) {
                         return Gradients(unfold_backward(g, from, int(at), size, step));
                       },
                       input.shape(), std::int64_t(at), std::int64_t(size), std::int64_t(step)));
}

Tensor movedim(const Tensor& input, Sizes source, Sizes destination) {
  if (source.size() != destination.size())
    fail<RuntimeError>("movedim: Invalid source or destination dims: source (", source,
                       " dims) should contain the same number of dims as destination (",
                       destination, " dims)");
  const auto check = [&](Sizes dims, const char* name) {
    unsigned seen = 0;
    for (const std::int64_t dim : dims) {
      const unsigned bit = 1u << wrap_dim(dim, input.dim());
      if (seen & bit) fail<RuntimeError>("movedim: repeated dim in `", name, "` (", dims, ")");
      seen |= bit;
    }
  };
  check(source, "source");
  check(destination, "destination");
  int order[kMaxRank];
  std::fill_n(order, kMaxRank, -1);
  unsigned used = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const int from = wrap_dim(source[i], input.dim());
    order[wrap_dim(destination[i], input.dim())] = from;
    used |= 1u << from;
  }
  Shape dims;
  int next = 0;
  for (int d = 0; d < input.dim(); ++d) {
    if (order[d] < 0) {
      while (used >> next & 1) ++next;
      order[d] = next++;
    }
    dims.push_back(order[d]);
  }
  return permute(input, dims);
}

}  // namespace rushlight
