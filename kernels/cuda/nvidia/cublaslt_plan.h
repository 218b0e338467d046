// How cuBLASLt computes a product: its descriptors, and what its search chose.
#pragma once
#include "cublaslt.h"
#include "kernels/cuda/device.h"
#include "products.h"

namespace rushlight::gpu::cublaslt {

void check(const Functions& f, Status status, const char* call);

// All that a plan depends on, as numbers of one size.
struct Facts {
  Index rows, columns, depth, batch;
  Index left_step, right_step, out_step, left_batch, right_batch, out_batch;
  Index left_turned, right_turned, dtype, tf32, epilogue, kept_step;
  Index left_alignment, right_alignment, out_alignment, vector_alignment, kept_alignment;
};

struct Plan {
  Product product = nullptr;
  Layout a = nullptr, b = nullptr, d = nullptr;
  Answer answer = {};
  bool exists = false;  // else cuBLASLt has nothing for it
};

unsigned epilogue_of(const More& more);
// What of the epilogue lies in memory: its place is no part of a plan.
void set_operands(const Functions& f, Product product, const More& more);
Plan make_plan(const Functions& f, Handle handle, const Facts& facts, const More& more);
void destroy(const Functions& f, const Plan& plan);

}  // namespace rushlight::gpu::cublaslt
