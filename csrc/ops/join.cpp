// Joining, repeating and cutting tensors.
#include "core/backend.h"
#include "core/dense_view.h"
#include "core/work.h"
#include "ops/view.h"

namespace rushlight {

// torch lets 1-d empty tensors stand among the others, whatever their shape.
static bool is_skipped(const Tensor& t) { return t.dim() == 1 && t->shape[0] == 0; }

// Writes t into a part of `out`, which `to` shows: of the same sizes, as all were when they were
// checked. While the others were copied another thread may have given t other data.
static void copy_into(const Tensor& out, const View& to, const Tensor& t) {
  const View from = view_of(t);
  if (from.rank != to.rank || !std::equal(to.sizes, to.sizes + to.rank, from.sizes) ||
      t.device() != out.device())
    fail_changed(t);
  const Backend& b = backend(out.device());
  const Unlocked unlocked(double(from.numel) * 0.3, {&out, &t});
  b.copy->copy(to, from);
}

Tensor cat(const std::vector<Tensor>& tensors, std::int64_t dim) {
  if (tensors.empty()) fail<ValueError>("torch.cat(): expected a non-empty list of Tensors");
  const Tensor* first = nullptr;
  DType dtype = tensors[0].dtype();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    if (t.dim() == 0)
      fail<RuntimeError>("zero-dimensional tensor (at position ", i, ") cannot be concatenated");
    if (t.device() != tensors[0].device())
      fail_devices("cat", tensors[0], "tensors[0]", t, text("tensors[", i, "]").c_str());
    dtype = promote_types(dtype, t.dtype());
    if (!first && !is_skipped(t)) first = &t;
  }
  if (!first) first = &tensors[0];
  const int at = wrap_dim(dim, first->dim());
  Shape shape = first->shape();
  shape[at] = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    if (is_skipped(t)) continue;
    if (t.dim() != first->dim())
      fail<RuntimeError>("Tensors must have same number of dimensions: got ", first->dim(), " and ",
                         t.dim());
    for (int d = 0; d < t.dim(); ++d)
      if (d != at && t->shape[d] != first->shape()[d])
        fail<RuntimeError>("Sizes of tensors must match except in dimension ", at,
                           ". Expected size ", first->shape()[d], " but got size ", t->shape[d],
                           " for tensor number ", i, " in the list.");
    shape[at] = checked_add(shape[at], t->shape[at]);
  }
  std::vector<std::int64_t> lengths;
  std::vector<DType> dtypes;
  const bool records = needs_grad(tensors);
  if (records)
    for (const Tensor& t : tensors) {
      lengths.push_back(is_skipped(t) ? 0 : t->shape[at]);
      dtypes.push_back(t.dtype());
    }
  Tensor out = empty(shape, dtype, first->device());
  if (!out.device().is_meta() && out.numel()) {
    View to = view_of(out);
    const std::int64_t step = to.strides[at] * std::int64_t(item_size(dtype));
    std::int64_t left = shape[at];
    for (const Tensor& t : tensors) {
      if (is_skipped(t) || at >= t.dim() || t->shape[at] == 0) continue;
      to.sizes[at] = t->shape[at];
      if ((left -= to.sizes[at]) < 0) fail_changed(t);
      to.numel = out.numel() / shape[at] * to.sizes[at];
      copy_into(out, to, t);
      to.data = to.as<char>() + to.sizes[at] * step;
    }
    if (left) fail_changed(tensors.back());
  }
  if (!records) return out;
  return record(
      "CatBackward0", std::move(out),
      [lengths, dtypes, at](Tensor g, Node& self) {
        std::vector<Tensor> grads(lengths.size());
        std::int64_t start = 0;
        for (std::size_t i = 0; i < lengths.size(); ++i) {
          if (self.needs_input(i) && lengths[i])
            grads[i] = to(narrow(g, at, start, lengths[i]), dtypes[i]);
          start += lengths[i];
        }
        return Gradients(std::move(grads));
      },
      tensors);
}

