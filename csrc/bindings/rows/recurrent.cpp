// Recurrent networks under torch's low-level signatures; nn.RNN, nn.LSTM and nn.GRU call them.
#include "ops/recurrent.h"

#include "bindings/module.h"
#include "bindings/table/signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

using Maybe = std::optional<Tensor>;
using Tensors = std::vector<Tensor>;
using Pair = std::tuple<Tensor, Tensor>;
using Triple = std::tuple<Tensor, Tensor, Tensor>;

std::vector<Tensor> stacked(Cell cell, const Tensor& input, const std::vector<Tensor>& hx,
                            const Tensors& params, const RecurrentStack& stack, bool batch_first) {
  const bool turns = batch_first && input.dim() == 3;
  std::vector<Tensor> out =
      recurrent_stack(cell, turns ? transpose(input, 0, 1) : input, {}, hx, params, stack);
  if (turns) out[0] = transpose(out[0], 0, 1);
  return out;
}

template <Cell cell>
Pair layers(const Tensor& input, const Tensor& hx, const Tensors& params, bool has_biases,
            std::int64_t num_layers, double dropout, bool train, bool bidirectional,
            bool batch_first) {
  const auto out = stacked(cell, input, {hx}, params,
                           {has_biases, num_layers, dropout, train, bidirectional}, batch_first);
  return {out[0], out[1]};
}
template <Cell cell>
Pair packed(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, const Tensors& params,
            bool has_biases, std::int64_t num_layers, double dropout, bool train,
            bool bidirectional) {
  const auto out = recurrent_stack(cell, data, batch_sizes, {hx}, params,
                                   {has_biases, num_layers, dropout, train, bidirectional});
  return {out[0], out[1]};
}
Triple lstm(const Tensor& input, const Tensors& hx, const Tensors& params, bool has_biases,
            std::int64_t num_layers, double dropout, bool train, bool bidirectional,
            bool batch_first) {
  const auto out = stacked(Cell::lstm, input, hx, params,
                           {has_biases, num_layers, dropout, train, bidirectional}, batch_first);
  return {out[0], out[1], out[2]};
}
Triple packed_lstm(const Tensor& data, const Tensor& batch_sizes, const Tensors& hx,
                   const Tensors& params, bool has_biases, std::int64_t num_layers, double dropout,
                   bool train, bool bidirectional) {
  const auto out = recurrent_stack(Cell::lstm, data, batch_sizes, hx, params,
                                   {has_biases, num_layers, dropout, train, bidirectional});
  return {out[0], out[1], out[2]};
}

RecurrentWeights weights(const Tensor& w_ih, const Tensor& w_hh, const Maybe& b_ih,
                         const Maybe& b_hh) {
  return {w_ih, w_hh, b_ih.value_or(Tensor()), b_hh.value_or(Tensor()), {}};
}
template <Cell cell>
Tensor one_step(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                Maybe b_ih, Maybe b_hh) {
  return recurrent_cell(cell, input, {hx}, weights(w_ih, w_hh, b_ih, b_hh)).h;
}
Pair lstm_step(const Tensor& input, const Tensors& hx, const Tensor& w_ih, const Tensor& w_hh,
               Maybe b_ih, Maybe b_hh) {
  const RecurrentStates s = recurrent_cell(Cell::lstm, input, hx, weights(w_ih, w_hh, b_ih, b_hh));
  return {s.h, s.c};
}

constexpr std::string_view kStack =
    "hx, params, has_biases, num_layers, dropout, train, bidirectional";
constexpr std::string_view kStep = "_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None)";

template <auto Layers, auto Packed>
void bind_layers(py::module_& m, std::string_view name, std::string_view doc) {
  overloads<Packed, Layers>(m,
                            {text(name, "(data, batch_sizes, ", kStack, ")"),
                             text(name, "(input, ", kStack, ", batch_first)")},
                            {.as = As::function, .autocast = kLower}, doc);
}
template <auto Step>
void bind_step(py::module_& m, std::string_view name, std::string_view doc) {
  op<Step>(m, text(name, kStep), {.as = As::function, .autocast = kLower}, doc);
}

constexpr auto kRnnDoc = R"(A stack of recurrent layers over a sequence, as nn.RNN runs it.

