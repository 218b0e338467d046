// Indexing by tensors: t[i, j], masks, and assignment. Note: masks become positions
// first, and the kernel checks every position before it writes.
#include "kernels/index.h"

#include <algorithm>

#include "autograd/showing.h"
#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "kernels/parallel.h"
#include "ops/ops.h"
#include "ops/pointwise/pointwise.h"

namespace rushlight {
namespace {

struct Prepared {
  std::vector<Tensor> indices;  // int64, one per dimension of input; undefined: whole
  Shape shape;                  // that the defined ones broadcast to
  int first = -1;               // the first dimension of the index shape in the result
  Shape order;                  // dimensions of input, the indexed ones first
  int count = 0;                // how many are indexed
};

// Masks to positions, everything to int64 on input's device.
std::vector<Tensor> positions(const Tensor& input, const std::vector<Tensor>& indices) {
  std::vector<Tensor> out;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const Tensor& t = indices[i];
    if (!t) {
      out.emplace_back();
      continue;
    }
    if (t.device() != input.device() && !t.device().is_cpu())
      fail<RuntimeError>(
          "indices should be either on cpu or on the same device as the indexed tensor (",
          input.device(), ")\n", describe("index", t));
    if (t.dtype() == DType::boolean || t.dtype() == DType::uint8) {
      for (int d = 0; d < t.dim(); ++d) {
        const std::size_t at = out.size() + std::size_t(d);
        if (at >= std::size_t(input.dim()))
          fail<IndexError>("too many indices for tensor of dimension ", input.dim());
        if (t->shape[d] != input->shape[int(at)])
          fail<IndexError>("The shape of the mask ", t.sizes(), " at index ", d,
                           " does not match the shape of the indexed tensor ", input.sizes(),
                           " at index ", at);
      }
      for (Tensor& p : nonzero_tuple(to(t, input.device()))) out.push_back(std::move(p));
      continue;
    }
    if (t.dtype() != DType::int64 && t.dtype() != DType::int32)
      fail<IndexError>("tensors used as indices must be long, int, byte or bool tensors, but got ",
                       t.dtype());
    // A body of our own: what another thread does with t meanwhile concerns it no more.
    out.push_back(alias(to(t, DType::int64, input.device())));
  }
  if (out.size() > std::size_t(input.dim()))
    fail<IndexError>("too many indices for tensor of dimension ", input.dim());
  out.resize(std::size_t(input.dim()));
  return out;
}

Prepared prepare(const Tensor& input, const std::vector<Tensor>& indices) {
  const GradMode off(false);
  Prepared p;
  p.indices = positions(input, indices);
  bool started = false, gap = false, apart = false;
  int first = -1;
  for (int d = 0; d < input.dim(); ++d) {
    const Tensor& t = p.indices[std::size_t(d)];
    if (!t) {
      gap = started;
      continue;
    }
    if (!started) first = d;
    apart |= gap;
    started = true;
    p.order.push_back(d);
    try {
      p.shape = p.count ? broadcast(p.shape, t.sizes()) : t.shape();
    } catch (const RuntimeError&) {
      std::string shapes;
      for (const Tensor& each : p.indices)
        if (each) shapes += (shapes.empty() ? "" : ", ") + text(each.sizes());
      fail<IndexError>(
          "shape mismatch: indexing tensors could not be broadcast together with shapes ", shapes);
    }
    ++p.count;
  }
  for (int d = 0; d < input.dim(); ++d)
    if (!p.indices[std::size_t(d)]) p.order.push_back(d);
  p.first = apart ? 0 : first;  // apart: the index shape comes first, as in NumPy
  return p;
}

// The result's shape, and its dimensions in the kernel's order [index shape..., rest...].
Shape result_shape(const Tensor& input, const Prepared& p, Shape& kernel_order) {
  Shape shape;
  kernel_order.rank = 0;
  for (int k = 0; k < p.first; ++k) shape.push_back(input->shape[p.order[p.count + k]]);
  for (std::int64_t n : p.shape) shape.push_back(n);
  for (int k = p.count + p.first; k < input.dim(); ++k) shape.push_back(input->shape[p.order[k]]);
  for (int k = 0; k < p.shape.rank; ++k) kernel_order.push_back(p.first + k);
  for (int k = 0; k < p.first; ++k) kernel_order.push_back(k);
  for (int k = p.first + p.shape.rank; k < shape.rank; ++k) kernel_order.push_back(k);
  return shape;
}

IndexList list_of(const Prepared& p) {
  IndexList list;
  list.count = 0;
  for (const Tensor& t : p.indices)
    if (t) list.of[list.count++] = view_of(t, p.shape);
  return list;
}

void check_bad_index(const BadIndex& bad, const Tensor& input, const Prepared& p) {
  if (bad.which < 0) return;
  fail<IndexError>("index ", bad.value, " is out of bounds for dimension ", p.order[bad.which],
                   " with size ", bad.size, "\n", describe("indexed tensor", input));
}

void check_empty(const Tensor& input, const Prepared& p) {
  if (!numel_of(p.shape)) return;
  for (int k = 0; k < p.count; ++k)
    if (input->shape[int(p.order[k])] == 0)
      fail<IndexError>("index is out of bounds for dimension with size 0");
}

// permute() that makes no view where the order is that of the dimensions already.
Tensor arranged(const Tensor& t, const Shape& order) {
  for (int d = 0; d < order.rank; ++d)
    if (order[d] != d) return permute(t, order);
  return t;
}

void write(const Tensor& self, const Prepared& p, const Tensor& values, bool accumulate) {
  const GradMode off(false);
  check_empty(self, p);
  Shape kernel_order;
  const Shape shape = result_shape(self, p, kernel_order);
  if (!can_broadcast_to(values.sizes(), shape))
    fail<RuntimeError>("shape mismatch: value tensor of shape ", values.sizes(),
                       " cannot be broadcast to indexing result of shape ", shape);
  if (numel_of(shape) == 0 || self.device().is_meta()) return;
  const Tensor source =
      arranged(values.shape() == shape ? values : expand(values, shape), kernel_order);
  const Tensor target = arranged(self, p.order);
  const IndexList list = list_of(p);
  const View to_view = view_of(target), from = view_of(source);
  if (from.dtype != to_view.dtype) fail_changed(values);
  const Backend& b = backend(self.device());
  BadIndex bad;
  {
    const Unlocked unlocked(double(source.numel()) * 4, {&target, &source}, p.indices);
    bad = b.index->put(to_view, from, list, accumulate);
  }
  check_bad_index(bad, self, p);
}

// The positions as backward needs them; later writes to them are noticed.
std::vector<Saved> saved(const Prepared& p) {
  std::vector<Saved> out;
  for (const Tensor& t : p.indices) out.emplace_back(t);
  while (!out.empty() && !out.back()) out.pop_back();
  return out;
}
std::vector<Tensor> unpacked(const std::vector<Saved>& list) {
  std::vector<Tensor> out;
  for (const Saved& s : list) out.push_back(s.get());
  return out;
}

}  // namespace

