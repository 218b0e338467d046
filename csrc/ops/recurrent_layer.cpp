// One direction of a recurrent layer as one node: the input's part of all gates is one product over
// the sequence, the steps are one call of the kernel, and each weight's gradient is one product.
#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "kernels/recurrent_cells.h"
#include "ops/linalg/matmul.h"
#include "ops/recurrent.h"
#include "ops/value.h"

namespace rushlight {
namespace {

constexpr double kNanosecondsPerProduct = 0.02;

// What forward and backward share: plain numbers, and what the kernel leaves for backward.
struct Layer {
  RecurrentShape shape;
  BatchSizes batch_sizes;
  std::int64_t features, gates;
  DType dtype;
  Device device;
  Tensor activated, cells, previous, hidden_part, unprojected, first_c;

  Tensor empty_rows(std::int64_t columns) const {
    return empty({shape.rows, columns}, dtype, device);
  }
  View rows_view(const Tensor& t, std::int64_t columns) const {
    return t ? dense_view(t, dtype, shape.rows * columns) : View{};
  }
  View state_view(const Tensor& t, std::int64_t columns) const {
    return t ? dense_view(t, dtype, shape.batch * columns) : View{};
  }
  View weight_view(const Tensor& t, std::int64_t numel) const {
    return t ? dense_view(t, dtype, numel) : View{};
  }
  bool is_idle() const {  // nothing to compute
    return shape.rows == 0 || shape.hidden == 0 || shape.out == 0 || device.is_meta();
  }
  bool takes_input() const {
    const auto takes = is_idle() ? nullptr : backend(device).recurrent->takes_input;
    return takes && takes(shape, features, dtype);
  }
  // As a product takes it, and what a product gives.
  Tensor operand(const Tensor& t) const { return shape.rounded ? to(t, DType::bfloat16) : t; }
  Tensor result(const Tensor& t) const { return to(t, dtype); }
  double nanoseconds() const {
    return double(shape.rows) * double(gates) * double(shape.out) * kNanosecondsPerProduct;
  }
};

Tensor dense_copy(const Tensor& t) {
  Tensor copy = empty(t.sizes(), t.dtype(), t.device());
  if (!t.device().is_meta()) copy_bits(copy, t);
  return copy;
}
Tensor dense(const Tensor& t) { return t ? contiguous(t) : Tensor(); }
Tensor flat_rows(const Tensor& input, const Layer& l) {
  return reshape(input, {l.shape.rows, l.features});
}

Layer layer_of(Cell cell, bool reverse, const Tensor& input, const BatchSizes& batch_sizes,
               const Tensor& h, const RecurrentWeights& w) {
  Layer l{};
  const std::int64_t packed = batch_sizes ? std::int64_t(batch_sizes->size()) : 0;
  l.batch_sizes = batch_sizes;
  l.dtype = input.dtype();
  l.device = input.device();
  l.features = input->shape[input.dim() - 1];
  l.gates = w.w_hh->shape[0];
  l.shape = {.cell = cell,
             .reverse = reverse,
             .steps = batch_sizes ? packed : input->shape[0],
             .batch = h->shape[0],
             .hidden = l.gates / gates_of(cell),
             .out = h->shape[1],
             .rows = batch_sizes ? input->shape[0] : input->shape[0] * input->shape[1],
             .batch_sizes = batch_sizes ? batch_sizes->data() : nullptr,
             .rounded = w.rounded};
  return l;
}

// The biases of what the input adds to the gates; of all but a GRU those of h too.
Tensor bias_of_gates(Cell cell, const RecurrentWeights& w) {
  if (cell == Cell::gru || !w.b_hh) return w.b_ih;
  return w.b_ih ? add(w.b_ih, w.b_hh) : w.b_hh;
}

// Runs the steps; h and c become the last states. records: keeps the gates for backward.
void run_forward(Layer& l, bool records, const Tensor& input, const RecurrentWeights& w,
                 const Tensor& output, const Tensor& h, const Tensor& c) {
  const RecurrentShape& s = l.shape;
  const bool takes_input = l.takes_input();
  const Tensor bias = dense(bias_of_gates(s.cell, w));
  Tensor rows, w_ih, gates;
  if (takes_input) {
    rows = dense(input), w_ih = dense(w.w_ih);
    if (records) gates = l.empty_rows(l.gates);
  } else {
    const Tensor product = linear(l.operand(flat_rows(input, l)), l.operand(w.w_ih),
                                  bias ? std::optional<Tensor>(l.operand(bias)) : std::nullopt);
    gates = l.result(product);
  }
  if (records) l.activated = gates;
  if (l.is_idle()) return;
  const Tensor w_hh = dense(w.w_hh), w_hr = dense(w.w_hr);
  Tensor b_hh;
  if (s.cell == Cell::gru) b_hh = w.b_hh ? dense(w.b_hh) : zeros({l.gates}, l.dtype, l.device);
  RecurrentForward v = {.features = l.features,
                        .input = l.rows_view(rows, l.features),
                        .w_ih = l.weight_view(w_ih, l.gates * l.features),
                        .bias = l.weight_view(takes_input ? bias : Tensor(), l.gates),
                        .gates = l.rows_view(gates, l.gates),
                        .w_hh = l.weight_view(w_hh, l.gates * s.out),
                        .b_hh = l.weight_view(b_hh, l.gates),
                        .w_hr = l.weight_view(w_hr, s.out * s.hidden),
                        .h = l.state_view(h, s.out),
                        .c = l.state_view(c, s.hidden),
                        .output = l.rows_view(output, s.out),
                        .unprojected = l.rows_view(l.unprojected, s.hidden),
                        .previous = l.rows_view(l.previous, s.out),
                        .cells = l.rows_view(l.cells, s.hidden),
                        .hidden_part = l.rows_view(l.hidden_part, s.hidden)};
  const Backend& b = backend(l.device);
  const Unlocked unlocked(l.nanoseconds(), {&rows, &w_ih, &bias, &w_hh, &w_hr, &b_hh});
  b.recurrent->forward(s, v);
}

struct Upstream {  // the gradients that come in, and what the kernel makes of them
  Tensor output, h, c, gates, hidden, projected;
};
Upstream run_backward_steps(const Layer& l, std::span<Tensor> grads, const Tensor& weight_hh,
                            const Tensor& weight_hr, bool needs_first) {
  const RecurrentShape& s = l.shape;
  const auto state = [&](std::size_t i, std::int64_t columns) {
    if (i < grads.size() && grads[i]) return dense_copy(grads[i]);
    return zeros({s.batch, columns}, l.dtype, l.device);
  };
  Upstream g;
  g.output = dense(grads[0]);
  g.h = state(1, s.out);
  if (s.cell == Cell::lstm) g.c = state(2, s.hidden);
  g.gates = l.empty_rows(l.gates);
  if (s.cell == Cell::gru) g.hidden = l.empty_rows(l.gates);
  if (weight_hr) g.projected = l.empty_rows(s.out);
  if (l.is_idle()) return g;
  const Tensor w_hh = dense(weight_hh), w_hr = dense(weight_hr);
  const RecurrentBackward v = {.grad_output = l.rows_view(g.output, s.out),
                               .gates = l.rows_view(l.activated, l.gates),
                               .cells = l.rows_view(l.cells, s.hidden),
                               .previous = l.rows_view(l.previous, s.out),
                               .hidden_part = l.rows_view(l.hidden_part, s.hidden),
                               .w_hh = l.weight_view(w_hh, l.gates * s.out),
                               .w_hr = l.weight_view(w_hr, s.out * s.hidden),
                               .c = l.state_view(l.first_c, s.hidden),
                               .grad_h = l.state_view(g.h, s.out),
                               .grad_c = l.state_view(g.c, s.hidden),
                               .needs_first = needs_first,
                               .grad_gates = l.rows_view(g.gates, l.gates),
                               .grad_hidden = l.rows_view(g.hidden, l.gates),
                               .grad_projected = l.rows_view(g.projected, s.out)};
  const Backend& b = backend(l.device);
  const Unlocked unlocked(l.nanoseconds(), {&w_hh, &w_hr, &g.output});
  b.recurrent->backward(s, v);
  return g;
}

enum InputOf : std::size_t { kInput, kH, kC, kWih, kWhh, kBih, kBhh, kWhr, kInputs };

std::vector<Tensor> fused_gradients(const Layer& l, std::span<Tensor> grads, Node& self,
                                    const std::array<Saved, kInputs>& saved) {
  const Tensor& input = saved[kInput].get();
  const auto wants = [&](InputOf i) { return self.needs_input(i); };
  const Upstream g = run_backward_steps(l, grads, saved[kWhh].get(), saved[kWhr].get(), wants(kH));
  const bool gru = l.shape.cell == Cell::gru;
  std::vector<Tensor> out(kInputs);
  const Tensor gates = l.operand(g.gates), hidden = gru ? l.operand(g.hidden) : gates;
  if (wants(kInput))
    out[kInput] = reshape(l.result(mm(gates, l.operand(saved[kWih].get()))), input.shape());
  if (wants(kH)) out[kH] = g.h;
  if (wants(kC)) out[kC] = g.c;
  if (wants(kWih)) out[kWih] = l.result(mm(t(gates), l.operand(flat_rows(input, l))));
  if (wants(kWhh)) out[kWhh] = l.result(mm(t(hidden), l.operand(l.previous)));
  if (wants(kBih)) out[kBih] = sum(g.gates, Shape{0}, false);
  if (wants(kBhh))
    out[kBhh] =
        gru || !out[kBih] ? sum(gru ? g.hidden : g.gates, Shape{0}, false) : clone(out[kBih]);
  if (wants(kWhr)) out[kWhr] = l.result(mm(t(l.operand(g.projected)), l.operand(l.unprojected)));
  return out;
}

// Through the composition, of aliases of the inputs: an input may depend on another one.
std::vector<Tensor> composed_gradients(const Layer& l, std::span<Tensor> grads, Node& self,
                                       const std::array<Saved, kInputs>& saved) {
  std::array<Tensor, kInputs> in;
  std::vector<Tensor> wanted, roots, of_roots, out(kInputs);
  for (std::size_t i = 0; i < kInputs; ++i) {
    const Tensor& t = saved[i].get();
    if (!t) continue;
    in[i] = self.needs_input(i) ? view(t, t.shape()) : detach(t);
    if (self.needs_input(i)) wanted.push_back(in[i]);
  }
  const RecurrentStates s =
      recurrent_composition(l.shape.cell, l.shape.reverse, in[kInput], l.batch_sizes, in[kH],
                            in[kC], {in[kWih], in[kWhh], in[kBih], in[kBhh], in[kWhr]});
  const Tensor results[] = {s.output, s.h, s.c};
  for (std::size_t i = 0; i < grads.size(); ++i)
    if (grads[i] && results[i].requires_grad()) {
      roots.push_back(results[i]);
      of_roots.push_back(grads[i]);
    }
  const std::vector<Tensor> found = run_backward(
      roots, of_roots, wanted,
      {.retain_graph = true, .create_graph = true, .accumulate = false, .allow_unused = true});
  for (std::size_t i = 0, next = 0; i < kInputs; ++i)
    if (self.needs_input(i)) out[i] = found[next++];
  return out;
}

}  // namespace

RecurrentStates recurrent_layer(Cell cell, bool reverse, const Tensor& input,
                                const BatchSizes& batch_sizes, const Tensor& h, const Tensor& c,
                                const RecurrentWeights& w, const char* node) {
  Layer l = layer_of(cell, reverse, input, batch_sizes, h, w);
  const RecurrentShape& s = l.shape;
  const bool records = needs_grad(input, h, c, w.w_ih, w.w_hh, w.b_ih, w.b_hh, w.w_hr);
  RecurrentStates out;
  {
    const GradMode off(false);
    Shape shape = input.shape();
    shape[shape.rank - 1] = s.out;
    out.output = empty(shape, l.dtype, l.device);
    out.h = dense_copy(h);
    if (c) out.c = dense_copy(c);
    if (w.w_hr) l.unprojected = l.empty_rows(s.hidden);
    if (records) {
      l.previous = l.empty_rows(s.out);
      if (cell == Cell::lstm) l.cells = l.empty_rows(s.hidden), l.first_c = dense_copy(c);
      if (cell == Cell::gru) l.hidden_part = l.empty_rows(s.hidden);
    }
    run_forward(l, records, input, w, out.output, out.h, out.c);
  }
  if (!records) return out;
  Tensor outs[] = {out.output, out.h, out.c};
  record_many(
      node, std::span<Tensor>(outs, c ? 3 : 2),
      [l, saved = std::array<Saved, kInputs>{Saved(input), Saved(h), Saved(c), Saved(w.w_ih),
                                             Saved(w.w_hh), Saved(w.b_ih), Saved(w.b_hh),
                                             Saved(w.w_hr)}](std::span<Tensor> grads, Node& self) {
        return Gradients(grad_enabled() ? composed_gradients(l, grads, self, saved)
                                        : fused_gradients(l, grads, self, saved));
      },
      input, h, c, w.w_ih, w.w_hh, w.b_ih, w.b_hh, w.w_hr);
  return out;
}

namespace {

Tensor part(const Tensor& gates, std::int64_t i, std::int64_t hidden) {
  return narrow(gates, 1, i * hidden, hidden);
}

// One step of the rows that go on: x (rows, G H), h (rows, P), c (rows, H).
void compose_step(Cell cell, const Tensor& x, Tensor& h, Tensor& c, const RecurrentWeights& w) {
  const std::optional<Tensor> bias = w.b_hh ? std::optional<Tensor>(w.b_hh) : std::nullopt;
  const Tensor y = linear(h, w.w_hh, bias);
  const std::int64_t hidden = w.w_hh->shape[0] / gates_of(cell);
  if (cell == Cell::lstm) {
    const Tensor all = add(x, y);
    const LstmState<Value> s = lstm_step<Value>(part(all, 0, hidden), part(all, 1, hidden),
                                                part(all, 2, hidden), part(all, 3, hidden), c);
    c = s.c.tensor();
    h = w.w_hr ? linear(s.h.tensor(), w.w_hr, {}) : s.h.tensor();
  } else if (cell == Cell::gru) {
    h = gru_step<Value>(part(x, 0, hidden), part(x, 1, hidden), part(x, 2, hidden),
                        part(y, 0, hidden), part(y, 1, hidden), part(y, 2, hidden), h)
            .h.tensor();
  } else {
    h = cell == Cell::relu ? apply<Relu>(add(x, y)) : apply<Tanh>(add(x, y));
  }
}

Tensor joined(const Tensor& changed, const Tensor& whole) {  // the first rows, and the others
  const std::int64_t rows = changed->shape[0], all = whole->shape[0];
  if (rows == all) return changed;
  return cat({changed, narrow(whole, 0, rows, all - rows)}, 0);
}

}  // namespace

RecurrentStates recurrent_composition(Cell cell, bool reverse, const Tensor& input,
                                      const BatchSizes& batch_sizes, const Tensor& first_h,
                                      const Tensor& first_c, const RecurrentWeights& w) {
  const Layer l = layer_of(cell, reverse, input, batch_sizes, first_h, w);
  const Tensor gates =
      linear(flat_rows(input, l), w.w_ih, w.b_ih ? std::optional<Tensor>(w.b_ih) : std::nullopt);
  Tensor h = first_h, c = first_c;
  std::vector<Tensor> outs;
  each_step(l.shape, false, [&](const RecurrentStep& step) {
    Tensor h_now = narrow(h, 0, 0, step.rows), c_now = c ? narrow(c, 0, 0, step.rows) : Tensor();
    compose_step(cell, narrow(gates, 0, step.first, step.rows), h_now, c_now, w);
    outs.push_back(h_now);
    h = joined(h_now, h);
    if (c) c = joined(c_now, c);
  });
  if (reverse) std::reverse(outs.begin(), outs.end());
  Shape shape = input.shape();
  shape[shape.rank - 1] = l.shape.out;
  return {reshape(cat(outs, 0), shape), h, c};
}

}  // namespace rushlight
