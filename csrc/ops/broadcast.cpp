// Tensors of a common shape or rank, as compositions of views: their gradients are those of the
// parts.
#include "ops/broadcast.h"

namespace rushlight {

std::vector<Tensor> broadcast_tensors(const std::vector<Tensor>& tensors) {
  Shape common;
  for (const Tensor& t : tensors) common = broadcast(common.view(), t.sizes());
  std::vector<Tensor> views;
  for (const Tensor& t : tensors)  // as in torch: the tensor itself, if it has the shape
    views.push_back(t.shape() == common ? t : expand(t, common));
  return views;
}

Tensor at_least(int rank, const Tensor& input) {
  if (input.dim() >= rank) return input;
  Shape shape = input.shape();
  if (shape.rank == 0) shape.push_back(1);
  if (shape.rank < rank && shape.rank == 1) shape = {1, shape.sizes[0]};
  if (shape.rank < rank) shape.push_back(1);
  return reshape(input, shape);
}

}  // namespace rushlight