static Tensor index_backward(const Tensor& g, const Shape& whole,
                             const std::vector<Tensor>& indices) {
  Tensor out = zeros(whole, g.dtype(), g.device());
  write(out, prepare(out, indices), g, true);
  return record(
      "IndexBackwardBackward0", std::move(out),
      [indices](Tensor gg) { return Gradients(index(gg, indices)); }, g);
}

// Memory for what is read: dense, its dimensions in the order of the input's, then the indices'.
[[gnu::noinline]] static Tensor empty_in_order(const Tensor& input, const Prepared& p,
                                               const Shape& shape) {
  Strides operands[1 + kMaxRank] = {};
  int count = 1;
  const int behind = p.first + p.shape.rank;
  for (int d = 0, k = p.count; d < shape.rank; ++d)
    if (d < p.first || d >= behind)
      operands[0][std::size_t(d)] = input->strides[std::size_t(p.order[k++])];
  for (const Tensor& t : p.indices)
    if (t) broadcast_strides(t.sizes(), t->strides.data(), p.shape, &operands[count++][p.first]);
  int order[kMaxRank];
  order_by_strides(shape.view(), operands, count, order);
  return empty_strided(shape.view(), dense_strides(shape.view(), order).data(), input.dtype(),
                       input.device());
}

// The dimensions that are no index's, in the order in which they lie in `out`.
[[gnu::noinline]] static void order_rest(const Tensor& out, Shape& target, Shape& source,
                                         int index_rank) {
  const int moved = target.rank - index_rank;
  const auto stride = [&](int k) { return out.stride(int(target[index_rank + k])); };
  for (int i = 1; i < moved; ++i)
    for (int k = i; k > 0 && stride(k) > stride(k - 1); --k) {
      std::swap(target[index_rank + k], target[index_rank + k - 1]);
      const int at = source.rank - moved + k;
      std::swap(source[at], source[at - 1]);
    }
}

