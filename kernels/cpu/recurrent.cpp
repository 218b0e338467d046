// Recurrent layers: a thread takes some examples of the batch through the whole sequence, with the
// recurrent weight packed once for all; between two products, one loop over the gates of a row.
#include "../recurrent.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "../host_device.h"
#include "../parallel.h"
#include "../recurrent_cells.h"
#include "linalg/amx.h"
#include "linalg/step_product.h"
#include "scratch.h"

namespace rushlight {
namespace {

using Index = std::int64_t;
using Shape = RecurrentShape;

// ---- the gates of one row: x has G * n elements, h and c n; `cell` and `hn` are null or kept
template <class T>
CLONES_512 void rnn_row(Index n, bool relu, T* __restrict x, T* __restrict h) {
  if (relu)
    for (Index j = 0; j < n; ++j) h[j] = x[j] = Relu::forward(x[j]);
  else
    for (Index j = 0; j < n; ++j) h[j] = x[j] = Tanh::forward(x[j]);
}

template <class T>
CLONES_512 void lstm_row(Index n, T* __restrict x, T* __restrict c, T* __restrict h) {
  for (Index j = 0; j < n; ++j) {
    const LstmState<T> s = lstm_step(x[j], x[n + j], x[2 * n + j], x[3 * n + j], c[j]);
    x[j] = s.i;
    x[n + j] = s.f;
    x[2 * n + j] = s.g;
    x[3 * n + j] = s.o;
    c[j] = s.c;
    h[j] = s.h;
  }
}

// part: the product with the last h, whose third part gets its bias; bias: 3 n elements
template <class T>
CLONES_512 void gru_row(Index n, T* __restrict x, T* __restrict part, const T* __restrict bias,
                        const T* __restrict last, T* __restrict h) {
  for (Index j = 0; j < n; ++j) {
    const T hn = part[2 * n + j] + bias[2 * n + j];
    const GruState<T> s = gru_step(x[j], x[n + j], x[2 * n + j], part[j] + bias[j],
                                   part[n + j] + bias[n + j], hn, last[j]);
    x[j] = s.r;
    x[n + j] = s.z;
    x[2 * n + j] = s.n;
    part[2 * n + j] = hn;
    h[j] = s.h;
  }
}

template <class T>
CLONES_512 void rnn_row_back(Index n, bool relu, const T* __restrict y, const T* __restrict gh,
                             T* __restrict gx) {
  if (relu)
    for (Index j = 0; j < n; ++j) gx[j] = Relu::backward(gh[j], y[j]);
  else
    for (Index j = 0; j < n; ++j) gx[j] = Tanh::backward(gh[j], y[j]);
}

template <class T>
CLONES_512 void lstm_row_back(Index n, const T* __restrict x, const T* __restrict c,
                              const T* __restrict last, const T* __restrict gh, T* __restrict gc,
                              T* __restrict gx) {
  for (Index j = 0; j < n; ++j) {
    const LstmState<T> s{x[j], x[n + j], x[2 * n + j], x[3 * n + j], c[j], T(0)};
    const LstmGradient<T> g = lstm_gradient(s, last[j], gh[j], gc[j]);
    gx[j] = g.i;
    gx[n + j] = g.f;
    gx[2 * n + j] = g.g;
    gx[3 * n + j] = g.o;
    gc[j] = g.c;
  }
}

// gh: in, the gradient of h after the step; out, what reaches the h before it past the gates
template <class T>
CLONES_512 void gru_row_back(Index n, const T* __restrict x, const T* __restrict hn,
                             const T* __restrict last, T* __restrict gh, T* __restrict gx,
                             T* __restrict gpart) {
  for (Index j = 0; j < n; ++j) {
    const GruState<T> s{x[j], x[n + j], x[2 * n + j], T(0)};
    const GruGradient<T> g = gru_gradient(s, hn[j], last[j], gh[j]);
    gx[j] = gpart[j] = g.r;
    gx[n + j] = gpart[n + j] = g.z;
    gx[2 * n + j] = g.n;
    gpart[2 * n + j] = g.hn;
    gh[j] = g.h;
  }
}

template <class T>
CLONES_512 void add_to(Index n, const T* __restrict from, T* __restrict to) {
  for (Index j = 0; j < n; ++j) to[j] += from[j];
}

template <class T>
T* rows_at(const View& v, Index row, Index width) {
  return v.data ? v.as<T>() + row * width : nullptr;
}

// Calls f(first, count) for parts of the batch. A thread is worth waking for some 10 microseconds.
template <class F>
void each_part(const Shape& s, F&& f) {
  const Index work = std::max<Index>(1, gates_of(s.cell) * s.hidden * s.out);
  const Index grain = 1 + 250'000 / std::max<Index>(1, work * s.steps);
  // Few rows each would give up the tiles: no more parts than threads.
  const Index even = (s.batch + num_threads() - 1) / num_threads();
  const Index rows = std::max({grain, even, std::min<Index>(8, s.batch)});
  parallel_for(s.batch, rows, [&](Index begin, Index end) {
    for (Index at = begin; at < end; at += rows) f(at, std::min(rows, end - at));
  });
}

// Gates, or inputs, of so many steps at once: they stay in the second cache until they are read.
constexpr Index kBlock = 1 << 16;
constexpr Index kLeastRows = 16;

template <class T>
struct Forward {
  const Shape& s;
  const RecurrentForward& v;
  const Index gates = gates_of(s.cell) * s.hidden;
  const StepUse use{s.steps, s.batch, s.rounded};
  const StepProduct<T> product{s.out, gates, {v.w_hh.as<const T>(), s.out, true}, use};
  const std::optional<StepProduct<T>> of_input =
      v.input.data
          ? std::optional<StepProduct<T>>(std::in_place, v.features, gates,
                                          Matrix<const T>{v.w_ih.as<const T>(), v.features, true},
                                          use, v.bias.as<const T>())
          : std::nullopt;
  const std::optional<StepProduct<T>> projection =
      v.w_hr.data ? std::optional<StepProduct<T>>(
                        std::in_place, s.hidden, s.out,
                        Matrix<const T>{v.w_hr.as<const T>(), s.hidden, true}, use)
                  : std::nullopt;

