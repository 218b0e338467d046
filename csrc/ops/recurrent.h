// Recurrent networks: RNN with tanh or relu, LSTM, GRU; whole stacks of layers and single steps.
#pragma once
#include "kernels/recurrent.h"
#include "ops/ops.h"

namespace rushlight {

// One direction of one layer. Undefined: there is none. H: hidden size, G: gates, P: H, or the size
// that w_hr projects a state to.
struct RecurrentWeights {
  Tensor w_ih, w_hh, b_ih, b_hh, w_hr;  // (G H, input), (G H, P), (G H), (G H), (P, H)
  bool rounded = false;  // numbers of bfloat16, as the input: products of it serve
};
using BatchSizes = std::shared_ptr<const std::vector<std::int64_t>>;

struct RecurrentStates {
  Tensor output, h, c;  // c: of an LSTM
};
// input (steps, batch, features), or packed (rows, features) with the batch size of each step; h
// (batch, P), c (batch, H). One node: recurrent_layer.cpp.
RecurrentStates recurrent_layer(Cell cell, bool reverse, const Tensor& input,
                                const BatchSizes& batch_sizes, const Tensor& h, const Tensor& c,
                                const RecurrentWeights& weights, const char* node);
// The same as ops, step by step: what gradients of gradients go through, and the definition.
RecurrentStates recurrent_composition(Cell cell, bool reverse, const Tensor& input,
                                      const BatchSizes& batch_sizes, const Tensor& h,
                                      const Tensor& c, const RecurrentWeights& weights);

// What a stack of layers is called with, as torch.lstm() and its like have it.
struct RecurrentStack {
  bool has_biases;
  std::int64_t num_layers;
  double dropout;  // between layers, in training
  bool train, bidirectional;
  bool rounded = false;  // as of RecurrentWeights
};
// hx: (layers * directions, batch, P), and for an LSTM (layers * directions, batch, H).
// batch_sizes: undefined, or an int64 tensor on the CPU, of a packed input. params: for each layer
// and direction w_ih, w_hh, the biases, w_hr. Returns the output and the last states, stacked.
std::vector<Tensor> recurrent_stack(Cell cell, const Tensor& input, const Tensor& batch_sizes,
                                    const std::vector<Tensor>& hx,
                                    const std::vector<Tensor>& params, const RecurrentStack& stack);
// One step: input (batch, features) or (features).
RecurrentStates recurrent_cell(Cell cell, const Tensor& input, const std::vector<Tensor>& hx,
                               const RecurrentWeights& weights);

}  // namespace rushlight