Tensor stack(const std::vector<Tensor>& tensors, std::int64_t dim) {
  if (tensors.empty()) fail<RuntimeError>("stack expects a non-empty TensorList");
  const Tensor& first = tensors[0];
  const int at = wrap_dim(dim, first.dim() + 1);
  DType dtype = first.dtype();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!same(tensors[i].sizes(), first.sizes()))
      fail<RuntimeError>("stack expects each tensor to be equal size, but got ", first.sizes(),
                         " at entry 0 and ", tensors[i].sizes(), " at entry ", i);
    if (tensors[i].device() != first.device())
      fail_devices("stack", first, "tensors[0]", tensors[i], text("tensors[", i, "]").c_str());
    dtype = promote_types(dtype, tensors[i].dtype());
  }
  Shape shape;
  for (int d = 0; d <= first.dim(); ++d) {
    if (d == at) shape.push_back(std::int64_t(tensors.size()));
    if (d < first.dim()) shape.push_back(first->shape[d]);
  }
  Tensor out = empty(shape, dtype, first.device());
  if (!out.device().is_meta() && out.numel()) {
    View to = view_of(out);  // of one tensor after another
    const std::int64_t step = to.strides[at] * std::int64_t(item_size(dtype));
    --to.rank;
    to.numel /= std::int64_t(tensors.size());
    for (int d = at; d < to.rank; ++d) {
      to.sizes[d] = to.sizes[d + 1];
      to.strides[d] = to.strides[d + 1];
    }
    for (const Tensor& t : tensors) {
      copy_into(out, to, t);
      to.data = to.as<char>() + step;
    }
  }
  if (!needs_grad(tensors)) return out;
  std::vector<DType> dtypes;
  for (const Tensor& t : tensors) dtypes.push_back(t.dtype());
  return record(
      "StackBackward0", std::move(out),
      [dtypes, at](Tensor g, Node& self) {
        std::vector<Tensor> grads(dtypes.size());
        for (std::size_t i = 0; i < dtypes.size(); ++i)
          if (self.needs_input(i)) grads[i] = to(select(g, at, std::int64_t(i)), dtypes[i]);
        return Gradients(std::move(grads));
      },
      tensors);
}

// The parts of a cut: each a view; together one node, so that backward joins once.
static void record_parts(const char* name, const Tensor& input, std::vector<Tensor>& parts, int at,
                         bool unbound) {
  for (const Tensor& p : parts) link_to_base(p, input);
  std::vector<Shape> shapes;
  if (needs_grad(input))
    for (const Tensor& p : parts) shapes.push_back(p.shape());
  record_many(
      name, parts,
      [shapes, at, unbound](std::span<Tensor> grads, Node&) {
        std::vector<Tensor> all(grads.begin(), grads.end());
        const auto known = std::ranges::find_if(all, [](const Tensor& g) { return bool(g); });
        const DType dtype = known->dtype();
        const Device device = known->device();
        for (std::size_t i = 0; i < all.size(); ++i)
          if (!all[i]) all[i] = zeros(shapes[i], dtype, device);
        return Gradients(unbound ? stack(all, at) : cat(all, at));
      },
      input);
}

// An expanded dimension costs no memory, its parts do.
static std::vector<Tensor> room_for(std::int64_t count) {
  constexpr std::int64_t kMostParts = std::int64_t(1) << 26;
  if (count > kMostParts)
    fail<RuntimeError>("a tensor can be cut into at most ", kMostParts, " parts, not ", count);
  std::vector<Tensor> parts;
  parts.reserve(std::size_t(count));
  return parts;
}

std::vector<Tensor> unbind(const Tensor& input, std::int64_t dim) {
  if (input.dim() == 0)
    fail<IndexError>("Dimension specified as ", dim, " but tensor has no dimensions");
  const int at = wrap_dim(dim, input.dim());
  std::vector<Tensor> parts = room_for(input->shape[at]);
  {
    const GradMode off(false);
    for (std::int64_t i = 0; i < input->shape[at]; ++i) parts.push_back(select(input, at, i));
  }
  if (!parts.empty()) record_parts("UnbindBackward0", input, parts, at, true);
  return parts;
}

static std::vector<Tensor> cut(const char* name, const Tensor& input,
                               const std::vector<std::int64_t>& sizes, int at) {
  std::vector<Tensor> parts;
  {
    const GradMode off(false);
    std::int64_t start = 0;
    for (std::int64_t n : sizes) {
      parts.push_back(narrow(input, at, start, n));
      start += n;
    }
  }
  record_parts(name, input, parts, at, false);
  return parts;
}

std::vector<Tensor> split(const Tensor& input, std::int64_t size, std::int64_t dim) {
  if (input.dim() == 0) fail<RuntimeError>("split expects at least a 1-dimensional tensor");
  if (size < 0)
    fail<RuntimeError>("split expects split_size be non-negative, but got split_size=", size);
  const int at = wrap_dim(dim, input.dim());
  const std::int64_t n = input->shape[at];
  if (size == 0 && n != 0)
    fail<RuntimeError>(
        "split_size can only be 0 if dimension size is 0, but got dimension size of ", n);
  std::vector<std::int64_t> sizes;
  if (size) room_for(n / size);
  for (std::int64_t rest = n; rest > 0; rest -= size) sizes.push_back(std::min(size, rest));
  if (sizes.empty()) sizes.push_back(0);
  return cut("SplitBackward0", input, sizes, at);
}

