// gather and scatter along a dimension; each is the other's gradient.
#include "scatter.h"

#include "autograd/showing.h"
#include "core/backend.h"
#include "core/unlocked.h"
#include "index.h"

namespace rushlight {
namespace {

// A 0-d tensor counts as having one dimension of size 1.
std::int64_t size_at(const Tensor& t, int d) { return t.dim() ? t->shape[d] : 1; }
View line_view(const Tensor& t) { return view_of(t.dim() ? t : unsqueeze(t, 0)); }

// int64, where torch takes int32 as well, and anything where there are no elements.
Tensor as_indices(const Tensor& index) {
  return index.dtype() == DType::int32 || !index.numel() ? to(index, DType::int64) : index;
}

void check_index(const char* op, const Tensor& input, int dim, const Tensor& index) {
  check_same_device(op, input, "input", index, "index");
  if (index.dtype() != DType::int64 && index.dtype() != DType::int32)
    fail<RuntimeError>(op, "(): Expected dtype int32/int64 for index");
  if (std::max(index.dim(), 1) != std::max(input.dim(), 1))
    fail<RuntimeError>("Index tensor must have the same number of dimensions as ",
                       std::string_view(op) == "gather" ? "input" : "self", " tensor\n", op,
                       "(): ", describe("input", input), "; ", describe("index", index));
  for (int d = 0; d < std::max(index.dim(), 1); ++d)
    if (d != dim && size_at(index, d) > size_at(input, d))
      fail<RuntimeError>("Size does not match at dimension ", d, " expected index ", index.sizes(),
                         " to be no larger than self ", input.sizes(), " apart from dimension ",
                         dim);
}

void check_bad(const char* op, const BadIndex& bad, int dim) {
  if (bad.which < 0) return;
  fail<RuntimeError>("index ", bad.value, " is out of bounds for dimension ", dim, " with size ",
                     bad.size, "\n", op, "(): indices must lie in [0, ", bad.size, ")");
}

// The gradient of src: gathered where index covers it, zero elsewhere.
Tensor gradient_of_src(const Tensor& g, int dim, const Tensor& index, const Shape& src) {
  if (!index.numel()) return zeros(src, g.dtype(), g.device());
  Tensor out = gather(g, dim, index);
  if (src.rank == 0) return view(out, {});
  if (out.dim() == 0) out = unsqueeze(out, 0);  // a scalar of indices takes the first of a line
  for (int d = 0; d < out.dim(); ++d) {
    const std::int64_t covered = out->shape[d];
    if (covered == src[d]) continue;
    Shape whole = out.shape();
    whole[d] = src[d];
    out = slice_backward(out, whole, d, 0, covered, 1);
  }
  return out;
}

}  // namespace

void scatter_into(const char* op, const Tensor& self, int dim, const Tensor& given,
                  const Tensor& source, ScatterMode mode, bool include_self) {
  const GradMode off(false);
  // Copies first: another thread may change an operand while one is made, so checks come after.
  const Tensor index = as_indices(given);
  const Tensor src = self->storage.get() == source->storage.get() ? clone(source) : source;
  const int at = wrap_dim(dim, self.dim());
  if (index.numel())  // torch takes any index without elements
    check_index(op, self, at, index);
  else
    check_same_device(op, self, "self", index, "index");
  check_apart(self, given);
  check_apart(self, source);
  check_same_device(op, self, "self", src, "src");
  if (src.dtype() != self.dtype())
    fail<RuntimeError>(op, "(): Expected self.dtype to be equal to src.dtype");
  if (index.numel() == 0) return;
  if (std::max(src.dim(), 1) != std::max(index.dim(), 1))
    fail<RuntimeError>("Index tensor must have the same number of dimensions as src tensor");
  for (int d = 0; d < std::max(index.dim(), 1); ++d)
    if (size_at(index, d) > size_at(src, d))
      fail<RuntimeError>("Expected index ", index.sizes(), " to be no larger than self ",
                         self.sizes(), " apart from dimension ", at,
                         " and to be no larger size than src ", src.sizes());
  if (self.device().is_meta()) return;
  const View a = line_view(self), i = line_view(index), s = line_view(src);
  const Backend& b = backend(self.device());
  BadIndex bad;
  {
    const Unlocked unlocked(double(index.numel()) * 5, {&self, &index, &src});
    bad = b.index->scatter(a, at, i, s, mode, include_self);
  }
  check_bad(op, bad, at);
}

Tensor gather(const Tensor& input, std::int64_t dim, const Tensor& index) {
  const Tensor indices = as_indices(index);
  const int at = wrap_dim(dim, input.dim());
  if (indices.numel())  // torch takes any index without elements
    check_index("gather", input, at, indices);
  else
    check_same_device("gather", input, "input", indices, "index");
  Tensor out = empty(indices.sizes(), input.dtype(), input.device());
  if (out.numel() && !out.device().is_meta()) {
    const View o = line_view(out), s = line_view(input), i = line_view(indices);
    const Backend& b = backend(input.device());
    BadIndex bad;
    {
      const Unlocked unlocked(double(out.numel()) * 4, {&out, &input, &indices});
      bad = b.index->gather(o, s, at, i);
    }
    check_bad("gather", bad, at);
  }
  return record(
      "GatherBackward0", std::move(out),
      showing(
          "dim index",
          [whole = input.shape()](Tensor g, Node&, std::int64_t dim, const Saved& kept) {
            const Tensor none = zeros(whole, g.dtype(), g.device());
            if (g.numel()) return Gradients(scatter_add(none, dim, kept.get(), g));
            Shape empty;  // an index without elements may have any rank
            for (int d = 0; d < std::max(int(whole.rank), 1); ++d) empty.push_back(0);
            return Gradients(scatter_add(none, dim, reshape(kept.get(), empty), reshape(g, empty)));
          },
          std::int64_t(at), Saved(indices)),
      input);
}

void scatter_(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src) {
  const int at = wrap_dim(dim, self.dim());
  check_inplace(self, needs_grad(self, src), "scatter_");
  check_no_internal_overlap(self, "scatter_");
  scatter_into("scatter", self, at, index, src, ScatterMode::assign);
  record_inplace(
      "ScatterBackward0", self,
      showing(
          "dim index",
          [shape = src.shape()](Tensor g, Node& node, std::int64_t at, const Saved& kept) {
            Tensor of_self, of_src;
            if (node.needs_input(0))
              of_self =
                  scatter(g, at, kept.get(), zeros(kept.get().shape(), g.dtype(), g.device()));
            if (node.needs_input(1)) of_src = gradient_of_src(g, at, kept.get(), shape);
            return Gradients(of_self, of_src);
          },
          std::int64_t(at), Saved(to(index, DType::int64))),
      src);
}

void scatter_add_(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src) {
  const int at = wrap_dim(dim, self.dim());
  check_inplace(self, needs_grad(self, src), "scatter_add_");
  check_no_internal_overlap(self, "scatter_add_");
  scatter_into("scatter_add", self, at, index, src, ScatterMode::add);
  record_inplace(
      "ScatterAddBackward0", self,
      showing(
          "dim index",
          [shape = src.shape()](Tensor g, Node& node, std::int64_t at, const Saved& kept) {
            Tensor of_src;
            if (node.needs_input(1)) of_src = gradient_of_src(g, int(at), kept.get(), shape);
            return Gradients(g, of_src);
          },
          std::int64_t(at), Saved(to(index, DType::int64))),
      src);
}

Tensor scatter(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& src) {
  Tensor out = row_major_clone(input);
  scatter_(out, dim, index, src);
  return as_new(out);
}

Tensor source_of(Scalar value, const Tensor& input, const Tensor& index) {
  if (index.numel()) check_fits("scatter", "value", value, input.dtype());
  return expand(scalar_tensor(value, input.dtype(), input.device()), index.shape());
}
Tensor scatter_value(const Tensor& input, std::int64_t dim, const Tensor& index, Scalar value) {
  return scatter(input, dim, index, source_of(value, input, index));
}

Tensor scatter_reduced(const Tensor& input, std::int64_t dim, const Tensor& index,
                       const Tensor& src, std::string_view reduce) {
  if (reduce == "add") return scatter_add(input, dim, index, src);
  if (reduce != "multiply")
    fail<RuntimeError>("reduce argument must be either add or multiply.\ngot ", reduce);
  return scatter_reduce(input, dim, index, src, "prod", true);
}
Tensor scatter_value_reduced(const Tensor& input, std::int64_t dim, const Tensor& index,
                             Scalar value, std::string_view reduce) {
  return scatter_reduced(input, dim, index, source_of(value, input, index), reduce);
}

Tensor scatter_add(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& src) {
  Tensor out = row_major_clone(input);
  scatter_add_(out, dim, index, src);
  return as_new(out);
}

}  // namespace rushlight
