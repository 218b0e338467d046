// Normalisations that are made of other ops: instance norm of batch norm, local response norm of an
// average over neighbouring channels.
#include "norm.h"
#include "ops/pointwise/pointwise.h"
#include "ops/pool/pool.h"
#include "ops/reduce/reduce.h"

namespace rushlight {

Tensor instance_norm(const Tensor& input, const MaybeTensor& running_mean,
                     const MaybeTensor& running_var, const MaybeTensor& weight,
                     const MaybeTensor& bias, bool use_input_stats, double momentum, double eps) {
  if (bool(running_mean) != bool(running_var))
    fail<ValueError>("running_mean and running_var must either both be None or neither be None");
  if (!use_input_stats) {
    if (!running_mean)
      fail<RuntimeError>(
          "Expected running_mean and running_var to be defined when use_input_stats is false");
    return batch_norm(input, weight, bias, running_mean, running_var, false, momentum, eps);
  }
  if (input.dim() < 2)
    fail<RuntimeError>(
        "instance_norm(): expected an input of at least 2 dimensions (n, c, ...), "
        "got ",
        input.sizes());
  // All instances side by side as channels of one.
  const std::int64_t n = input->shape[0], c = input->shape[1];
  Shape flat = input.shape();
  flat[0] = 1;
  flat[1] = checked_mul(n, c);
  const auto repeated = [&](const MaybeTensor& t) {
    return t ? MaybeTensor(repeat(*t, {n})) : MaybeTensor();
  };
  MaybeTensor means, variances;
  {
    const GradMode off(false);
    means = repeated(running_mean);
    variances = repeated(running_var);
  }
  const Tensor out = batch_norm(reshape(contiguous(input), flat), repeated(weight), repeated(bias),
                                means, variances, true, momentum, eps);
  if (running_mean) {
    const GradMode off(false);
    copy_(*running_mean, mean(reshape(*means, {n, c}), Shape{0}, false));
    copy_(*running_var, mean(reshape(*variances, {n, c}), Shape{0}, false));
  }
  return reshape(out, input.shape());
}

Tensor local_response_norm(const Tensor& input, std::int64_t size, double alpha, double beta,
                           double k) {
  if (input.dim() < 3)
    fail<ValueError>("Expected 3D or higher dimensionality                          input (got ",
                     input.dim(), " dimensions)");
  if (input.numel() == 0) return input;
  if (size < 1)
    fail<RuntimeError>("kernel size should be greater than zero, but got kH: ", size, " kW: 1");
  const Shape sizes = input.shape();  // before another thread can change them
  const std::int64_t c = sizes[1], low = size / 2;
  const Tensor squares = mul(input, input);
  Tensor average;
  if (low >= c) {  // every window holds all channels
    average = apply<Div>(sum(squares, Shape{1}, true), Scalar(double(size)));
  } else {
    const std::int64_t n = sizes[0], plane = numel_of(sizes) / (n * c);
    PoolOptions window;
    window.kernel = {size, 1};
    window.stride = {1, 1};
    window.padding = {low, 0};
    const Tensor wide = avg_pool("avg_pool2d", 2, reshape(squares, {n, 1, c, plane}), window);
    // Of an even size there is a window too many at the end.
    average = reshape(narrow(wide, 2, 0, c), sizes);
  }
  const Tensor base = apply<Add>(mul(average, Scalar(alpha)), Scalar(k));
  return div(input, pow(as_input(base), as_input(Scalar(beta))));
}

}  // namespace rushlight
