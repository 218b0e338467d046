// Recurrent layers: at each step the device's product with the recurrent weight, then one kernel
// over the elements of the state. Nothing waits: batch sizes are known to the host.
#include "../recurrent.h"
#include "../recurrent_cells.h"
#include "elements.h"
#include "families.h"
#include "runtime/launch.h"

namespace rushlight::gpu {
namespace {

// What the threads of a step need of it.
struct StepOf {
  Cell cell;
  Index first, rows, before, rows_before, hidden;
};

template <class C>
struct ForwardData {
  C *gates, *part, *c, *h, *to, *cells, *hidden_part;  // h: null where it is projected
  const C* b_hh;
};

template <class C>
__global__ void step_items(StepOf s, ForwardData<C> d) {
  const Index n = s.hidden;
  for (Index item = first_item(); item < s.rows * n; item += stride()) {
    const Index i = item / n, j = item % n, row = s.first + i;
    C h;
    if (s.cell == Cell::lstm) {
      C* const x = d.gates + row * 4 * n + j;
      const LstmState<C> y = lstm_step(x[0], x[n], x[2 * n], x[3 * n], d.c[item]);
      x[0] = y.i;
      x[n] = y.f;
      x[2 * n] = y.g;
      x[3 * n] = y.o;
      d.c[item] = y.c;
      if (d.cells) d.cells[row * n + j] = y.c;
      h = y.h;
    } else if (s.cell == Cell::gru) {
      C* const x = d.gates + row * 3 * n + j;
      const C* const part = d.part + i * 3 * n + j;
      const C hn = part[2 * n] + d.b_hh[2 * n + j];
      const GruState<C> y = gru_step(x[0], x[n], x[2 * n], part[0] + d.b_hh[j],
                                     part[n] + d.b_hh[n + j], hn, d.h[item]);
      x[0] = y.r;
      x[n] = y.z;
      x[2 * n] = y.n;
      if (d.hidden_part) d.hidden_part[row * n + j] = hn;
      h = y.h;
    } else {
      C& x = d.gates[row * n + j];
      h = x = s.cell == Cell::relu ? Relu::forward(x) : Tanh::forward(x);
    }
    d.to[row * n + j] = h;
    if (d.h) d.h[item] = h;
  }
}

template <class C>
struct BackwardData {
  const C *gates, *cells, *previous, *hidden_part, *c;
  C *gh, *gc, *grad_gates, *grad_hidden;
};

template <class C>
__global__ void step_items_back(StepOf s, BackwardData<C> d) {
  const Index n = s.hidden;
  for (Index item = first_item(); item < s.rows * n; item += stride()) {
    const Index i = item / n, j = item % n, row = s.first + i;
    const C gh = d.gh[item];
    if (s.cell == Cell::lstm) {
      const C* const x = d.gates + row * 4 * n + j;
      const C last = i < s.rows_before ? d.cells[(s.before + i) * n + j] : d.c[item];
      const LstmState<C> y{x[0], x[n], x[2 * n], x[3 * n], d.cells[row * n + j], C(0)};
      const LstmGradient<C> g = lstm_gradient(y, last, gh, d.gc[item]);
      C* const gx = d.grad_gates + row * 4 * n + j;
      gx[0] = g.i;
      gx[n] = g.f;
      gx[2 * n] = g.g;
      gx[3 * n] = g.o;
      d.gc[item] = g.c;
    } else if (s.cell == Cell::gru) {
      const C* const x = d.gates + row * 3 * n + j;
      const GruState<C> y{x[0], x[n], x[2 * n], C(0)};
      const GruGradient<C> g =
          gru_gradient(y, d.hidden_part[row * n + j], d.previous[row * n + j], gh);
      C *const gx = d.grad_gates + row * 3 * n + j, *const gp = d.grad_hidden + row * 3 * n + j;
      gx[0] = gp[0] = g.r;
      gx[n] = gp[n] = g.z;
      gx[2 * n] = g.n;
      gp[2 * n] = g.hn;
      d.gh[item] = g.h;
    } else {
      const C y = d.gates[row * n + j];
      d.grad_gates[row * n + j] =
          s.cell == Cell::relu ? Relu::backward(gh, y) : Tanh::backward(gh, y);
    }
  }
}

template <class C>
__global__ void add_items(const C* from, C* to, Index n) {
  for (Index i = first_item(); i < n; i += stride()) to[i] += from[i];
}

// Rows of a dense matrix as the product's rank 3; `transposed`: read as (columns, rows).
View matrix(const View& of, Index first, Index rows, Index columns, bool transposed = false) {
  View v = of;
  v.data = of.as<char>() + first * columns * Index(item_size(of.dtype));
  v.rank = 3;
  v.numel = rows * columns;
  v.sizes[0] = 1;
  v.strides[0] = rows * columns;
  v.sizes[1] = transposed ? columns : rows;
  v.sizes[2] = transposed ? rows : columns;
  v.strides[1] = transposed ? 1 : columns;
  v.strides[2] = transposed ? columns : 1;
  return v;
}
View scratch_view(void* data, const View& like) {
  View v = like;
  v.data = data;
  return v;
}
void multiply(const View& left, const View& right, const View& out, bool adds) {
  matmul_kernels.matmul(left, right, out, Scalar(1), Scalar(adds ? 1 : 0));
}
void copy_rows(const View& to, Index to_row, const View& from, Index from_row, Index rows,
               Index columns, const char* op) {
  const Index size = Index(item_size(to.dtype)) * columns;
  check(cudaMemcpyAsync(to.as<char>() + to_row * size, from.as<char>() + from_row * size,
                        std::size_t(rows * size), cudaMemcpyDefault, current().stream),
        op);
}
StepOf step_of(const RecurrentShape& s, const RecurrentStep& t) {
  return {s.cell, t.first, t.rows, t.before, t.rows_before, s.hidden};
}

void forward(const RecurrentShape& s, const RecurrentForward& v) {
  const char* const op = "recurrent_forward";
  const Index gates = gates_of(s.cell) * s.hidden;
  const bool gru = s.cell == Cell::gru, projects = v.w_hr.data;
  const View weight = matrix(v.w_hh, 0, gates, s.out, true);
  compute_floating(v.gates.dtype, [&]<class C>(Type<C>) {
    const Scratch<C> part(gru ? s.batch * gates : 0, op);
    each_step(s, false, [&](const RecurrentStep& t) {
      if (t.rows == 0) return;
      const View state = matrix(v.h, 0, t.rows, s.out);
      if (v.previous.data) copy_rows(v.previous, t.first, v.h, 0, t.rows, s.out, op);
      if (gru)
        multiply(state, weight, matrix(scratch_view(part.data(), v.gates), 0, t.rows, gates),
                 false);
      else
        multiply(state, weight, matrix(v.gates, t.first, t.rows, gates), true);
      const ForwardData<C> d = {v.gates.as<C>(),
                                part.data(),
                                v.c.as<C>(),
                                projects ? nullptr : v.h.as<C>(),
                                projects ? v.unprojected.as<C>() : v.output.as<C>(),
                                v.cells.as<C>(),
                                v.hidden_part.as<C>(),
                                v.b_hh.as<const C>()};
      launch_items(op, step_items<C>, t.rows * s.hidden, step_of(s, t), d);
      if (!projects) return;
      multiply(matrix(v.unprojected, t.first, t.rows, s.hidden),
               matrix(v.w_hr, 0, s.out, s.hidden, true), matrix(v.output, t.first, t.rows, s.out),
               false);
      copy_rows(v.h, 0, v.output, t.first, t.rows, s.out, op);
    });
  });
}

void backward(const RecurrentShape& s, const RecurrentBackward& v) {
  const char* const op = "recurrent_backward";
  const Index gates = gates_of(s.cell) * s.hidden;
  const bool gru = s.cell == Cell::gru, projects = v.w_hr.data;
  compute_floating(v.gates.dtype, [&]<class C>(Type<C>) {
    const Scratch<C> unprojected(projects ? s.batch * s.hidden : 0, op);
    each_step(s, true, [&](const RecurrentStep& t) {
      if (t.rows == 0) return;
      const View gh = matrix(v.grad_h, 0, t.rows, s.out);
      if (v.grad_output.data)
        launch_items(op, add_items<C>, t.rows * s.out,
                     v.grad_output.as<const C>() + t.first * s.out, v.grad_h.as<C>(),
                     t.rows * s.out);
      if (projects) {
        copy_rows(v.grad_projected, t.first, v.grad_h, 0, t.rows, s.out, op);
        multiply(gh, matrix(v.w_hr, 0, s.out, s.hidden),
                 matrix(scratch_view(unprojected.data(), v.gates), 0, t.rows, s.hidden), false);
      }
      const BackwardData<C> d = {
          v.gates.as<const C>(),    v.cells.as<const C>(),
          v.previous.as<const C>(), v.hidden_part.as<const C>(),
          v.c.as<const C>(),        projects ? unprojected.data() : v.grad_h.as<C>(),
          v.grad_c.as<C>(),         v.grad_gates.as<C>(),
          v.grad_hidden.as<C>()};
      launch_items(op, step_items_back<C>, t.rows * s.hidden, step_of(s, t), d);
      multiply(matrix(gru ? v.grad_hidden : v.grad_gates, t.first, t.rows, gates),
               matrix(v.w_hh, 0, gates, s.out), gh, gru);
    });
  });
}

}  // namespace

const RecurrentKernels recurrent_kernels = {nullptr, nullptr, forward, backward};

}  // namespace rushlight::gpu
