// `right` is read as panels of two vectors of columns, `left` as blocks of up to 14 rows; the sums
// of a block and a panel stay in registers over a slab of the depth. Either is read where it lies,
// if that is quick and happens seldom, else from a copy in the order of the tile's reading.
#include "tile_gemm.h"

#include <algorithm>
#include <utility>

#include "kernels/cpu/scratch.h"
#include "kernels/cpu/transpose.h"
#include "kernels/cpu/wide_vector.h"
#include "kernels/parallel.h"
#include "row_products.h"
#include "tile_kernel.h"

namespace rushlight {

#if defined(__x86_64__)
namespace {

using namespace tiled;

constexpr Index kDepth = 512;  // of a slab
constexpr Index kLongRow = 256;
constexpr Index kSmall = 1'000'000;           // products
constexpr Index kTaskProducts = 100'000'000;  // so that Ctrl-C is answered

template <class T>
constexpr Index kPanelColumns = kVectors * Wide<T>::kLanes;

// Groups of `wide` rows that lie next to each other, each as [depth][wide]; the last group of
// fewer, and of `width` with zeros.
template <class T>
[[gnu::target("avx512f")]] void pack_next(const T* from, Index step, Index rows, Index depth,
                                          Index wide, Index width, T* to) {
  using W = Wide<T>;
  constexpr Index n = W::kLanes;
  const auto lanes = [](Index columns) {
    return first_lanes(std::clamp<Index>(columns, 0, W::kLanes));
  };
  const __mmask16 whole0 = lanes(wide), whole1 = lanes(wide - n);
  const Index groups = (rows - 1) / wide, left = rows - groups * wide;
  const __mmask16 read0 = lanes(left), read1 = lanes(left - n), to0 = lanes(width),
                  to1 = lanes(width - n);
  for (Index k = 0; k < depth; ++k, from += step) {
    const T* x = from;
    T* o = to + k * wide;
    for (Index g = 0; g < groups; ++g, x += wide, o += wide * depth) {
      __builtin_prefetch(x + 2 * kAhead * step);
      __builtin_prefetch(x + 2 * kAhead * step + wide - 1);
      W::store(o, whole0, W::load(whole0, x));
      W::store(o + n, whole1, W::load(whole1, x + n));
    }
    T* const last = to + groups * wide * depth + k * width;
    W::store(last, to0, W::load(read0, x));
    W::store(last + n, to1, W::load(read1, x + n));
  }
}

// Rows of m, each `wide` of them as [depth][wide]; the last ones as [depth][width], with zeros.
template <class T>
void pack(const StridedMatrix<const T>& m, Index wide, Index width, T* to) {
  constexpr Index n = Wide<T>::kLanes;
  if (m.row_stride == 1) return pack_next(m.data, m.col_stride, m.rows, m.cols, wide, width, to);
  for (Index first = 0; first < m.rows; first += wide) {
    const Index used = first + wide < m.rows ? wide : width;
    for (Index i = 0; i < used; i += n)
      transpose_lanes(m.data + (first + i) * m.row_stride, m.row_stride, m.rows - first - i, m.cols,
                      to + first * m.cols + i, used, first_lanes(std::min(n, used - i)));
  }
}

template <class T>
StridedMatrix<T> some_rows(const StridedMatrix<T>& m, Index first, Index count) {
  return {m.data + first * m.row_stride, count, m.cols, m.row_stride, m.col_stride};
}
template <class T>
bool is_dense(const StridedMatrix<const T>& m) {
  return m.row_stride == 1 || m.col_stride == 1;
}
// Whether lines so far apart fall into the same few places of the nearest cache.
template <class T>
bool collides(Index stride) {
  return stride * Index(sizeof(T)) % 2048 == 0;
}

template <class T>
struct Slab {  // of the depth
  static constexpr Index lanes = Wide<T>::kLanes, wide = kPanelColumns<T>;
  static constexpr Index kChunk = 32 / Index(sizeof(T));  // blocks that the second cache holds
  const StridedMatrix<const T>&left, &right;
  const StridedMatrix<T>& out;
  const ProductOutput<T>& to;
  Index panels, blocks, height;  // of like heights, but for the last
  Index packed_from;             // panels from there on are read from `b`
  bool left_here;
  Scratch<T> b;

  Slab(const StridedMatrix<const T>& left, const StridedMatrix<const T>& right,
       const ProductOutput<T>& to)
      : left(left),
        right(right),
        out(to.out),
        to(to),
        panels((out.cols + wide - 1) / wide),
        blocks((out.rows + kRows - 1) / kRows),
        height((out.rows + blocks - 1) / blocks),
        // A partial panel is always copied, to be read whole.
        packed_from(right.col_stride == 1 && blocks <= 10 ? out.cols / wide : 0),
        left_here(left.row_stride == 1
                      ? panels <= 2 || (panels <= 4 && !collides<T>(left.col_stride))
                      : panels < fewest_panels() && !collides<T>(left.row_stride)),
        b(std::size_t((panels - packed_from) * wide * left.cols)) {}

