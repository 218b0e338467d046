// Least squares, by a QR decomposition that exchanges columns where the device has one, else by the
// pseudo-inverse, whose gradient it has.
#include "ops/linalg/columns.h"
#include "ops/reduce/reduce.h"
#include "ops/value.h"

namespace rushlight {
namespace {

Tensor pseudo_inverse(const Tensor& a, double rcond) {
  const auto tolerance = [&](double value) {
    return full(Shape{1}, value, real_dtype(a), a.device());
  };
  return linalg_pinv(a, tolerance(0), tolerance(rcond), false);
}

Pair by_pseudo_inverse(const Tensor& a, const Tensor& b, double rcond) {
  Tensor rank;
  {
    const GradMode off(false);
    const Tensor values = std::get<1>(linalg_svd("torch.linalg.lstsq", a, false, false));
    const std::int64_t last = -1;
    rank = zeros(with_last(a, {}), DType::int64, a.device());
    if (values.size(-1)) {
      const Value largest(amax(values, {&last, 1}, true));
      rank = sum((Value(values) > Value(rcond) * largest).tensor(), {&last, 1}, false);
    }
  }
  return {matmul(a.numel() ? pseudo_inverse(a, rcond) : zeros_like(transpose(a, -2, -1)), b), rank};
}

}  // namespace

Pair linalg_lstsq(const Tensor& input, const Tensor& b, double rcond) {
  const Tensor a = detach(input);  // whose sizes no other thread changes
  linalg_check("torch.linalg.lstsq", a, false);
  check_same_device("torch.linalg.lstsq", a, "input", b, "b");
  const std::int64_t m = a.size(-2), n = a.size(-1), k = b.size(-1);
  if (is_complex(a.dtype()) && is_left_to_host(a))
    return back(linalg_lstsq(on_host(input), on_host(b), rcond), a.device());
  const bool has_kernel = !a.device().is_meta() && backend(a.device()).linalg->lstsq;
  if (!has_kernel || !a.numel() || !k || !same(with_last(a, {}).view(), with_last(b, {}).view()))
    return by_pseudo_inverse(input, b, rcond);
  const LinalgKernels& kernels = linalg_kernels("torch.linalg.lstsq", a);
  const Tensor lost = columns_of(a), room = empty_columns(a, std::max(m, n), k);
  const Tensor rank = empty(with_last(a, {}), DType::int64, a.device());
  Tensor x;
  report_wait(a.device(), "linalg.lstsq()");
  {
    const GradMode off(false);
    copy_bits(slice(room, -2, 0, m, 1), b);
    const View from = batch_of_matrices(lost), to = batch_of_matrices(room),
               ranks = batch_of_numbers(rank);
    {
      const Unlocked unlocked(linalg_work(a) * 2, {&lost, &room, &rank});
      kernels.lstsq(from, to, rcond, ranks);
    }
    x = alias(slice(room, -2, 0, n, 1));
  }
  x = record(
      "LinalgLstsqBackward0", std::move(x),
      [a = Saved(input), b = Saved(b), rcond](Tensor g, Node& self) {
        const Tensor matrix = a.get(), p = pseudo_inverse(matrix, rcond);
        Tensor of_a, of_b;
        if (self.needs_input(0)) of_a = pinv_gradient(matrix, p, matmul(g, adjoint(b.get())));
        if (self.needs_input(1)) of_b = matmul(adjoint(p), g);
        return Gradients(of_a, of_b);
      },
      input, b);
  return {x, rank};
}

}  // namespace rushlight
