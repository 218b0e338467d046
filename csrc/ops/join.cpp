// Tensors joined along a dimension, or along a new one.
#include "ops/join.h"

#include <algorithm>

#include "autograd/repeatable.h"
#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "kernels/parallel.h"
#include "ops/broadcast.h"
#include "ops/memory_format.h"

namespace rushlight {

// torch takes 1-d empty tensors among the others, whatever their shape.
static bool is_skipped(const Tensor& t) { return t.dim() == 1 && t->shape[0] == 0; }
static constexpr std::int64_t kSkipped = -1;  // in place of its length

struct RowRange {  // of the first dimension
  std::int64_t first, count;
};
static void narrow_rows(View& v, RowRange rows) {
  if (v.rank == 0 || v.sizes[0] == rows.count) return;
  v.data = v.as<char>() + rows.first * v.strides[0] * std::int64_t(item_size(v.dtype));
  v.numel = v.numel / v.sizes[0] * rows.count;
  v.sizes[0] = rows.count;
}

// The gradient of what was converted: its real part where that was real.
static Tensor in_dtype(const Tensor& g, DType dtype) {
  return to(is_complex(dtype) ? g : real(g), dtype);
}

// Writes rows of t into a part of `out`, which `to` shows: of the same sizes, as all were when they
// were checked. While the others were copied another thread may have given t other data.
static void copy_into(const Tensor& out, View to, const Tensor& t, RowRange rows) {
  View from = stored_view_of(t);
  if (from.rank != to.rank || !std::equal(to.sizes, to.sizes + to.rank, from.sizes) ||
      t.device() != out.device())
    fail_changed(t);
  narrow_rows(to, rows);
  narrow_rows(from, rows);
  const Backend& b = backend(out.device());
  const Unlocked unlocked(double(from.numel) * 0.3, {&out, &t});
  b.copy->copy(to, from);
}

// Calls copy(rows) for all rows of `out`. On the CPU, where the tensors lie beside each other in a
// row, for as many at a time as stay in the cache: the row's other parts are written soon after.
template <class F>
static void copy_in_strips(const Tensor& out, int at, F&& copy) {
  constexpr std::int64_t kStrip = 1 << 19;  // bytes
  const std::int64_t rows = out.dim() ? out->shape[0] : 1;
  std::int64_t strip = rows;
  if (at > 0 && out.device().is_cpu()) {
    const std::int64_t row = out.numel() / rows * std::int64_t(item_size(out.dtype()));
    strip = std::clamp<std::int64_t>(kStrip * num_threads() / row, 1, rows);
  }
  for (std::int64_t first = 0; first < rows; first += strip) {
    if (first > 0) check_interrupt();
    copy(RowRange{first, std::min(strip, rows - first)});
  }
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
  const int at = first ? wrap_dim(dim, first->dim()) : 0;  // of empty vectors alone: any dim
  if (!first) first = &tensors[0];
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
      lengths.push_back(is_skipped(t) ? kSkipped : t->shape[at]);
      dtypes.push_back(t.dtype());
    }
  const bool last = std::ranges::all_of(tensors, is_channels_last);
  Tensor out = empty_in_format(shape.view(), dtype, first->device(),
                               last ? format_of(*first) : MemoryFormat::contiguous);
  if (!out.device().is_meta() && out.numel()) {
    copy_in_strips(out, at, [&](RowRange rows) {
      View to = stored_view_of(out);
      const std::int64_t step = to.strides[at] * std::int64_t(item_size(dtype));
      std::int64_t left = shape[at];
      for (const Tensor& t : tensors) {
        if (is_skipped(t) || at >= t.dim() || t->shape[at] == 0) continue;
        to.sizes[at] = t->shape[at];
        if ((left -= to.sizes[at]) < 0) fail_changed(t);
        to.numel = out.numel() / shape[at] * to.sizes[at];
        copy_into(out, to, t, at > 0 ? rows : RowRange{0, to.sizes[0]});
        to.data = to.as<char>() + to.sizes[at] * step;
      }
      if (left) fail_changed(tensors.back());
    });
  }
  if (!records) return out;
  return record(
      "CatBackward0", std::move(out),
      showing("dim", repeatable([lengths, dtypes](Tensor g, Node& self, std::int64_t dim) {
                const int at = int(dim);
                std::vector<Tensor> grads(lengths.size());
                std::int64_t start = 0;
                for (std::size_t i = 0; i < lengths.size(); ++i) {
                  const bool skipped = lengths[i] == kSkipped;
                  if (self.needs_input(i))
                    grads[i] = skipped ? zeros({0}, dtypes[i], g.device())
                                       : in_dtype(narrow(g, at, start, lengths[i]), dtypes[i]);
                  if (!skipped) start += lengths[i];
                }
                return Gradients(std::move(grads));
              }),
              std::int64_t(at)),
      tensors);
}

