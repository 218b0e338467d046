// Matrix products: cuBLASLt's where it is there and takes the operands, else by a kernel of our
// own, which is also that of integers. A block computes a tile of kTile x kTile of the result
// with 16 x 16 threads of 4 x 4 elements each; tiles of both operands go through shared memory,
// kDepth columns at a time. 16-bit floats are read as float and summed in float.
#include "kernels/cuda/elements.h"
#include "kernels/cuda/families.h"
#include "kernels/cuda/nvidia/products.h"
#include "kernels/cuda/runtime/launch.h"

namespace rushlight::gpu {
namespace {

constexpr int kTile = 64, kDepth = 16, kSide = 16, kOwn = kTile / kSide;

struct Matrices {
  Index batch, rows, columns, depth;
  Index left[3], right[3], out[3];  // strides: batch, row, column
};

template <class C>
__device__ C multiply_add(C sum, C a, C b) {
  if constexpr (std::is_integral_v<C>)
    return C(std::uint64_t(sum) + std::uint64_t(a) * std::uint64_t(b));
  else
    return sum + a * b;
}

template <class C>
__global__ void multiply_tiles(Matrices m, Reader<C> left, Reader<C> right, Reader<C> before,
                               Writer<C> out, C alpha, C beta) {
  C* left_tile = shared_memory<C>();  // [kDepth][kTile + 1]
  C* right_tile = left_tile + kDepth * (kTile + 1);
  const int t = threadIdx.x, x = t % kSide, y = t / kSide;
  const Index row = Index(blockIdx.y) * kTile, column = Index(blockIdx.x) * kTile;
  // Loads go along the operand's dense dimension, so that a warp reads neighbours.
  const bool left_along = m.left[2] == 1, right_along = m.right[2] == 1;
  for (Index b = blockIdx.z; b < m.batch; b += gridDim.z) {
    C sum[kOwn][kOwn] = {};
    for (Index k0 = 0; k0 < m.depth; k0 += kDepth) {
      for (int i = t; i < kTile * kDepth; i += kThreads) {
        const int r = left_along ? i / kDepth : i % kTile, k = left_along ? i % kDepth : i / kTile;
        const bool inside = row + r < m.rows && k0 + k < m.depth;
        left_tile[k * (kTile + 1) + r] =
            inside ? left[b * m.left[0] + (row + r) * m.left[1] + (k0 + k) * m.left[2]] : C(0);
      }
      for (int i = t; i < kTile * kDepth; i += kThreads) {
        const int c = right_along ? i % kTile : i / kDepth,
                  k = right_along ? i / kTile : i % kDepth;
        const bool inside = column + c < m.columns && k0 + k < m.depth;
        right_tile[k * (kTile + 1) + c] =
            inside ? right[b * m.right[0] + (k0 + k) * m.right[1] + (column + c) * m.right[2]]
                   : C(0);
      }
      __syncthreads();
      for (int k = 0; k < kDepth; ++k) {
        C a[kOwn], c[kOwn];
        for (int i = 0; i < kOwn; ++i) {
          a[i] = left_tile[k * (kTile + 1) + y + i * kSide];
          c[i] = right_tile[k * (kTile + 1) + x + i * kSide];
        }
        for (int i = 0; i < kOwn; ++i)
          for (int j = 0; j < kOwn; ++j) sum[i][j] = multiply_add(sum[i][j], a[i], c[j]);
      }
      __syncthreads();
    }
    for (int i = 0; i < kOwn; ++i)
      for (int j = 0; j < kOwn; ++j) {
        const Index r = row + y + i * kSide, c = column + x + j * kSide;
        if (r >= m.rows || c >= m.columns) continue;
        const Index at = b * m.out[0] + r * m.out[1] + c * m.out[2];
        const C scaled = multiply_add(C(0), alpha, sum[i][j]);
        out.set(at, beta == C(0) ? scaled : multiply_add(scaled, beta, before[at]));
      }
  }
}

void matmul(const View& left, const View& right, const View& out, Scalar alpha, Scalar beta) {
  if (out.numel == 0) return;
  Matrices m = {out.sizes[0], out.sizes[1], out.sizes[2], left.sizes[2], {}, {}, {}};
  for (int d = 0; d < 3; ++d) {
    m.left[d] = left.strides[d];
    m.right[d] = right.strides[d];
    m.out[d] = out.strides[d];
  }
  if (is_floating(out.dtype) && left.sizes[2] > 0 && alpha.as_double() != 0 &&
      multiply_by_library(left, right, out, alpha.as_double(), beta.as_double()))
    return;
  if (alpha.as_double() == 0) m.depth = 0;  // a NaN of an operand is not read then, as in BLAS
  const auto tiles = [](Index n) { return (n + kTile - 1) / kTile; };
  const Index deep = m.batch < 65535 ? m.batch : 65535;
  compute_any(out.dtype, [&]<class C>(Type<C>) {
    // Rows beyond the grid's height are done in strips.
    for (Index first = 0; first < m.rows; first += Index(65535) * kTile) {
      Matrices strip = m;
      strip.rows = m.rows - first < Index(65535) * kTile ? m.rows - first : Index(65535) * kTile;
      View a = left, o = out;
      const auto move = [&](View& v) {
        v.data = v.as<char>() + first * v.strides[1] * Index(item_size(v.dtype));
      };
      move(a);
      move(o);
      launch("matmul", multiply_tiles<C>,
             dim3(unsigned(tiles(m.columns)), unsigned(tiles(strip.rows)), unsigned(deep)),
             kThreads, 2 * kDepth * (kTile + 1) * sizeof(C), strip, Reader<C>(a), Reader<C>(right),
             Reader<C>(o), Writer<C>(o), alpha.to<C>(), beta.to<C>());
    }
  });
}

bool matmul_bias(const View& left, const View& right, const View& bias, const View& out) {
  return multiply_by_library(left, right, out, 1, 0, &bias);
}

}  // namespace

const MatmulKernels matmul_kernels = {matmul, matmul_bias};

}  // namespace rushlight::gpu
