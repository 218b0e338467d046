// Stacks of recurrent layers and single cells: the checks, the order of the weights, and what is
// between the layers. A layer itself: recurrent_layer.cpp.
#include "ops/recurrent.h"

#include <algorithm>

#include "core/backend.h"
#include "ops/random/random.h"

namespace rushlight {
namespace {

constexpr std::int64_t kLargest = 2'000'000'000;  // sizes that BLAS takes

const char* name_of(Cell c) {
  return c == Cell::tanh   ? "rnn_tanh"
         : c == Cell::relu ? "rnn_relu"
         : c == Cell::lstm ? "lstm"
                           : "gru";
}

void check_alike(const char* op, const Tensor& input, const Tensor& t, const char* kind) {
  if (t.device() != input.device())
    fail<RuntimeError>("Input and ", kind, " tensors are not at the same device, found input ",
                       "tensor at ", input.device(), " and ", kind, " tensor at ", t.device(), "\n",
                       op, "(): ", describe("input", input), "; ", describe(kind, t),
                       "\nmove one of them: x.to(y.device)");
  if (t.dtype() != input.dtype())
    fail<RuntimeError>("Input and ", kind, " tensors are not the same dtype, found input tensor ",
                       "with ", scalar_name(input.dtype()), " and ", kind, " tensor with ",
                       scalar_name(t.dtype()), "\n", op, "(): ", describe("input", input), "; ",
                       describe(kind, t), "\nconvert one of them: x.to(y.dtype)");
}

void check_shape(const char* op, const char* name, const Tensor& t, const Shape& wanted) {
  if (!same(t.sizes(), wanted))
    fail<RuntimeError>(op, "(): Expected ", name, " of size ", wanted, ", got ", t.sizes());
}

// w fits an input of so many features and states of these sizes.
void check_weights(const char* op, Cell cell, const Tensor& input, std::int64_t features,
                   std::int64_t out, std::int64_t hidden, const RecurrentWeights& w) {
  for (const Tensor* t : {&w.w_ih, &w.w_hh, &w.b_ih, &w.b_hh, &w.w_hr})
    if (*t) check_alike(op, input, *t, "parameter");
  const std::int64_t gates = checked_mul(gates_of(cell), hidden);
  if (gates > kLargest || features > kLargest)
    fail<RuntimeError>(op, "(): a layer of ", features, " features and ", hidden,
                       " hidden ones is too large");
  check_shape(op, "w_ih", w.w_ih, {gates, features});
  check_shape(op, "w_hh", w.w_hh, {gates, out});
  if (w.b_ih) check_shape(op, "b_ih", w.b_ih, {gates});
  if (w.b_hh) check_shape(op, "b_hh", w.b_hh, {gates});
  if (w.w_hr) check_shape(op, "w_hr", w.w_hr, {out, hidden});
}

void check_floating(const char* op, const Tensor& input) {
  if (!is_floating(input.dtype()))
    fail<RuntimeError>(op, "(): Expected a floating point input, got ", scalar_name(input.dtype()),
                       "\n", describe("input", input));
}

// The numbers of `t`, the batch sizes of a packed input of so many rows.
BatchSizes read_batch_sizes(const char* op, const Tensor& t, const Tensor& data,
                            std::int64_t batch) {
  if (!t.device().is_cpu())
    fail<RuntimeError>("batch_sizes tensor should be on CPU, but got ", t.device(), "\n", op,
                       "(): ", describe("batch_sizes", t));
  if (t.dtype() != DType::int64)
    fail<RuntimeError>("expected scalar type Long but found ", scalar_name(t.dtype()), "\n", op,
                       "(): ", describe("batch_sizes", t));
  if (t.dim() != 1 || t.numel() == 0)
    fail<RuntimeError>(op, "(): Expected batch_sizes of one dimension and not empty, got ",
                       t.sizes());
  auto sizes = std::make_shared<std::vector<std::int64_t>>();
  const Tensor dense = contiguous(t);
  const View v = view_of(dense);
  sizes->assign(v.as<const std::int64_t>(), v.as<const std::int64_t>() + v.numel);
  std::int64_t rows = 0, last = batch;
  if (sizes->front() != batch)
    fail<RuntimeError>(op, "(): Expected the first of batch_sizes to be the batch of the hidden ",
                       "state, ", batch, ", got ", sizes->front());
  for (const std::int64_t n : *sizes) {
    if (n < 0 || n > last)
      fail<RuntimeError>(op, "(): batch_sizes must not increase nor be negative, got ", n,
                         " after ", last);
    rows = checked_add(rows, n);
    last = n;
  }
  if (rows != data->shape[0])
    fail<RuntimeError>(op, "(): the batch_sizes add up to ", rows, ", but data has ",
                       data->shape[0], " rows\n", describe("data", data));
  return sizes;
}

std::vector<Tensor> in_float(const std::vector<Tensor>& list) {
  std::vector<Tensor> out;
  for (const Tensor& t : list) out.push_back(to(t, DType::float32));
  return out;
}

// Whether products of what is computed in float32 for `t` are quicker as those of its dtype.
bool rounds_products(const Tensor& t) {
  if (t.dtype() != DType::bfloat16 || t.device().is_meta()) return false;
  const auto rounds = backend(t.device()).recurrent->rounds;
  return rounds && rounds();
}

const char* layer_node(Cell cell, Device device, bool packed, bool projects) {
  if (device.is_cuda()) return "CudnnRnnBackward0";
  if (packed) return "CatBackward0";
  return cell == Cell::lstm && !projects ? "MkldnnRnnLayerBackward0" : "StackBackward0";
}

void check_stack(const char* op, Cell cell, const Tensor& input, bool packed,
                 const std::vector<Tensor>& hx, const std::vector<Tensor>& params) {
  check_floating(op, input);
  for (const Tensor& t : params) check_alike(op, input, t, "parameter");
  for (const Tensor& t : hx) check_alike(op, input, t, "hidden");
  if (cell == Cell::lstm && hx.size() != 2) fail<RuntimeError>("lstm expects two hidden states");
  const int wanted = packed ? 2 : 3;
  if (input.dim() != wanted)
    fail<RuntimeError>("input must have ", wanted, " dimensions, got ", input.dim(), "\n", op,
                       "(): ", describe("input", input));
  for (const Tensor& t : hx)
    if (t.dim() != 3)
      fail<RuntimeError>(op, "(): Expected hx of 3 dimensions, (layers * directions, batch, ",
                         "hidden), got ", t.sizes());
}

}  // namespace

std::vector<Tensor> recurrent_stack(Cell cell, const Tensor& given, const Tensor& sizes,
                                    const std::vector<Tensor>& hx,
                                    const std::vector<Tensor>& params,
                                    const RecurrentStack& stack) {
  const char* const op = name_of(cell);
  check_stack(op, cell, given, bool(sizes), hx, params);
  if (is_reduced(given.dtype())) {  // computed in float32, rounded once
    RecurrentStack in_full = stack;
    in_full.rounded = rounds_products(given);
    std::vector<Tensor> out = recurrent_stack(cell, to(given, DType::float32), sizes, in_float(hx),
                                              in_float(params), in_full);
    for (Tensor& t : out) t = to(t, given.dtype());
    return out;
  }
  const std::int64_t directions = stack.bidirectional ? 2 : 1;
  const std::int64_t layers = checked_mul(std::max<std::int64_t>(stack.num_layers, 0), directions);
  const Tensor &h = hx[0], &c = hx.back();
  const std::int64_t batch = h->shape[1], out = h->shape[2], hidden = c->shape[2];
  const bool projects = cell == Cell::lstm && out != hidden;
  const std::int64_t each = 2 + (stack.has_biases ? 2 : 0) + (projects ? 1 : 0);
  for (const Tensor& t : hx)
    if (t->shape[0] != layers)
      fail<RuntimeError>("Expected more hidden states in stacked_rnn\n", op, "(): ", layers,
                         " layers and directions, but hx has size ", t.sizes());
  if (std::int64_t(params.size()) != checked_mul(each, layers) || layers == 0)
    fail<RuntimeError>("got an incorrect number of RNN parameters\n", op, "(): ", params.size(),
                       " for ", layers, " layers and directions of ", each);
  BatchSizes batch_sizes;
  if (sizes) {
    batch_sizes = read_batch_sizes(op, sizes, given, batch);
  } else {
    if (given->shape[0] == 0)
      fail<RuntimeError>("Expected sequence length to be larger than 0 in RNN");
    if (given->shape[1] != batch)
      fail<RuntimeError>(op, "(): Expected the batch of the hidden state, ", batch,
                         ", to be that of the input, ", given->shape[1], "\n",
                         describe("input", given), "; ", describe("hx", h));
  }
  if (c->shape[1] != batch || batch > kLargest)
    fail<RuntimeError>(op, "(): hx of different batches: ", h.sizes(), " and ", c.sizes());
  const char* const node = layer_node(cell, given.device(), bool(sizes), projects);
  Tensor input = given;
  std::vector<Tensor> last_h, last_c;
  auto param = params.begin();
  for (std::int64_t layer = 0; layer < stack.num_layers; ++layer) {
    std::vector<Tensor> outputs;
    for (std::int64_t d = 0; d < directions; ++d) {
      RecurrentWeights w{param[0], param[1], {}, {}, {}, stack.rounded};
      if (stack.has_biases) w.b_ih = param[2], w.b_hh = param[3];
      if (projects) w.w_hr = param[each - 1];
      param += each;
      check_weights(op, cell, input, input->shape[input.dim() - 1], out, hidden, w);
      const std::int64_t at = layer * directions + d;
      const RecurrentStates s =
          recurrent_layer(cell, d == 1, input, batch_sizes, select(h, 0, at),
                          cell == Cell::lstm ? select(c, 0, at) : Tensor(), w, node);
      outputs.push_back(s.output);
      last_h.push_back(s.h);
      if (s.c) last_c.push_back(s.c);
    }
    input = directions == 1 ? outputs[0] : cat(outputs, -1);
    if (stack.dropout > 0 && stack.train && layer + 1 < stack.num_layers)
      input = dropout(input, stack.dropout, true);
  }
  std::vector<Tensor> all = {input, rushlight::stack(last_h, 0)};
  if (cell == Cell::lstm) all.push_back(rushlight::stack(last_c, 0));
  return all;
}

RecurrentStates recurrent_cell(Cell cell, const Tensor& given, const std::vector<Tensor>& hx,
                               const RecurrentWeights& w) {
  const std::string op = text(name_of(cell), "_cell");
  check_floating(op.c_str(), given);
  if (cell == Cell::lstm && hx.size() != 2)
    fail<RuntimeError>("lstm_cell expects two hidden states");
  if (given.dim() != 1 && given.dim() != 2)
    fail<RuntimeError>(op, "(): Expected input of 1 or 2 dimensions, got ", given.dim(), "\n",
                       describe("input", given));
  const bool batched = given.dim() == 2;
  const Tensor input = batched ? given : unsqueeze(given, 0);
  if (w.w_ih.dim() != 2 || w.w_hh.dim() != 2)
    fail<RuntimeError>(op, "(): Expected w_ih and w_hh of 2 dimensions, got ", w.w_ih.sizes(),
                       " and ", w.w_hh.sizes());
  if (input->shape[1] != w.w_ih->shape[1])
    fail<RuntimeError>("input has inconsistent input_size: got ", input->shape[1], " expected ",
                       w.w_ih->shape[1]);
  std::vector<Tensor> states;
  for (std::size_t i = 0; i < hx.size(); ++i) {
    check_alike(op.c_str(), given, hx[i], "hidden");
    states.push_back(hx[i].dim() == 1 && !batched ? unsqueeze(hx[i], 0) : hx[i]);
    const Tensor& h = states[i];
    if (h.dim() != 2 || h->shape[0] != input->shape[0])
      fail<RuntimeError>("Input batch size ", input->shape[0], " doesn't match hidden", i,
                         " batch size ", h.dim() == 2 ? h->shape[0] : 1, "\n",
                         describe("input", input), "; ", describe("hidden", h));
    if (h->shape[1] != w.w_hh->shape[1])
      fail<RuntimeError>("hidden", i, " has inconsistent hidden_size: got ", h->shape[1],
                         ", expected ", w.w_hh->shape[1]);
  }
  const std::int64_t hidden = w.w_hh->shape[1];
  check_weights(op.c_str(), cell, input, input->shape[1], hidden, hidden, w);
  if (is_reduced(given.dtype())) {
    const auto full = [](const Tensor& t) { return t ? to(t, DType::float32) : t; };
    RecurrentStates s =
        recurrent_cell(cell, full(given), in_float(hx),
                       {full(w.w_ih), full(w.w_hh), full(w.b_ih), full(w.b_hh), {}});
    s.h = to(s.h, given.dtype());
    if (s.c) s.c = to(s.c, given.dtype());
    return s;
  }
  const bool cuda = given.device().is_cuda();
  const char* const node = cell == Cell::tanh   ? "TanhBackward0"
                           : cell == Cell::relu ? "ReluBackward0"
                           : cell == Cell::lstm
                               ? cuda ? "ThnnFusedLstmCellBackward0" : "MulBackward0"
                           : cuda ? "ThnnFusedGruCellBackward0"
                                  : "AddBackward0";
  RecurrentStates s = recurrent_layer(cell, false, unsqueeze(input, 0), {}, states[0],
                                      cell == Cell::lstm ? states[1] : Tensor(), w, node);
  if (!batched) {
    s.h = squeeze(s.h, Shape{0});
    if (s.c) s.c = squeeze(s.c, Shape{0});
  }
  return s;
}

}  // namespace rushlight