std::vector<Tensor> split_sizes(const Tensor& input, Sizes sizes, std::int64_t dim) {
  if (input.dim() == 0) fail<RuntimeError>("split expects at least a 1-dimensional tensor");
  const int at = wrap_dim(dim, input.dim());
  std::int64_t total = 0;
  for (std::int64_t n : sizes) {
    if (n < 0)
      fail<RuntimeError>(
          "split_with_sizes expects split_sizes have only non-negative entries, but got "
          "split_sizes=",
          sizes);
    total = checked_add(total, n);
  }
  if (total != input->shape[at])
    fail<RuntimeError>("split_with_sizes expects split_sizes to sum exactly to ", input->shape[at],
                       " (input tensor's size at dimension ", at, "), but got split_sizes=", sizes);
  return cut("SplitWithSizesBackward0", input, {sizes.begin(), sizes.end()}, at);
}

std::vector<Tensor> chunk(const Tensor& input, std::int64_t chunks, std::int64_t dim) {
  if (input.dim() == 0) fail<RuntimeError>("chunk expects at least a 1-dimensional tensor");
  if (chunks <= 0) fail<RuntimeError>("chunk expects `chunks` to be greater than 0, got: ", chunks);
  const int at = wrap_dim(dim, input.dim());
  const std::int64_t n = input->shape[at];
  if (n == 0)
    return cut("SplitWithSizesBackward0", input,
               std::vector<std::int64_t>(std::size_t(std::min<std::int64_t>(chunks, 65535)), 0),
               at);
  return split(input, n / chunks + (n % chunks != 0), at);
}

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
    // One copy per tile of the dimensions that repeat.
    const GradMode off(false);
    const Tensor tile = view(contiguous(input), padded);
    auto place = [&](auto& self, const Tensor& part, int d) -> void {
      if (d == repeats.rank) return copy_bits(part, tile);
      for (std::int64_t r = 0; r < repeats[d]; ++r)
        self(self, narrow(part, d, r * padded[d], padded[d]), d + 1);
    };
    place(place, out, 0);
  }
  return record(
      "RepeatBackward0", std::move(out),
      [repeats, padded, from = input.shape()](Tensor g) {
        Tensor sum_of = g;
        for (int d = 0; d < repeats.rank; ++d) {
          if (repeats[d] == 1) continue;
          if (repeats[d] == 0) return Gradients(zeros(from, g.dtype(), g.device()));
          const std::int64_t at = d;
          sum_of = sum(unflatten(sum_of, d, {repeats[d], padded[d]}), {&at, 1}, false);
        }
        return Gradients(view(contiguous(sum_of), from));
      },
      input);
}

Tensor flip(const Tensor& input, Sizes dims) {
  const unsigned mask = dim_mask(dims, input.dim(), false);
  Tensor out = empty_like(input);
  if (out.numel() && !out.device().is_meta()) {
    View from = view_of(input);  // read backwards: inside the same storage
    for (int d = 0; d < input.dim(); ++d) {
      if (!(mask >> d & 1)) continue;
      from.data = static_cast<char*>(from.data) +
                  (from.sizes[d] - 1) * from.strides[d] * std::int64_t(item_size(from.dtype));
      from.strides[d] = -from.strides[d];
    }
    const Backend& b = backend(out.device());
    const Unlocked unlocked(double(out.numel()), {&out, &input});
    b.copy->copy(view_of(out), from);
  }
  std::vector<std::int64_t> kept(dims.begin(), dims.end());
  return record(
      "FlipBackward0", std::move(out), [kept](Tensor g) { return Gradients(flip(g, kept)); },
      input);
}

Tensor roll(const Tensor& input, Sizes shifts, Sizes dims) {
  if (dims.empty() && shifts.size() == 1) {
    const std::int64_t zero = 0;
    return reshape(roll(reshape(input, {-1}), shifts, {&zero, 1}), input.shape());
  }
  if (shifts.empty()) fail<RuntimeError>("`shifts` required");
  if (shifts.size() != dims.size())
    fail<RuntimeError>("shifts and dimensions must align. shifts: ", shifts.size(),
                       ", dims:", dims.size());
  if (input.dim() == 0 && !dims.empty())
    fail<IndexError>("Dimension specified as ", dims[0], " but tensor has no dimensions");
  Tensor out = input;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const int at = wrap_dim(dims[i], input.dim());
    const std::int64_t n = input.dim() ? input->shape[at] : 0;
    if (n == 0) continue;
    const std::int64_t by = ((shifts[i] % n) + n) % n;
    out = cat({narrow(out, at, n - by, by), narrow(out, at, 0, n - by)}, at);
  }
  return out.is_same(input) ? clone(input) : out;
}

}  // namespace rushlight