// Without history. `in_order`: laid out in memory as the input is, else in rows. Orders p.
static Tensor taken(const Tensor& input, Prepared& p, bool in_order) {
  check_empty(input, p);
  Shape kernel_order;
  const Shape shape = result_shape(input, p, kernel_order);
  const auto in_rows = [](const Tensor& t) { return !t || t.is_contiguous(); };
  in_order = in_order && !(in_rows(input) && std::ranges::all_of(p.indices, in_rows));
  Tensor out =
      in_order ? empty_in_order(input, p, shape) : empty(shape, input.dtype(), input.device());
  if (in_order) order_rest(out, kernel_order, p.order, p.shape.rank);
  if (out.numel() && !out.device().is_meta()) {
    const GradMode off(false);
    const Tensor source = arranged(input, p.order), target = arranged(out, kernel_order);
    const IndexList list = list_of(p);
    const View to_view = view_of(target), from = view_of(source);
    if (from.dtype != to_view.dtype) fail_changed(input);
    const Backend& b = backend(input.device());
    BadIndex bad;
    {
      const Unlocked unlocked(double(out.numel()) * 2, {&out, &source}, p.indices);
      bad = b.index->get(to_view, from, list);
    }
    check_bad_index(bad, input, p);
  }
  return out;
}

// What is only stored, as integers of the same size: the kernels move elements and do not look.
static Tensor as_integers(const Tensor& t) {
  constexpr DType of_size[] = {DType::uint8, DType::uint8, DType::int16, DType::int16, DType::int32,
                               DType::int32, DType::int32, DType::int32, DType::int64};
  if (needs_grad(t) || item_size(t.dtype()) >= std::size(of_size))
    refuse_stored("index", t.dtype());
  return view_dtype(t, of_size[item_size(t.dtype())]);
}

// One mask over the leading dimensions of self, and nothing else.
static bool is_mask_of(const std::vector<Tensor>& indices, const Tensor& self) {
  if (indices.size() != 1 || !indices[0] || indices[0].dtype() != DType::boolean) return false;
  const Tensor& mask = indices[0];
  if (mask.device() != self.device() || mask.dim() == 0 || mask.dim() > self.dim()) return false;
  for (int d = 0; d < mask.dim(); ++d)
    if (mask->shape[d] != self->shape[d]) return false;
  return true;
}

// The same over all of them, both dense: one row has one position for each element, not one for
// each dimension.
static bool is_one_row(const std::vector<Tensor>& indices, const Tensor& self) {
  return self.dim() > 1 && is_mask_of(indices, self) && indices[0].dim() == self.dim() &&
         self.is_contiguous() && indices[0].is_contiguous();
}

static bool goes_by_parts(const Tensor& t) {
  return t.dtype() == DType::complex128 || (t.dtype() == DType::complex64 && needs_grad(t));
}

Tensor index(const Tensor& input, const std::vector<Tensor>& indices) {
  if (goes_by_parts(input)) [[unlikely]]
    return complex_of(index(real(input), indices), index(imag(input), indices), "IndexBackward0");
  if (is_only_stored(input.dtype())) [[unlikely]]
    return view_dtype(index(as_integers(input), indices), input.dtype());
  if (!needs_grad(input) && is_one_row(indices, input)) {
    const GradMode off(false);
    const Tensor row = view(input, {input.numel()});
    Prepared p = prepare(row, {view(indices[0], {input.numel()})});
    return taken(row, p, true);
  }
  Prepared p = prepare(input, indices);
  if (p.count == 0) return alias(input);
  Tensor out = taken(input, p, true);
  if (!needs_grad(input)) return out;
  return record("IndexBackward0", std::move(out),
                showing(
                    "self_sym_sizes indices",
                    [](Tensor g, Node&, const Shape& whole, const std::vector<Saved>& kept) {
                      return Gradients(index_backward(g, whole, unpacked(kept)));
                    },
                    input.shape(), saved(p)),
                input);
}

