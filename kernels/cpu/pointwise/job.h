// One pointwise call with the loop that was chosen for it: what the ways of running it share.
#pragma once
#include "blocks.h"

namespace rushlight {

inline constexpr int kMaxOperands = kMaxInputs + kMaxSaved + 1;
inline constexpr std::int64_t kFew = 64;  // up to here a scalar is repeated on the stack
inline constexpr std::int64_t kGrain = 32768;  // elements worth a second thread
inline constexpr std::int64_t kLongRow = 64;   // from here on a row is a segment of its own

// One function of elements to be run over a call: operands are the outputs, then the inputs.
struct Job {
  const PointwiseCall& call;
  PointwiseLoop loop;
  PointwiseLoop by_scalar;  // takes one element for the last operands; or null
  int outputs, operands;
  bool is_slow;  // an op computed in double, some hundred nanoseconds an element
  BlockType types[kMaxOperands];
  int scalars = 1;  // how many operands those are
  BlockType scalar_type = BlockType::real32;  // as which `by_scalar` reads them

  bool is_alone(int i) const { return by_scalar && i + scalars >= operands; }
  const Operand& operand(int i) const { return i < outputs ? call.out[i] : call.in[i - outputs]; }
};

// A call of one or two dimensions and at most kFew elements, in one step.
void run_few(const Job& job);
// Any call; a range of its elements.
void run(const Job& job);
void run_range(const Job& job, std::int64_t begin, std::int64_t end);

// Quicker ways, false where the call is not of that kind (layouts.cpp). Of more than one dimension:
// some rows whose operands are dense along the last one, or a number, one by one where they lie, as
// a bias is added; a large call whose inputs are all broadcast along the first. Of two: a large
// call where inputs are transposed. Of any: one whose inputs are all broadcast along the last.
bool run_rows(const Job& job, std::int64_t begin, std::int64_t end);
bool run_transposed(const Job& job);
bool run_repeated(const Job& job);
bool run_filled(const Job& job);

}  // namespace rushlight
