// Products of floats that are numbers of bfloat16, or may be rounded to such, in AMX tiles.
#pragma once
#include "bfloat16_panels.h"
#include "gemm.h"

namespace rushlight {

// out (m x n) = alpha * left * right + beta * out; out is not read where beta is 0. False where
// the processor has no tiles or the shape does not suit: then nothing was done.
bool rounded_gemm(std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                  Matrix<const float> left, Matrix<const float> right, float beta,
                  Matrix<float> out);

// m rows of k floats as rows of `pairs`, rounded; zeros up to a multiple of 32 rows, and of
// `pairs`. Where amx::is_available().
void pack_rounded(Matrix<const float> rows, std::int64_t m, std::int64_t k, std::int64_t pairs,
                  Bfloat16Pair* to);

// Columns [first, first + 32) of `right`, of which it has n and k rows, as [pair][32], rounded;
// zeros where there are none.
void pack_panel(Matrix<const float> right, std::int64_t first, std::int64_t n, std::int64_t k,
                std::int64_t pairs, Bfloat16Pair* to);

// out (m x n) = alpha * rows * panel + beta * out, for rows of `pairs` as pack_rounded leaves them
// and n <= 32 columns as [pair][32]. With amx::Tiles(amx::kTile) alive.
void multiply_panel(const Bfloat16Pair* rows, std::int64_t m, std::int64_t pairs,
                    const Bfloat16Pair* panel, std::int64_t n, float alpha, float beta,
                    Matrix<float> out);

}  // namespace rushlight