static Tensor prepared_values(const Tensor& self, const Tensor& values) {
  if (values.device() != self.device() && !(values.dim() == 0 && values.device().is_cpu()))
    fail_devices("index_put_", self, "self", values, "values");
  if (values.dtype() != self.dtype())
    fail<RuntimeError>("Index put requires the source and destination dtypes match, got ",
                       scalar_name(self.dtype()), " for the destination and ",
                       scalar_name(values.dtype()), " for the source.");
  return to(values, self.device());
}

// One number under a mask, without history: no positions are needed. False: not such a case.
static bool fill_under_mask(const Tensor& self, const std::vector<Tensor>& indices, Input value) {
  if (!is_mask_of(indices, self) || overlaps_itself(self)) return false;
  Tensor mask = indices[0];
  while (mask.dim() < self.dim()) mask = unsqueeze(mask, -1);
  masked_fill(self, mask, value, {Into::self, &self});
  return true;
}

void index_put_(const Tensor& self, const std::vector<Tensor>& indices, Scalar number) {
  if (!is_only_stored(self.dtype()) && !needs_grad(self)) {
    check_inplace(self, false, "index_put_");
    if (fill_under_mask(self, indices, as_input(number))) return;
  }
  index_put_(self, indices, scalar_tensor(number, self.dtype(), self.device()), false);
}

void index_put_(const Tensor& self, const std::vector<Tensor>& indices, const Tensor& given,
                bool accumulate, const char* op) {
  const Tensor values = prepared_values(self, given);
  if (goes_by_parts(self) || goes_by_parts(values) || (accumulate && is_complex(self.dtype()))) {
    check_inplace(self, needs_grad(self, values), op);
    const auto part = [&](const Tensor& t, const Tensor& v) {
      return index_put(t, indices, v, accumulate);
    };
    const Tensor re = part(real(self), real(values)), im = part(imag(self), imag(values));
    return copy_(self, complex_of(re, im));
  }
  if (is_only_stored(self.dtype()) && !accumulate) [[unlikely]]
    return index_put_(as_integers(self), indices, as_integers(values), false, op);
  check_inplace(self, needs_grad(self, values), op);
  warn_of_internal_overlap(self, op);
  const bool shared = self->storage.get() == values->storage.get();
  if (!accumulate && values.dim() == 0 && !needs_grad(self, values) &&
      fill_under_mask(self, indices, as_input(shared ? clone(values) : values)))
    return;
  check_apart(self, values);
  for (const Tensor& index : indices)
    if (index) check_apart(self, index);
  if (self.device().is_meta() && !needs_grad(self, values)) return;  // a mask has no positions here
  const Prepared p = prepare(self, indices);
  if (p.count == 0) fail<RuntimeError>("index_put_(): at least one index must be a tensor");
  {
    const GradMode off(false);
    write(self, p, shared ? clone(values) : values, accumulate);
  }
  if (!needs_grad(self, values)) return finish_inplace(self);  // before anything is kept
  record_inplace(
      "IndexPutBackward0", self,
      [positions = saved(p), shape = values.shape(), accumulate](Tensor g, Node& node) {
        const std::vector<Tensor> kept = unpacked(positions);
        Tensor of_self, of_values;
        if (node.needs_input(0)) {
          of_self = g;
          if (!accumulate)
            of_self = index_put(g, kept, zeros(Shape(), g.dtype(), g.device()), false);
        }
        if (node.needs_input(1)) of_values = sum_to(index(g, kept), shape);
        return Gradients(of_self, of_values);
      },
      values);
}

Tensor index_put(const Tensor& input, const std::vector<Tensor>& indices, const Tensor& values,
                 bool accumulate) {
  Tensor out = clone(input);
  index_put_(out, indices, values, accumulate);
  return as_new(out);
}

Tensor nonzero(const Tensor& input) {
  if (is_complex(input.dtype())) return nonzero(apply<Ne>(detach(input), Scalar(0)));
  report_wait(input.device(), "nonzero(), or a mask as an index,");
  const Tensor kept = alias(input);  // no other thread gives it other data or another shape
  const View in = view_of(kept);
  const Backend& b = backend(kept.device());
  std::int64_t n;
  {
    const Unlocked unlocked(time_of_wait(kept.device(), double(kept.numel())), {&kept});
    n = b.index->count_nonzero(in);
  }
  // Column-major, as torch's: the indices of one dimension lie together.
  const std::int64_t sizes[] = {n, kept.dim()}, strides[] = {1, std::max<std::int64_t>(n, 1)};
  Tensor out = empty_strided(sizes, strides, DType::int64, kept.device());
  std::int64_t found;
  {
    const View to_view = view_of(out);
    const Unlocked unlocked(double(kept.numel()), {&kept, &out});
    found = b.index->nonzero(to_view, in);
  }
  return found >= n ? out : narrow(out, 0, 0, found);  // another thread wrote meanwhile
}

