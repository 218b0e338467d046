// Recurrent layers: a thread takes some examples of the batch through the whole sequence, with the
// recurrent weight packed once for all; between two products, one loop over the gates of a row.
#include "../recurrent.h"

#include <algorithm>
#include <optional>

#include "../host_device.h"
#include "../parallel.h"
#include "../recurrent_cells.h"
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

template <class T>
struct Forward {
  const Shape& s;
  const RecurrentForward& v;
  const Index gates = gates_of(s.cell) * s.hidden;
  const StepProduct<T> product{s.out, gates, {v.w_hh.as<const T>(), s.out, true}, s.steps, s.batch};
  const std::optional<StepProduct<T>> projection =
      v.w_hr.data ? std::optional<StepProduct<T>>(
                        std::in_place, s.hidden, s.out,
                        Matrix<const T>{v.w_hr.as<const T>(), s.hidden, true}, s.steps, s.batch)
                  : std::nullopt;

  void cells(Index example, const RecurrentStep& step, Index rows, T* part) const {
    const Index n = s.hidden;
    for (Index i = 0; i < rows; ++i) {
      const Index row = step.first + example + i;
      T* const x = rows_at<T>(v.gates, row, gates);
      T* const h = v.w_hr.data ? rows_at<T>(v.unprojected, row, n) : rows_at<T>(v.output, row, n);
      if (s.cell == Cell::lstm) {
        T* const c = rows_at<T>(v.c, example + i, n);
        lstm_row(n, x, c, h);
        if (T* const kept = rows_at<T>(v.cells, row, n)) std::copy_n(c, n, kept);
      } else if (s.cell == Cell::gru) {
        T* const of_row = part + i * gates;
        gru_row(n, x, of_row, v.b_hh.as<const T>(), rows_at<T>(v.h, example + i, n), h);
        if (T* const kept = rows_at<T>(v.hidden_part, row, n)) std::copy_n(of_row + 2 * n, n, kept);
      } else {
        rnn_row(n, s.cell == Cell::relu, x, h);
      }
    }
  }

  void run(Index example, Index examples) const {
    Scratch<T> part(std::size_t(s.cell == Cell::gru ? examples * gates : 0));
    T* const h = rows_at<T>(v.h, example, s.out);
    each_step(s, false, [&](const RecurrentStep& step) {
      const Index rows = std::clamp<Index>(step.rows - example, 0, examples);
      if (rows == 0) return;
      const Index first = step.first + example;
      if (T* const kept = rows_at<T>(v.previous, first, s.out)) std::copy_n(h, rows * s.out, kept);
      if (s.cell == Cell::gru)
        product.run(rows, h, s.out, T(0), part.data(), gates);
      else
        product.run(rows, h, s.out, T(1), rows_at<T>(v.gates, first, gates), gates);
      cells(example, step, rows, part.data());
      T* const out = rows_at<T>(v.output, first, s.out);
      if (projection)
        projection->run(rows, rows_at<T>(v.unprojected, first, s.hidden), s.hidden, T(0), out,
                        s.out);
      std::copy_n(out, rows * s.out, h);
      check_interrupt();
    });
  }
};

template <class T>
struct Backward {
  const Shape& s;
  const RecurrentBackward& v;
  const Index gates = gates_of(s.cell) * s.hidden;
  const StepProduct<T> product{gates, s.out, {v.w_hh.as<const T>(), s.out}, s.steps, s.batch};
  const std::optional<StepProduct<T>> projection =
      v.w_hr.data ? std::optional<StepProduct<T>>(std::in_place, s.out, s.hidden,
                                                  Matrix<const T>{v.w_hr.as<const T>(), s.hidden},
                                                  s.steps, s.batch)
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
        projection->run(rows, gh, s.out, T(0), unprojected.data(), s.hidden);
        cells(example, step, rows, unprojected.data());
      } else {
        cells(example, step, rows, gh);
      }
      if (step.rows_before == 0 && !v.needs_first) return;
      const bool gru = s.cell == Cell::gru;
      product.run(rows, rows_at<const T>(gru ? v.grad_hidden : v.grad_gates, first, gates), gates,
                  T(gru ? 1 : 0), gh, s.out);
      check_interrupt();
    });
  }
};

template <class F>
void with_type(const View& v, F&& f) {
  v.dtype == DType::float64 ? f(Type<double>{}) : f(Type<float>{});
}

void forward(const Shape& s, const RecurrentForward& v) {
  with_type(v.gates, [&]<class T>(Type<T>) {
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

const RecurrentKernels cpu_recurrent = {forward, backward};

}  // namespace rushlight