  // One step of some rows, the first of which is row `first` of the sequence; x: their gates.
  void step(Index example, Index first, Index rows, T* x, T* part) const {
    const Index n = s.hidden;
    T* const h = rows_at<T>(v.h, example, s.out);
    if (T* const kept = rows_at<T>(v.previous, first, s.out)) std::copy_n(h, rows * s.out, kept);
    const bool gru = s.cell == Cell::gru;
    product.run({rows, h, gru ? part : x}, s.out, T(gru ? 0 : 1), gates);
    T* const out = rows_at<T>(v.output, first, s.out);
    T* const unprojected = projection ? rows_at<T>(v.unprojected, first, n) : out;
    for (Index i = 0; i < rows; ++i)
      cell(example + i, first + i, x + i * gates, part + i * gates, unprojected + i * n);
    if (projection) projection->run({rows, unprojected, out}, n, T(0), s.out);
    std::copy_n(out, rows * s.out, h);
  }

  void cell(Index example, Index row, T* x, T* part, T* h) const {
    const Index n = s.hidden;
    if (s.cell == Cell::lstm) {
      T* const c = rows_at<T>(v.c, example, n);
      lstm_row(n, x, c, h);
      if (T* const kept = rows_at<T>(v.cells, row, n)) std::copy_n(c, n, kept);
    } else if (s.cell == Cell::gru) {
      gru_row(n, x, part, v.b_hh.as<const T>(), rows_at<T>(v.h, example, n), h);
      if (T* const kept = rows_at<T>(v.hidden_part, row, n)) std::copy_n(part + 2 * n, n, kept);
    } else {
      rnn_row(n, s.cell == Cell::relu, x, h);
    }
  }

  // Adds rows whose inputs are multiplied; those that follow the last ones are joined to them.
  void join(std::vector<StepRows<T>>& all, const StepRows<T>& at) const {
    if (!all.empty()) {
      StepRows<T>& last = all.back();
      if (of_input->takes_rows() && at.left == last.left + last.rows * v.features &&
          at.out == last.out + last.rows * gates) {
        last.rows += at.rows;
        return;
      }
    }
    all.push_back(at);
  }