std::vector<Tensor> nonzero_tuple(const Tensor& input) {
  return unbind(nonzero(input.dim() ? input : unsqueeze(input, 0)), 1);
}

Tensor masked_select(const Tensor& input, const Tensor& mask) {
  if (mask.dtype() != DType::boolean)
    fail<RuntimeError>("masked_select: expected BoolTensor for mask");
  check_same_device("masked_select", input, "input", mask, "mask");
  const Shape shape = broadcast(input.sizes(), mask.sizes());
  return named(shape.rank ? index(expand(input, shape), {expand(mask, shape)})
                          : index(unsqueeze(input, 0), {unsqueeze(mask, 0)}),
               "MaskedSelectBackward0");
}

static void fail_selection(std::int64_t k, int dim, std::int64_t size) {
  fail<IndexError>("index out of range in self: index ", k, " for dimension ", dim, " with size ",
                   size);
}
// Single elements of a vector: no rows to be copied.
static Tensor selected(const Tensor& vector, const Tensor& given) {
  const GradMode off(false);
  const Tensor index = to(given, DType::int64);
  Tensor out = empty({index.numel()}, vector.dtype(), vector.device());
  if (out.numel() == 0 || out.device().is_meta()) return out;
  const View to = view_of(out), from = view_of(vector), at = view_of(index);
  const Backend& b = backend(out.device());
  BadIndex bad;
  {
    const Unlocked unlocked(double(out.numel()) * 4, {&out, &vector, &index});
    bad = b.index->gather(to, from, 0, at);
  }
  if (bad.which >= 0) fail_selection(bad.value, 0, bad.size);
  return out;
}

Tensor index_select(const Tensor& self, std::int64_t dim, const Tensor& given) {
  const Tensor input = detach(self);  // whose sizes no other thread changes
  const int at = wrap_dim(dim, input.dim());
  if (given.dim() > 1) fail<IndexError>("index_select(): Index is supposed to be a vector");
  if (given.dtype() != DType::int64 && given.dtype() != DType::int32)
    fail<RuntimeError>("index_select(): Expected dtype int32 or int64 for index");
  check_same_device("index_select", input, "input", given, "index");
  const Tensor vector = given.dim() ? given : unsqueeze(given, 0);
  if (input.dim() > 1) {
    const GradMode off(false);  // torch takes no negative positions here
    constexpr std::int64_t kChecked = 1 << 16;
    const Tensor host = to(vector, DType::int64);
    if (host.device().is_cpu()) {
      // A handler of signals may give the program's tensor other data.
      const StorageInUse held(host->storage);
      const View v = view_of(host);
      for (std::int64_t i = 0; i < v.numel; ++i)
        if (const std::int64_t k = v.as<const std::int64_t>()[i * v.strides[0]];
            k < 0 || k >= input->shape[at])
          fail_selection(k, at, input->shape[at]);
        else if (i % kChecked == kChecked - 1)
          check_interrupt();
    }
  }
  std::vector<Tensor> indices(std::size_t(at) + 1);
  indices[std::size_t(at)] = vector;
  if (input.dim() == 0) return view(index(unsqueeze(self, 0), indices), {});
  Tensor out;
  if (input.dim() == 1) {
    out = selected(input, vector);
  } else {
    Prepared p = prepare(input, indices);
    out = taken(input, p, false);
  }
  return record("IndexSelectBackward0", std::move(out),
                showing(
                    "self_sym_sizes dim index",
                    [](Tensor g, Node&, const Shape& whole, std::int64_t dim, const Saved& index) {
                      std::vector<Tensor> indices(std::size_t(dim) + 1);
                      indices[std::size_t(dim)] = index.get();
                      return Gradients(index_backward(g, whole, indices));
                    },
                    input.shape(), std::int64_t(at), Saved(vector)),
                self);
}

}  // namespace rushlight
