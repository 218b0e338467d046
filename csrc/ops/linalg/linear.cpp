// matmul, linear and bilinear: shapes brought to the products of matmul.cpp.
#include "core/operands.h"
#include "ops/linalg/matmul.h"

namespace rushlight {
namespace {

// All but the last dimension as rows.
Tensor folded(const Tensor& t) { return reshape(t, {-1, t->shape[t.dim() - 1]}); }

// Whether rows of a batch are one matrix only as a copy, and products of each cost less. As in
// torch a weight that wants a gradient gets it from one product.
bool is_apart(const Tensor& input, const Tensor& weight) {
  constexpr std::int64_t kFewestRows = 16;
  if (needs_grad(weight) || !input.device().is_cpu()) return false;
  const std::int64_t rows = input->shape[input.dim() - 2], k = input->shape[input.dim() - 1];
  Strides strides;
  return rows >= kFewestRows && weight->shape[1] >= kFewestRows &&
         !view_strides(input.sizes(), input.strides().data(), Shape{input.numel() / k, k}.view(),
                       strides);
}

// The leading sizes of `t` in front of `last`.
Shape with_last(const Tensor& t, std::int64_t last) {
  Shape shape = t.shape();
  shape[t.dim() - 1] = last;
  return shape;
}

Tensor unfolded(const Tensor& t, const Shape& shape, const char* name = "UnsafeViewBackward0") {
  return record(
      name,
      [&] {
        const GradMode off(false);
        Tensor out = view(t, shape);
        out->base = {};
        return out;
      }(),
      both([from = t.shape()](Tensor g, Node&) { return Gradients(reshape(g, from)); },
           [from = t.shape()](Rows rows, Node&) {
             return Gradients(reshape(rows.g, with_rows(rows.g, from)));
           }),
      t);
}

Tensor batch_of(const Tensor& t, const Shape& batch) {
  Shape whole = batch, flat{numel_of(batch)};
  for (int d = t.dim() - 2; d < t.dim(); ++d) {
    whole.push_back(t->shape[d]);
    flat.push_back(t->shape[d]);
  }
  return reshape(expand(t, whole), flat);
}

}  // namespace

Tensor matmul(const Tensor& input, const Tensor& other) {
  const int a = input.dim(), b = other.dim();
  if (a == 0 || b == 0)
    fail<RuntimeError>("both arguments to matmul need to be at least 1D, but they are ", a,
                       "D and ", b, "D");
  check_same_device("matmul", input, "self", other, "other");
  if (a == 1 && b == 1) return dot(input, other);
  if (a == 2 && b == 1) return mv(input, other);
  if (a == 1 && b == 2)
    return unfolded(mm(unsqueeze(input, 0), other), {other->shape[1]}, "SqueezeBackward4");
  if (a == 2 && b == 2) return mm(input, other);
  if (b <= 2 && a >= 3) {  // one product for the whole batch
    const std::int64_t k = input->shape[a - 1];
    if (k != 0 && input.numel() != 0 && !(b == 2 && is_apart(input, other))) {
      if (b == 1) {
        Shape shape(input.sizes().first(std::size_t(a - 1)));
        return unfolded(mv(folded(input), other), shape);
      }
      const Tensor rows = mm(folded(input), other);
      return unfolded(rows, with_last(input, other->shape[1]));
    }
  }
  const Tensor left = a == 1 ? unsqueeze(input, 0) : input;
  const Tensor right = b == 1 ? unsqueeze(other, 1) : other;
  const Sizes l = left.sizes(), r = right.sizes();
  const Shape batch = broadcast(l.first(l.size() - 2), r.first(r.size() - 2));
  const Tensor product = bmm(batch_of(left, batch), batch_of(right, batch));
  Shape shape = batch;
  if (a > 1) shape.push_back(product->shape[1]);
  if (b > 1) shape.push_back(product->shape[2]);
  return unfolded(product, shape);
}

Tensor linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
  check_operands("linear", bias ? "addmm" : "mm", {"input", "mat1", input},
                 {"weight", "mat2", weight});
  if (weight.dim() == 1 && !bias) return matmul(input, weight);
  if (input.dim() == 0 || weight.dim() != 2)
    fail<RuntimeError>("both arguments to linear need to be at least 1D, but they are ",
                       input.dim(), "D and ", weight.dim(), "D\n", describe("input", input), "; ",
                       describe("weight", weight), ": weight must be (out, in)");
  if (!bias) return matmul(input, t(weight));
  if (input.dim() == 2) return addmm(*bias, input, t(weight), 1, 1);
  if (input.dim() == 1) {
    const Tensor row = addmm(*bias, unsqueeze(input, 0), t(weight), 1, 1);
    return view(row, {weight->shape[0]});
  }
  const Shape shape = with_last(input, weight->shape[0]);
  if (input.numel() == 0) return add(matmul(input, t(weight)), *bias);
  return view(addmm(*bias, folded(input), t(weight), 1, 1), shape);
}

Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                const std::optional<Tensor>& bias) {
  if (weight.dim() != 3)
    fail<RuntimeError>("bilinear(): weight must be a 3D tensor (out, in1, in2), but got ",
                       weight.sizes());
  const int last = input1.dim() - 1;
  if (last < 0 || input1.dim() != input2.dim())
    fail<RuntimeError>("bilinear(): input dimensions do not match: got ", input1.dim(), " and ",
                       input2.dim());
  for (int d = 0; d < last; ++d)
    if (input1->shape[d] != input2->shape[d])
      fail<RuntimeError>("bilinear(): input batch dimensions do not match at dim ", d, ": got ",
                         input1->shape[d], " and ", input2->shape[d]);
  const std::int64_t out = weight->shape[0], i = weight->shape[1], j = weight->shape[2];
  const Tensor* inputs[] = {&input1, &input2};
  for (int n = 0; n < 2; ++n)
    if ((*inputs[n])->shape[last] != weight->shape[n + 1])
      fail<RuntimeError>("bilinear(): input", n + 1, " size does not match weight size: got ",
                         (*inputs[n])->shape[last], " but expected ", weight->shape[n + 1]);
  if (bias && (bias->dim() != 1 || bias->size(0) != out))
    fail<RuntimeError>("bilinear(): bias size does not match weight size: got ", bias->sizes(),
                       " but expected ", out);
  // (rows, in1) x (in1, out * in2), then a product with input2 for each row.
  const Tensor across = reshape(permute(weight, {1, 0, 2}), {i, checked_mul(out, j)});
  const Tensor left = view(mm(folded(input1), across), {-1, out, j});
  const Tensor product = bmm(left, unsqueeze(folded(input2), 2));
  const Tensor result = view(product, with_last(input1, out));
  return bias ? add(result, *bias) : result;
}

}  // namespace rushlight