Args:
    data, batch_sizes: of a packed sequence, in place of `input`.
    hx: the first states.
    params: for each layer and direction w_ih, w_hh and, with `has_biases`, b_ih and b_hh.
    dropout: probability, between layers, where `train`.
    batch_first: input and output are (n, t, features).

Shape: input (t, n, features), hx (num_layers * directions, n, hidden).

Returns: the output (t, n, directions * hidden) and the last states, shaped as hx.

>>> one = torch.ones(1, 1)
>>> output, h = torch.{}(
...     torch.zeros(3, 1, 1), torch.ones(1, 1, 1), (one, one), False, 1, 0.0, False, False, False
... )
>>> output.shape, h.shape
(torch.Size([3, 1, 1]), torch.Size([1, 1, 1])))";
std::string rnn_doc(std::string_view name) {
  std::string doc = kRnnDoc;
  return doc.replace(doc.find("{}"), 2, name);
}

}  // namespace

void bind_recurrent(py::module_& m) {
  bind_layers<&layers<Cell::tanh>, &packed<Cell::tanh>>(m, "rnn_tanh", rnn_doc("rnn_tanh"));
  bind_layers<&layers<Cell::relu>, &packed<Cell::relu>>(m, "rnn_relu", rnn_doc("rnn_relu"));
  bind_layers<&layers<Cell::gru>, &packed<Cell::gru>>(m, "gru",
                                                      R"(A stack of GRU layers, as nn.GRU runs it.

Args: as of rnn_tanh; the weights have three parts, for the gates r, z and n.

>>> output, h = torch.gru(
...     torch.zeros(3, 1, 1), torch.ones(1, 1, 1), (torch.ones(3, 1), torch.ones(3, 1)), False, 1,
...     0.0, False, False, False
... )
>>> output.shape, h.shape
(torch.Size([3, 1, 1]), torch.Size([1, 1, 1])))");
  bind_layers<&lstm, &packed_lstm>(m, "lstm", R"(A stack of LSTM layers, as nn.LSTM runs it.

Args: as of rnn_tanh, but hx is (h, c), and the weights have four parts, for the gates i, f, g and
    o. If h has another size than c, a weight w_hr (size of h, size of c) follows those of each
    layer and projects h.

Returns: the output, the last h and the last c.

>>> one = torch.ones(1, 1, 1)
>>> output, h, c = torch.lstm(
...     torch.zeros(3, 1, 1), (one, one), (torch.ones(4, 1), torch.ones(4, 1)), False, 1, 0.0,
...     False, False, False
... )
>>> output.shape, h.shape, c.shape
(torch.Size([3, 1, 1]), torch.Size([1, 1, 1]), torch.Size([1, 1, 1])))");
  bind_step<&one_step<Cell::tanh>>(m, "rnn_tanh", R"(tanh(w_ih x + b_ih + w_hh h + b_hh).

Shape: input (n, features) or (features), hx (n, hidden) or (hidden).

>>> one = torch.ones(1, 1)
>>> torch.rnn_tanh_cell(one, 0 * one, one, one)
tensor([[0.7616]]))");
  bind_step<&one_step<Cell::relu>>(m, "rnn_relu", R"(max(0, w_ih x + b_ih + w_hh h + b_hh).

Shape: input (n, features) or (features), hx (n, hidden) or (hidden).

>>> one = torch.ones(1, 1)
>>> torch.rnn_relu_cell(one, 2 * one, one, one)
tensor([[3.]]))");
  bind_step<&lstm_step>(m, "lstm", R"(One step of an LSTM: (h, c) from an input and hx = (h, c).

Shape: input (n, features) or (features), h and c (n, hidden) or (hidden), w_ih (4 hidden,
    features), w_hh (4 hidden, hidden): the gates i, f, g, o.

>>> one = torch.ones(1, 1)
>>> torch.lstm_cell(one, (one, one), one.new_zeros(4, 1), one.new_zeros(4, 1))
(tensor([[0.2311]]), tensor([[0.5000]])))");
  bind_step<&one_step<Cell::gru>>(m, "gru", R"(One step of a GRU.

Shape: input (n, features) or (features), hx (n, hidden) or (hidden), w_ih (3 hidden, features),
    w_hh (3 hidden, hidden): the gates r, z, n.

>>> one = torch.ones(1, 1)
>>> torch.gru_cell(one, one, one.new_zeros(3, 1), one.new_zeros(3, 1))
tensor([[0.5000]]))");
}

}  // namespace rushlight::python
