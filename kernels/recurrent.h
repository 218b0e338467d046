// Recurrent layers: one direction of one layer over a whole sequence. The rows of a step follow
// those of the step before (a packed sequence); batch sizes do not increase with the step. Note:
// everything is dense and of one dtype, float32 or float64; `rows` is the sum of
// the batch sizes, G the number of gates, and an absent operand has data == nullptr.
#pragma once
#include "view.h"

namespace rushlight {

enum class Cell : unsigned char { tanh, relu, lstm, gru };
constexpr std::int64_t gates_of(Cell c) { return c == Cell::lstm ? 4 : c == Cell::gru ? 3 : 1; }

struct RecurrentShape {
  Cell cell;
  bool reverse;  // from the last step to the first
  std::int64_t steps, batch, hidden;
  std::int64_t out;  // features of a state h: `hidden`, or what w_hr projects it to
  std::int64_t rows;
  const std::int64_t* batch_sizes;  // of each step, on the host; null: all are `batch`
  bool rounded;  // weights and inputs are numbers of bfloat16: states and gradients may be
                 // rounded to it where they are multiplied

  std::int64_t rows_of(std::int64_t step) const { return batch_sizes ? batch_sizes[step] : batch; }
};

// Where the rows of a step are, and those of the step before it in the order of the recurrence:
// row i continues row `before + i` if i < rows_before, else the initial state i.
struct RecurrentStep {
  std::int64_t first, rows, before, rows_before;
};

// Calls f(RecurrentStep) for each step in the order of the recurrence, or back through time.
template <class F>
void each_step(const RecurrentShape& s, bool back_through_time, F&& f) {
  const bool up = s.reverse == back_through_time;
  std::int64_t first = up ? 0 : s.rows;
  for (std::int64_t i = 0; i < s.steps; ++i) {
    const std::int64_t t = up ? i : s.steps - 1 - i, rows = s.rows_of(t);
    if (!up) first -= rows;
    const std::int64_t last = t + (s.reverse ? 1 : -1);
    RecurrentStep step = {first, rows, 0, 0};
    if (last >= 0 && last < s.steps) {
      const std::int64_t there = s.rows_of(last);
      step.before = s.reverse ? first + rows : first - there;
      step.rows_before = there < rows ? there : rows;
    }
    f(step);
    if (up) first += rows;
  }
}

struct RecurrentForward {
  // Where `input` is given, the kernel computes the input's part of the gates, else `gates` has it.
  std::int64_t features = 0;
  View input;  // (rows, features)
  View w_ih;  // (G hidden, features)
  View bias;  // (G hidden), or absent
  View gates;  // (rows, G hidden): in, the input's part with its bias; out, what the gates are.
               // Absent where `input` is given and nobody reads them.
  View w_hh;  // (G hidden, out)
  View b_hh;  // (G hidden), of a GRU; the bias of the others is in `gates`
  View w_hr;  // (out, hidden), or absent
  View h, c;  // (batch, out), (batch, hidden): in, the first states; out, the last ones
  View output;  // (rows, out)
  View unprojected;  // (rows, hidden), where there is w_hr
  // For backward, else absent:
  View previous;  // (rows, out): h before each step
  View cells;  // (rows, hidden): c after each step of an LSTM
  View hidden_part;  // (rows, hidden): of a GRU's third gate, the part of h with its bias
};

struct RecurrentBackward {
  View grad_output;  // (rows, out), or absent
  View gates, cells, previous, hidden_part, w_hh, w_hr;  // as forward left them
  View c;  // (batch, hidden): the first one
  View grad_h, grad_c;  // in, the gradients of the last states; out, those of the first ones
  bool needs_first;  // whether they are wanted; else grad_h may hold anything afterwards
  View grad_gates;  // (rows, G hidden): of what comes before the activations
  View grad_hidden;  // (rows, G hidden): the same for the part of h, where it differs (GRU)
  View grad_projected;  // (rows, out): of the projected h, where there is w_hr
};

struct RecurrentKernels {
  bool (*rounds)();  // whether products are quicker where `rounded`; null: never
  // Whether `forward` is quicker with the input itself, of so many features; null: never.
  bool (*takes_input)(const RecurrentShape& s, std::int64_t features, DType dtype);
  void (*forward)(const RecurrentShape& s, const RecurrentForward& v);
  void (*backward)(const RecurrentShape& s, const RecurrentBackward& v);
};

extern const RecurrentKernels cpu_recurrent;

}  // namespace rushlight
