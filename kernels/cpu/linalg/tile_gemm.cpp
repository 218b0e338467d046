// `right` is read as panels of columns, `left` as blocks of rows; the sums of a block and a panel
// stay in registers over a slab of the depth. Either is read where it lies, if that is quick and
// happens seldom, else from a copy in the order of the tile's reading.
#include "tile_gemm.h"

#include <algorithm>
#include <utility>

#include "kernels/cpu/scratch.h"
#include "kernels/cpu/transpose.h"
#include "kernels/parallel.h"
#include "row_products.h"
#include "tiling.h"
#include "wide_tile.h"

namespace rushlight {

#if defined(__x86_64__)
namespace {

using namespace tiled;

constexpr Index kDepth = 512;  // of a slab
constexpr Index kLongRow = 256;
constexpr Index kSmall = 1'000'000;           // products
constexpr Index kTaskProducts = 100'000'000;  // so that Ctrl-C is answered

template <class T>
StridedMatrix<T> some_rows(const StridedMatrix<T>& m, Index first, Index count) {
  return {m.data + first * m.row_stride, count, m.cols, m.row_stride, m.col_stride};
}
template <class T>
bool is_dense(const StridedMatrix<const T>& m) {
  return m.row_stride == 1 || m.col_stride == 1;
}

template <class T>
struct Slab : Tiling<T> {  // of the depth
  using Base = Tiling<T>;
  using Base::is_wide, Base::left_here, Base::panels, Base::blocks, Base::height, Base::vectors,
      Base::wider_panels, Base::packed_from, Base::lanes, Base::first_of, Base::width_of,
      Base::vectors_of, Base::tile_rows, Base::chunk;
  const StridedMatrix<const T>&left, &right;
  const StridedMatrix<T>& out;
  const ProductOutput<T>& to;

  struct Copies {  // of panels, from a column on
    T* data;
    Index first;
  };

  Slab(const StridedMatrix<const T>& left, const StridedMatrix<const T>& right,
       const ProductOutput<T>& to)
      : Base(left, right), left(left), right(right), out(to.out), to(to) {}

  // Those of panels [first, last) that are copied.
  void pack_right(Index first, Index last, Copies b) const {
    for (Index begin = std::max(first, packed_from); begin < last;) {
      const Index end = begin < wider_panels ? std::min(last, wider_panels) : last;
      const Index c = first_of(begin), count = std::min(first_of(end), out.cols) - c;
      pack(some_rows(transposed(right), c, count), width_of(begin), width_of(begin),
           b.data + (c - b.first) * left.cols);
      begin = end;
    }
  }

  struct Panel {
    const T* data;
    Index step;  // along the depth
  };
  Panel panel_of(Index p, Copies b) const {
    if (p < packed_from) return {right.data + first_of(p), right.row_stride};
    return {b.data + (first_of(p) - b.first) * left.cols, width_of(p)};
  }
  // What is read after panel p, of panels up to p1: the next one, or what it will be copied from.
  struct Next {
    const T* data;
    Index step;  // of what is fetched
    Index lines, apart;  // which the tiles share
    const T* of(Index tile, Index tiles) const { return data + lines * tile / tiles * apart; }
  };
  Next after(Index p, Index p1, Copies b) const {
    const Index k = left.cols;
    if (p + 1 == panels) return {right.data, 0, 0, 0};
    if (p + 1 < p1) {
      const Panel panel = panel_of(p + 1, b);
      return {panel.data, panel.step, k, panel.step};
    }
    const T* const from = right.data + first_of(p + 1) * right.col_stride;
    if (right.row_stride == 1) return {from, width_of(p), width_of(p), right.col_stride};
    return {from, right.row_stride, k, right.row_stride};
  }

  // Blocks [b0, b1) by panels [p0, p1). The first panel meets rows that no cache has, if they are
  // far: it fetches the next ones, and the others the next panel.
  void multiply(Index b0, Index b1, Index p0, Index p1, Copies b, bool far = true) const {
    const Index k = left.cols, first = b0 * height, last = std::min(out.rows, b1 * height);
    Scratch<T> a(std::size_t(left_here ? 1 : (b1 - b0) * height * k));
    if (!left_here)
      pack(some_rows(left, first, last - first), height,
           is_wide ? height : last - (b1 - 1) * height, a.data());
    const Order order = !left_here || left.row_stride == 1 ? Order::next : Order::rows;
    const bool reads_rows = left_here && left.col_stride == 1 && left.row_stride < k + k / 4;
    const Index wide = kVectors * lanes;
    Scratch<T> near(std::size_t(wide * (k + 1)));  // a panel, and what is not kept of others
    for (Index p = p0; p < p1; ++p) {
      const Index c = first_of(p), width = width_of(p), cols = std::min(width, out.cols - c);
      const Next next = after(p, p1, b);
      const Index most = tile_rows(p), tiles = (last - first + most - 1) / most;
      for (Index r = first; r < last; r += most) {
        const Index rows = std::min(most, last - r);
        // Where it lies, for the first block, which copies it for the others.
        const bool here = p < packed_from && r == first, copies = here && r + rows < last;
        const Panel panel = !here && p < packed_from ? Panel{near.data(), wide} : panel_of(p, b);
        const Index tile = (r - first) / most;
        const bool fetches_rows = far && p == p0 && reads_rows && r + most < out.rows;
        const Index every = is_wide ? 4 : 1;
        const Index packed_at = (r - first) / height * height * k + (r - first) % height;
        const TileOf<T> t{
            left_here ? left.data + r * left.row_stride : a.data() + packed_at,
            left.row_stride,
            left_here ? left.col_stride
            : is_wide ? height
                      : rows,
            panel.data,
            panel.step,
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
            fetches_rows ? left.data + (r + most) * left.row_stride : next.of(tile, tiles),
            fetches_rows ? every * most * left.row_stride / k : next.step,
            fetches_rows ? every : tiles};
        multiply_tile(t, order, rows, vectors_of(p), copies);
      }
    }
  }
  void multiply_tile(const TileOf<T>& t, Order order, Index rows, Index count, bool copies) const {
    const auto tall = std::make_integer_sequence<int, int(kRows)>();
    if (is_wide)
      (order == Order::next ? pick_wide<T, true> : pick_wide<T, false>)(rows, count)(t);
    else
      pick<T>(tall, !left_here && t.b_step == count * lanes && !copies ? Order::packed : order,
              rows, count)(t);
  }