  void run(Index example, Index examples) const {
    const Index step_size = examples * std::max(gates, v.features);
    const Index block = std::max<Index>(1, kBlock / std::max<Index>(1, step_size));
    Scratch<T> part(std::size_t(s.cell == Cell::gru ? examples * gates : 0));
    Scratch<T> unkept(std::size_t(v.gates.data ? 0 : block * examples * gates));
    std::vector<StepRows<T>> steps, joined;
    std::vector<Index> firsts;
    const auto run_block = [&] {
      if (of_input) {
        joined.clear();
        for (const StepRows<T>& at : steps) join(joined, at);
        of_input->run(joined, v.features, T(0), gates);
      }
      for (std::size_t i = 0; i < steps.size(); ++i) {
        step(example, firsts[i], steps[i].rows, steps[i].out, part.data());
        check_interrupt();
      }
      steps.clear();
      firsts.clear();
    };
    each_step(s, false, [&](const RecurrentStep& at) {
      const Index rows = std::clamp<Index>(at.rows - example, 0, examples);
      if (rows == 0) return;
      const Index first = at.first + example, place = Index(steps.size()) * examples;
      T* const x = v.gates.data ? rows_at<T>(v.gates, first, gates) : unkept.data() + place * gates;
      steps.push_back({rows, rows_at<const T>(v.input, first, v.features), x});
      firsts.push_back(first);
      if (Index(steps.size()) == block) run_block();
    });
    run_block();
  }
};

template <class T>
struct Backward {
  const Shape& s;
  const RecurrentBackward& v;
  const Index gates = gates_of(s.cell) * s.hidden;
  const StepUse use{s.steps, s.batch, s.rounded};
  const StepProduct<T> product{gates, s.out, {v.w_hh.as<const T>(), s.out}, use};
  const std::optional<StepProduct<T>> projection =
      v.w_hr.data
          ? std::optional<StepProduct<T>>(std::in_place, s.out, s.hidden,
                                          Matrix<const T>{v.w_hr.as<const T>(), s.hidden}, use)
          : std::nullopt;

  // gh: of h before its projection
  void cells(Index example, const RecurrentStep& step, Index rows, T* gh) const {
    const Index n = s.hidden;
    for (Index i = 0; i < rows; ++i) {
      const Index row = step.first + example + i, at = example + i;
      const T* const x = rows_at<const T>(v.gates, row, gates);
      T* const gx = rows_at<T>(v.grad_gates, row, gates);
      if (s.cell == Cell::lstm) {
        const T* const last = at < step.rows_before ? rows_at<const T>(v.cells, step.before + at, n)
                                                    : rows_at<const T>(v.c, at, n);
        lstm_row_back(n, x, rows_at<const T>(v.cells, row, n), last, gh + i * n,
                      rows_at<T>(v.grad_c, at, n), gx);
      } else if (s.cell == Cell::gru) {
        gru_row_back(n, x, rows_at<const T>(v.hidden_part, row, n),
                     rows_at<const T>(v.previous, row, n), gh + i * n, gx,
                     rows_at<T>(v.grad_hidden, row, gates));
      } else {
        rnn_row_back(n, s.cell == Cell::relu, x, gh + i * n, gx);
      }
    }
  }

  void run(Index example, Index examples) const {
    Scratch<T> unprojected(std::size_t(projection ? examples * s.hidden : 0));
    T* const gh = rows_at<T>(v.grad_h, example, s.out);
    each_step(s, true, [&](const RecurrentStep& step) {
      const Index rows = std::clamp<Index>(step.rows - example, 0, examples);
      if (rows == 0) return;
      const Index first = step.first + example;
      if (const T* const g = rows_at<const T>(v.grad_output, first, s.out))
        add_to(rows * s.out, g, gh);
      if (projection) {
        std::copy_n(gh, rows * s.out, rows_at<T>(v.grad_projected, first, s.out));
        projection->run({rows, gh, unprojected.data()}, s.out, T(0), s.hidden);
        cells(example, step, rows, unprojected.data());
      } else {
        cells(example, step, rows, gh);
      }
      if (step.rows_before == 0 && !v.needs_first) return;
      const bool gru = s.cell == Cell::gru;
      const T* const of_gates = rows_at<const T>(gru ? v.grad_hidden : v.grad_gates, first, gates);
      product.run({rows, of_gates, gh}, gates, T(gru ? 1 : 0), s.out);
      check_interrupt();
    });
  }
};

template <class F>
void with_type(const View& v, F&& f) {
  v.dtype == DType::float64 ? f(Type<double>{}) : f(Type<float>{});
}

// Of fewer rows a step, one product for all steps has the higher tiles.
bool takes_input(const Shape& s, Index features, DType dtype) {
  const StepUse use{s.steps, s.batch, s.rounded};
  return dtype == DType::float32 &&
         (StepProduct<float>::rounds(features, use) ||
          (s.batch >= kLeastRows && StepProduct<float>::packs(features, use)));
}

void forward(const Shape& s, const RecurrentForward& v) {
  with_type(v.output, [&]<class T>(Type<T>) {
    const Forward<T> pass{s, v};
    each_part(s, [&](Index example, Index examples) { pass.run(example, examples); });
  });
}

void backward(const Shape& s, const RecurrentBackward& v) {
  with_type(v.gates, [&]<class T>(Type<T>) {
    const Backward<T> pass{s, v};
    each_part(s, [&](Index example, Index examples) { pass.run(example, examples); });
  });
}

}  // namespace

const RecurrentKernels cpu_recurrent = {amx::is_available, takes_input, forward, backward};

}  // namespace rushlight