// Of images that are all channels_last: as cat lays them out along dimension `at`, which is then
// cut in two.
static Tensor empty_stack(const std::vector<Tensor>& tensors, int at, const Shape& shape,
                          DType dtype) {
  const Tensor& first = tensors[0];
  if (at == first.dim() || !std::ranges::all_of(tensors, is_channels_last)) [[likely]]
    return empty(shape, dtype, first.device());
  Shape joined = first.shape();
  joined[at] = checked_mul(joined[at], shape[at]);
  const Strides inside = channels_last_strides(joined.view(), joined.rank);
  Strides strides{};
  view_strides(joined.view(), inside.data(), shape.view(), strides);
  return empty_strided(shape.view(), strides.data(), dtype, first.device());
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
  Tensor out = empty_stack(tensors, at, shape, dtype);
  if (!out.device().is_meta() && out.numel()) {
    copy_in_strips(out, at, [&](RowRange rows) {
      View to = stored_view_of(out);  // of one tensor after another
      const std::int64_t step = to.strides[at] * std::int64_t(item_size(dtype));
      --to.rank;
      to.numel /= std::int64_t(tensors.size());
      for (int d = at; d < to.rank; ++d) {
        to.sizes[d] = to.sizes[d + 1];
        to.strides[d] = to.strides[d + 1];
      }
      for (const Tensor& t : tensors) {
        copy_into(out, to, t, at > 0 ? rows : RowRange{0, to.sizes[0]});
        to.data = to.as<char>() + step;
      }
    });
  }
  if (!needs_grad(tensors)) return out;
  std::vector<DType> dtypes;
  for (const Tensor& t : tensors) dtypes.push_back(t.dtype());
  return record("StackBackward0", std::move(out),
                showing("dim", repeatable([dtypes](Tensor g, Node& self, std::int64_t at) {
                          std::vector<Tensor> grads(dtypes.size());
                          for (std::size_t i = 0; i < dtypes.size(); ++i)
                            if (self.needs_input(i))
                              grads[i] = in_dtype(select(g, at, std::int64_t(i)), dtypes[i]);
                          return Gradients(std::move(grads));
                        }),
                        std::int64_t(at)),
                tensors);
}

static std::vector<Tensor> all_at_least(const std::vector<Tensor>& tensors, int rank) {
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) out.push_back(at_least(rank, t));
  return out;
}

Tensor hstack(const std::vector<Tensor>& tensors) {
  if (tensors.empty()) fail<RuntimeError>("hstack expects a non-empty TensorList");
  const std::vector<Tensor> list = all_at_least(tensors, 1);
  return cat(list, list[0].dim() == 1 ? 0 : 1);
}

Tensor vstack(const std::vector<Tensor>& tensors) {
  if (tensors.empty()) fail<RuntimeError>("vstack expects a non-empty TensorList");
  return cat(all_at_least(tensors, 2), 0);
}

Tensor dstack(const std::vector<Tensor>& tensors) {
  if (tensors.empty()) fail<RuntimeError>("dstack expects a non-empty TensorList");
  return cat(all_at_least(tensors, 3), 2);
}

Tensor column_stack(const std::vector<Tensor>& tensors) {
  if (tensors.empty()) fail<RuntimeError>("column_stack expects a non-empty TensorList");
  std::vector<Tensor> list;
  for (const Tensor& t : tensors) list.push_back(t.dim() <= 1 ? reshape(t, {-1, 1}) : t);
  return hstack(list);
}

}  // namespace rushlight
