// Linear layers and the activations between them where a device has kernels that do both. Forward,
// a layer is one kernel: product, bias, activation. Backward, a layer is two: the gradients of its
// weight and its bias, and the gradient of what the layer before it gave to its activation.
// The graph is that of the single calls, but that a layer's edge passes by the activation before
// it.
#include "core/operands.h"
#include "kernels/pointwise_ops.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/products.h"
#include "ops/pointwise.h"

namespace rushlight {
namespace {

bool fits(const Tensor& weight, const Tensor& bias, const Tensor& input, std::int64_t features) {
  return weight.dim() == 2 && weight->shape[1] == features && bias.dim() == 1 &&
         bias->shape[0] == weight->shape[0] && weight.numel() > 0 &&
         weight.dtype() == input.dtype() && bias.dtype() == input.dtype() &&
         weight.device() == input.device() && bias.device() == input.device();
}

std::optional<Activation> activation_of(char letter) {
  switch (letter) {
    case '-': return Activation::none;
    case 'r': return Activation::relu;
    case 'g': return Activation::gelu;
    default: return std::nullopt;
  }
}

// Where the kernel leaves what the activation's slope depends on.
Tensor room_for_kept(Activation activation, const Tensor& out) {
  const std::int64_t rows = out->shape[0], columns = out->shape[1];
  if (activation == Activation::relu)
    return empty({rows, 16 * ((columns + 127) / 128)}, DType::uint8, out.device());
  return empty({rows, 8 * ((columns + 7) / 8)}, out.dtype(), out.device());
}

// A layer's result, and what the next one must know to go back through its activation.
struct Done {
  Tensor out;
  std::shared_ptr<const Slope> slope;
};

Tensor activated(const Tensor& t, Activation activation) {
  return activation == Activation::none   ? t
         : activation == Activation::relu ? apply<Relu>(t)
                                          : apply<GeluTanh>(t);
}

Done run_layer(const Done& before, const Tensor& weight, const Tensor& bias,
               Activation activation) {
  const Tensor& input = before.out;
  const Tensor right = t(weight);
  Tensor out = empty({input->shape[0], weight->shape[0]}, input.dtype(), input.device());
  const bool records = needs_grad(input, weight, bias) && activation != Activation::none;
  const Tensor kept = records ? room_for_kept(activation, out) : Tensor();
  if (!run_with_bias(input, right, bias, activation, kept, out)) {
    {
      const GradMode off(false);
      out = addmm(bias, input, right, 1, 1);
    }
    out = record_sum("AddmmBackward0", out, bias, input, right, 1, 1, before.slope);
    return {activated(out, activation), {}};
  }
  if (!records)
    return {record_sum("AddmmBackward0", out, bias, input, right, 1, 1, before.slope), {}};
  // What was activated is there for its history alone (relu), or as the kernel has kept it (gelu).
  Tensor given;
  {
    const GradMode off(false);
    given = activation == Activation::relu ? alias(out) : narrow(kept, 1, 0, out->shape[1]);
    given->base = {};
  }
  given = record_sum("AddmmBackward0", given, bias, input, right, 1, 1, before.slope);
  const bool is_relu = activation == Activation::relu;
  out = record_pointwise(is_relu ? pointwise_op<Relu>() : pointwise_op<GeluTanh>(), given, out);
  return {out, std::make_shared<const Slope>(activation, given, Saved(kept),
                                             Saved(is_relu ? out : given))};
}

}  // namespace

Tensor linear_chain(const Tensor& input, const std::vector<Tensor>& weights,
                    const std::vector<Tensor>& biases, std::string_view activations) {
  if (weights.empty() || biases.size() != weights.size() || activations.size() != weights.size() ||
      input.dim() < 1 || input.numel() == 0 || !is_floating(input.dtype()) ||
      !has_fused_products(input.device()))
    return {};
  std::int64_t features = input->shape[input.dim() - 1];
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!fits(weights[i], biases[i], input, features) || !activation_of(activations[i])) return {};
    features = weights[i]->shape[0];
  }
  Shape shape = input.shape();
  shape[input.dim() - 1] = features;
  Done done{reshape(input, {-1, input->shape[input.dim() - 1]}), {}};
  for (std::size_t i = 0; i < weights.size(); ++i)
    done = run_layer(done, weights[i], biases[i], *activation_of(activations[i]));
  return input.dim() == 2 ? done.out : view(done.out, shape);
}

}  // namespace rushlight