  // For which rows are copied in the order of the tiles: of many rows that takes longer, as they
  // come from far.
  Index fewest_panels() const {
    constexpr Index kNear = 1 << 20;  // bytes
    return left.rows * left.cols * Index(sizeof(T)) <= kNear ? 3 : 8;
  }

  // Those of panels [first, last) that are copied.
  void pack_right(Index first, Index last) {
    const Index k = left.cols, begin = std::max(first, packed_from);
    if (begin >= last) return;
    const Index c = begin * wide, count = std::min(last * wide, out.cols) - c;
    pack(some_rows(transposed(right), c, count), wide, whole(count - (last - begin - 1) * wide),
         b.data() + (begin - packed_from) * wide * k);
  }
  static Index whole(Index columns) { return (columns + lanes - 1) / lanes * lanes; }

  const T* at(Index panel) const {
    return panel < packed_from ? right.data + panel * wide
                               : b.data() + (panel - packed_from) * wide * left.cols;
  }
  Index step_of(Index panel) const {  // along the depth
    return panel < packed_from ? right.row_stride : whole(std::min(wide, out.cols - panel * wide));
  }

  // Blocks [b0, b1) by panels [p0, p1).
  void multiply(Index b0, Index b1, Index p0, Index p1) const {
    const Index k = left.cols, first = b0 * height, last = std::min(out.rows, b1 * height);
    Scratch<T> a(std::size_t(left_here ? 1 : (last - first) * k));
    if (!left_here)
      pack(some_rows(left, first, last - first), height, last - (b1 - 1) * height, a.data());
    const Order order = !left_here || left.row_stride == 1 ? Order::next : Order::rows;
    const bool reads_rows = left_here && left.col_stride == 1 && left.row_stride < k + k / 4;
    const auto sizes = std::make_integer_sequence<int, int(kRows)>();
    Scratch<T> near(std::size_t(wide * (k + 1)));  // a panel, and what is not kept of others
    for (Index p = p0; p < p1; ++p) {
      const Index c = p * wide, cols = std::min(wide, out.cols - c), width = whole(cols);
      for (Index r = first; r < last; r += height) {
        const Index rows = std::min(height, last - r);
        // Where it lies, for the first block, which copies it for the others.
        const bool here = p < packed_from && r == first, copies = here && r + rows < last;
        const T* const panel = !here && p < packed_from ? near.data() : at(p);
        const bool more = p + 1 < p1;
        const Index block = (r - first) / height, step = more ? step_of(p + 1) : 0;
        // The first panel meets rows that no cache has: it fetches the next block of them instead.
        const bool fetches_rows = p == p0 && reads_rows && r + height < out.rows;
        const TileOf<T> t{left_here ? left.data + r * left.row_stride : a.data() + (r - first) * k,
                          left.row_stride,
                          left_here ? left.col_stride : rows,
                          panel,
                          here || p >= packed_from ? step_of(p) : wide,
                          k,
                          out.data + r * out.row_stride + c,
                          out.row_stride,
                          to.added.data + r * to.added.row_stride + c,
                          to.added.row_stride,
                          to.alpha,
                          to.beta,
                          first_lanes(cols - width + lanes),
                          near.data() + (copies ? 0 : wide * k),
                          copies ? wide : 0,
                          fetches_rows ? left.data + (r + height) * left.row_stride
                                       : at(more ? p + 1 : p) + k * block / (b1 - b0) * step,
                          fetches_rows ? height * left.row_stride / k : step,
                          fetches_rows ? 1 : b1 - b0};
        const Index vectors = width / lanes;
        const bool packed = !left_here && t.b_step == width && !copies;
        pick<T>(sizes, packed ? Order::packed : order, rows, vectors)(t);
      }
    }
  }

