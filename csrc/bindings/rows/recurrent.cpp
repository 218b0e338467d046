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

// The sentence, what all layers share, and an example.
std::string layer_doc(const char* sentence, const char* hx, const char* weights, const char* rest) {
  return text(sentence, R"(

Args:
    data: the elements of a packed sequence, instead of input.
    batch_sizes: how many of its sequences reach each time step.
    hx: )",
              hx, R"(
    params: for each layer and direction w_ih, w_hh and, with has_biases, b_ih and b_hh.)",
              weights, R"(
    has_biases: whether params holds biases.
    num_layers: how many layers.
    dropout: the probability of dropout between layers, where train is True.
    train: whether dropout is applied.
    bidirectional: whether each layer also runs backwards.
    batch_first: whether input and output are (n, t, features).

Shape:
    input (t, n, features), a state (num_layers * directions, n, hidden); the output (t, n,
    directions * hidden).

Returns:
)",
              rest);
}

constexpr auto kRnnRest = R"(    the output and the last state.

>>> one = torch.ones(1, 1)
>>> output, h = torch.{}(
...     torch.zeros(3, 1, 1), torch.ones(1, 1, 1), (one, one), False, 1, 0.0, False, False, False
... )
>>> output.shape, h.shape
(torch.Size([3, 1, 1]), torch.Size([1, 1, 1])))";
constexpr auto kGruRest = R"(    the output and the last state.

>>> output, h = torch.gru(
...     torch.zeros(3, 1, 1), torch.ones(1, 1, 1), (torch.ones(3, 1), torch.ones(3, 1)), False, 1,
...     0.0, False, False, False
... )
>>> output.shape, h.shape
(torch.Size([3, 1, 1]), torch.Size([1, 1, 1])))";
constexpr auto kLstmRest = R"(    the output, the last h and the last c.

>>> one = torch.ones(1, 1, 1)
>>> output, h, c = torch.lstm(
...     torch.zeros(3, 1, 1), (one, one), (torch.ones(4, 1), torch.ones(4, 1)), False, 1, 0.0,
...     False, False, False
... )
>>> output.shape, h.shape, c.shape
(torch.Size([3, 1, 1]), torch.Size([1, 1, 1]), torch.Size([1, 1, 1])))";
std::string rnn_doc(std::string_view name, const char* sentence) {
  std::string doc = layer_doc(sentence, "the first state.", "", kRnnRest);
  return doc.replace(doc.find("{}"), 2, name);
}

// The sentence, what all steps share, and an example.
std::string step_doc(const char* sentence, const char* hx, int gates, const char* example) {
  const std::string times = gates == 1 ? "" : text(gates, " ");
  return text(sentence, R"(

Args:
    input: the input of this step.
    hx: )",
              hx, R"(
    w_ih: the weights of the input.
    w_hh: the weights of the state.
    b_ih: the bias beside w_ih; None for 0.
    b_hh: the bias beside w_hh; None for 0.

Shape:
    input (n, features) or (features), a state (n, hidden) or (hidden),
    w_ih ()",
              times, "hidden, features), w_hh (", times, "hidden, hidden).\n\n", example);
}

}  // namespace

void bind_recurrent(py::module_& m) {
  bind_layers<&layers<Cell::tanh>, &packed<Cell::tanh>>(
      m, "rnn_tanh", rnn_doc("rnn_tanh", "A stack of recurrent layers, as nn.RNN runs it."));
  bind_layers<&layers<Cell::relu>, &packed<Cell::relu>>(
      m, "rnn_relu",
      rnn_doc("rnn_relu", "A stack of recurrent layers with ReLU, as nn.RNN runs it."));
  bind_layers<&layers<Cell::gru>, &packed<Cell::gru>>(
      m, "gru",
      layer_doc("A stack of GRU layers, as nn.GRU runs it.", "the first state.",
                "\n        The weights have three parts, for the gates r, z and n.", kGruRest));
  bind_layers<&lstm, &packed_lstm>(
      m, "lstm",
      layer_doc("A stack of LSTM layers, as nn.LSTM runs it.", "the first states (h, c).",
                "\n        The weights have four parts, for the gates i, f, g and o. If h has "
                "another size than c,\n        a weight w_hr (size of h, size of c) follows those "
                "of each layer and projects h.",
                kLstmRest));
  bind_step<&one_step<Cell::tanh>>(m, "rnn_tanh",
                                   step_doc("tanh(w_ih x + b_ih + w_hh h + b_hh).", "the state h.",
                                            1, R"(>>> one = torch.ones(1, 1)
>>> torch.rnn_tanh_cell(one, 0 * one, one, one)
tensor([[0.7616]]))"));
  bind_step<&one_step<Cell::relu>>(m, "rnn_relu",
                                   step_doc("max(0, w_ih x + b_ih + w_hh h + b_hh).",
                                            "the state h.", 1, R"(>>> one = torch.ones(1, 1)
>>> torch.rnn_relu_cell(one, 2 * one, one, one)
tensor([[3.]]))"));
  bind_step<&lstm_step>(
      m, "lstm",
      step_doc("One step of an LSTM, with the gates i, f, g and o: the next (h, c).",
               "the states (h, c).", 4, R"(>>> one = torch.ones(1, 1)
>>> torch.lstm_cell(one, (one, one), one.new_zeros(4, 1), one.new_zeros(4, 1))
(tensor([[0.2311]]), tensor([[0.5000]])))"));
  bind_step<&one_step<Cell::gru>>(
      m, "gru",
      step_doc("One step of a GRU, with the gates r, z and n: the next h.", "the state h.", 3,
               R"(>>> one = torch.ones(1, 1)
>>> torch.gru_cell(one, one, one.new_zeros(3, 1), one.new_zeros(3, 1))
tensor([[0.5000]]))"));
}

}  // namespace rushlight::python
