// tril and triu, each the other's like and its own gradient, and the indices of triangles.
#include "ops/triangular.h"

#include <algorithm>

#include "autograd/showing.h"
#include "core/backend.h"
#include "core/unlocked.h"
#include "kernels/triangular.h"

namespace rushlight {
namespace {

// Diagonals beyond the matrix are like those at its corners.
Triangle triangle_of(std::int64_t rows, std::int64_t columns, std::int64_t diagonal, bool lower) {
  return {rows, columns, std::clamp(diagonal, -rows, columns), lower};
}

void keep(const Tensor& out, const Tensor& input, const Triangle& t) {
  if (is_complex(out.dtype())) {
    const GradMode off(false);
    keep(real(out), real(input), t);
    return keep(imag(out), imag(input), t);
  }
  const View to = view_of(out), from = view_of(input);
  const Backend& b = backend(out.device());
  const Unlocked unlocked(double(out.numel()) * 0.3, {&out, &input});
  b.triangular->keep(to, from, t);
}

Tensor triangle(const Tensor& input, std::int64_t diagonal, bool lower) {
  if (input.dim() < 2)
    fail<RuntimeError>(lower ? "tril" : "triu", ": input tensor must have at least 2 dimensions\n",
                       describe("input", input));
  Tensor out = empty(input.sizes(), input.dtype(), input.device());
  if (out.numel() && !out.device().is_meta())
    keep(out, input, triangle_of(out.size(-2), out.size(-1), diagonal, lower));
  return record(lower ? "TrilBackward0" : "TriuBackward0", std::move(out),
                showing(
                    "diagonal",
                    [lower](Tensor g, Node&, std::int64_t diagonal) {
                      return Gradients(triangle(g, diagonal, lower));
                    },
                    std::int64_t(diagonal)),
                input);
}

Tensor triangle_indices(std::int64_t rows, std::int64_t columns, std::int64_t diagonal, bool lower,
                        Device device) {
  if (rows < 0) fail<RuntimeError>("row must be non-negative, got ", rows);
  if (columns < 0) fail<RuntimeError>("col must be non-negative, got ", columns);
  checked_mul(rows, columns);
  checked_add(rows, columns);  // then no sum overflows
  const Triangle t = triangle_of(rows, columns, diagonal, lower);
  const std::int64_t count = rows && columns ? t.count_before(rows) : 0;
  Tensor out = empty({2, count}, DType::int64, device);
  if (count && !device.is_meta()) {
    const View to = view_of(out);
    const Backend& b = backend(device);
    const Unlocked unlocked(double(count), {&out});
    b.triangular->indices(to, t);
  }
  return out;
}

}  // namespace

Tensor tril(const Tensor& input, std::int64_t diagonal) { return triangle(input, diagonal, true); }
Tensor triu(const Tensor& input, std::int64_t diagonal) { return triangle(input, diagonal, false); }
Tensor tril_indices(std::int64_t row, std::int64_t col, std::int64_t offset, Device device) {
  return triangle_indices(row, col, offset, true, device);
}
Tensor triu_indices(std::int64_t row, std::int64_t col, std::int64_t offset, Device device) {
  return triangle_indices(row, col, offset, false, device);
}

}  // namespace rushlight