  void run() {
    const Index threads = num_threads(), all = height * wide * left.cols * blocks * panels;
    if (all < 2 * kWorthwhile) {
      pack_right(0, panels);
      multiply(0, blocks, 0, panels);
    } else if (threads > 1 && panels >= 2 * threads && all <= 8 * threads * kTaskProducts) {
      by_columns(all < 64 * kWorthwhile ? threads : 2 * threads);
    } else {
      by_rows(all, threads);
    }
  }
  // A task is some panels, which the thread copies for itself, by all rows.
  void by_columns(Index tasks) {
    parallel_for(tasks, 1, [&](Index begin, Index end) {
      for (Index task = begin; task < end; ++task) {
        const Index first = panels * task / tasks, last = panels * (task + 1) / tasks;
        pack_right(first, last);
        for (Index block = 0; block < blocks; block += kChunk)
          multiply(block, std::min(blocks, block + kChunk), first, last);
      }
    });
  }
  // A task is some rows, which stay in the second cache, by all panels; by some, if there are few.
  void by_rows(Index all, Index threads) {
    const Index k = left.cols;
    parallel_for(panels - packed_from, 4 + 16384 / (wide * k), [&](Index begin, Index end) {
      pack_right(packed_from + begin, packed_from + end);
    });
    const Index wanted = threads == 1 ? 1 : std::min(3 * threads, all / kWorthwhile);
    const Index least = std::max((blocks + kChunk - 1) / kChunk, std::min(blocks, wanted));
    const Index down = std::min(blocks, (least + threads - 1) / threads * threads);
    const Index across =
        std::min(panels, std::max((wanted + down - 1) / down, all / down / kTaskProducts + 1));
    parallel_for(across * down, 1 + kWorthwhile * across * down / all, [&](Index begin, Index end) {
      for (Index task = begin; task < end; ++task) {
        const Index i = task / across, j = task % across;
        multiply(blocks * i / down, blocks * (i + 1) / down, panels * j / across,
                 panels * (j + 1) / across);
      }
    });
  }
};

}  // namespace

template <class T>
bool tile_gemm(const StridedMatrix<const T>& left, const StridedMatrix<const T>& right,
               const ProductOutput<T>& output) {
  const auto& [out, alpha, beta, added] = output;
  if (!prefers_wide_vectors() || !is_dense(left) || !is_dense(right) || alpha == T(0) ||
      left.cols == 0)
    return false;
  if (out.col_stride != 1) {
    if (out.row_stride != 1) return false;
    return tile_gemm(transposed(right), transposed(left), transposed(output));
  }
  if (std::min(out.rows, out.cols) < 2 || (beta != T(0) && added.col_stride != 1)) return false;
  if (left.col_stride == 1 && right.row_stride == 1 && left.cols >= 32 &&
      out.rows <= (left.cols >= 128 ? 16 : 4)) {
    if (beta != T(0) && added.data != out.data)
      for (Index i = 0; i < out.rows; ++i)
        std::copy_n(added.data + i * added.row_stride, out.cols, out.data + i * out.row_stride);
    row_products(left, transposed(right), out, alpha, beta);
    return true;
  }
  // A few rows times the columns of many others: those are read as rows, where they lie, if to
  // transpose the result takes less than to copy them.
  if (left.col_stride == 1 && right.row_stride == 1 && left.cols >= kLongRow &&
      out.rows <= std::min(out.cols / 2, left.cols / 6)) {
    Scratch<T> columns(std::size_t(out.rows * out.cols));
    if (beta != T(0))
      transpose(added.data, added.row_stride, out.rows, out.cols, columns.data(), out.rows);
    tile_gemm(transposed(right), transposed(left),
              output_of<T, T>({columns.data(), out.cols, out.rows, out.rows, 1}, alpha, beta));
    transpose(columns.data(), out.rows, out.cols, out.rows, out.data, out.row_stride);
    return true;
  }
  // OpenBLAS has kernels of its own for what fits the nearest cache.
  if (right.col_stride == 1 && out.rows * out.cols * left.cols <= kSmall) return false;
  constexpr Index kSide = 8192;
  for (Index c = 0; c < out.cols; c += kSide)
    for (Index r = 0; r < out.rows; r += kSide) {
      const Index rows = std::min(kSide, out.rows - r), cols = std::min(kSide, out.cols - c);
      const Index parts = (left.cols + kDepth - 1) / kDepth;
      for (Index part = 0; part < parts; ++part) {
        const Index from = left.cols * part / parts, to = left.cols * (part + 1) / parts;
        const StridedMatrix<const T> some_left{
            left.data + r * left.row_stride + from * left.col_stride, rows, to - from,
            left.row_stride, left.col_stride};
        const StridedMatrix<const T> some_right{
            right.data + from * right.row_stride + c * right.col_stride, to - from, cols,
            right.row_stride, right.col_stride};
        const StridedMatrix<T> some_out{out.data + r * out.row_stride + c, rows, cols,
                                        out.row_stride, 1};
        const ProductOutput<T> first{
            some_out,
            alpha,
            beta,
            {added.data + r * added.row_stride + c, rows, cols, added.row_stride, 1}};
        Slab<T>(some_left, some_right, part == 0 ? first : output_of(some_out, alpha, T(1))).run();
      }
    }
  return true;
}
#else
template <class T>
bool tile_gemm(const StridedMatrix<const T>&, const StridedMatrix<const T>&,
               const ProductOutput<T>&) {
  return false;
}
#endif

template bool tile_gemm(const StridedMatrix<const float>&, const StridedMatrix<const float>&,
                        const ProductOutput<float>&);
template bool tile_gemm(const StridedMatrix<const double>&, const StridedMatrix<const double>&,
                        const ProductOutput<double>&);

}  // namespace rushlight
