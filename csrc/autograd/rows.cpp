// A node's gradients of several rows at once, where it has no formula for that: one after another.
#include "autograd/node.h"

namespace rushlight {

Gradients Node::backward_rows(std::span<Tensor> grads, std::int64_t rows) {
  std::vector<std::vector<Tensor>> made(inputs);
  for (std::int64_t r = 0; r < rows; ++r) {
    std::vector<Tensor> row(grads.size());
    for (std::size_t i = 0; i < grads.size(); ++i)
      if (grads[i]) row[i] = row_of(grads[i], r);
    Gradients out = backward(row);
    for (std::size_t i = 0; i < inputs; ++i) {
      if (!out[i]) continue;
      made[i].resize(std::size_t(rows));
      made[i][std::size_t(r)] = std::move(out[i]);
    }
  }
  std::vector<Tensor> all(inputs);
  for (std::size_t i = 0; i < inputs; ++i)
    if (!made[i].empty()) all[i] = stacked_rows(std::move(made[i]));
  return Gradients(std::move(all));
}

}  // namespace rushlight