  void run() const {
    const Index threads = num_threads(), all = out.rows * out.cols * left.cols;
    const bool alone = threads == 1 || all < 2 * kWorthwhile;
    const bool near = is_wide && left_here && left.rows * left.cols * Index(sizeof(T)) <= kNear;
    if (!alone && panels < 2 * threads) return by_rows(all, threads);
    const Index tasks = std::max(alone                    ? 1
                                 : all < 64 * kWorthwhile ? threads
                                                          : 2 * threads,
                                 all / kTaskProducts);
    // Of many far rows each thread reads its own: by columns all would read them all.
    if (near || all < 2 * kWorthwhile ||
        (threads > 1 && !is_wide && all <= 8 * threads * kTaskProducts))
      by_columns(std::min(tasks, panels), near);
    else
      by_rows(all, threads);
  }
  // A task is some panels, which the thread copies for itself, by all rows; one panel after another
  // where the rows stay in the second cache.
  void by_columns(Index tasks, bool near) const {
    parallel_for(tasks, 1, [&](Index begin, Index end) {
      for (Index task = begin; task < end; ++task) {
        const Index p0 = panels * task / tasks, p1 = panels * (task + 1) / tasks;
        const Index most = near ? first_of(1) : first_of(p1) - first_of(std::max(p0, packed_from));
        Scratch<T> b(std::size_t(std::max<Index>(most, 0) * left.cols));
        for (Index p = p0, q; p < p1; p = q) {
          q = near ? p + 1 : p1;
          const Copies copies{b.data(), first_of(std::max(p, packed_from))};
          pack_right(p, q, copies);
          for (Index block = 0; block < blocks; block += near ? blocks : chunk())
            multiply(block, near ? blocks : std::min(blocks, block + chunk()), p, q, copies,
                     p == p0);
        }
      }
    });
  }
  // A task is some rows, which stay in the second cache, by all panels; by some, if there are few.
  void by_rows(Index all, Index threads) const {
    const Index k = left.cols, from = first_of(packed_from);
    Scratch<T> b(std::size_t((first_of(panels) - from) * k));
    const Copies copies{b.data(), from};
    parallel_for(panels - packed_from, 4 + 16384 / (vectors * lanes * k),
                 [&](Index begin, Index end) {
                   pack_right(packed_from + begin, packed_from + end, copies);
                 });
    const Index wanted = threads == 1 ? 1 : std::min(3 * threads, all / kWorthwhile);
    const Index least = std::max((blocks + chunk() - 1) / chunk(), std::min(blocks, wanted));
    const Index down = std::min(blocks, (least + threads - 1) / threads * threads);
    const Index across =
        std::min(panels, std::max((wanted + down - 1) / down, all / down / kTaskProducts + 1));
    parallel_for(across * down, 1 + kWorthwhile * across * down / all, [&](Index begin, Index end) {
      for (Index task = begin; task < end; ++task) {
        const Index i = task / across, j = task % across;
        multiply(blocks * i / down, blocks * (i + 1) / down, panels * j / across,
                 panels * (j + 1) / across, copies);
      }
    });
  }
};

}  // namespace

template <class T>
bool tile_gemm(const StridedMatrix<const T>& left, const StridedMatrix<const T>& right,
               const ProductOutput<T>& output) {
  const auto& [out, alpha, beta, added] = output;
  if (!uses_wide_vectors() || !is_dense(left) || !is_dense(right) || alpha == T(0) ||
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
  const Index across = (out.cols + kSide - 1) / kSide, down = (out.rows + kSide - 1) / kSide;
  const auto slab = [&](Index r, Index c) {
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
      const StridedMatrix<T> some_out{out.data + r * out.row_stride + c, rows, cols, out.row_stride,
                                      1};
      const ProductOutput<T> first{
          some_out,
          alpha,
          beta,
          {added.data + r * added.row_stride + c, rows, cols, added.row_stride, 1}};
      Slab<T>(some_left, some_right, part == 0 ? first : output_of(some_out, alpha, T(1))).run();
    }
  };
  // The threads share a slab, or slabs too small for that.
  const Index products = out.rows * out.cols * left.cols / (across * down);
  parallel_for(across * down, products < 2 * kWorthwhile ? 1 : across * down,
               [&](Index begin, Index end) {
                 for (; begin < end; ++begin) slab(begin % down * kSide, begin / down * kSide);
               });
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
