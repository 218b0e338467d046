// Panels of 32 columns stay in the second cache, while 32 rows at a time pass by: so results are
// written row after row. Either operand may be the left one, as the left one is seldom copied.
#include "amx_product.h"

#include <algorithm>

#include "amx.h"
#include "bfloat16_panels.h"
#include "kernels/cpu/scratch.h"
#include "kernels/parallel.h"

namespace rushlight {
namespace {

using amx::kTile;
using Index = std::int64_t;
using Pair = Bfloat16Pair;
using Source = StridedMatrix<const bfloat16>;
constexpr Index kColumns = kPairColumns, kRows = 2 * kTile, kBlock = kRows * kColumns;
constexpr Index kMostRows = 256, kFewRows = 128, kFewPanels = 8;
constexpr Index kNearBytes = 1 << 20;  // of panels, in the second cache
constexpr Index kDeep = 32;  // lots at a time, of more than kMostLots
constexpr Index kTaskProducts = 4'000'000'000;  // so that Ctrl-C is answered

Index parts(Index n, Index most) { return (n + most - 1) / most; }

// Whether tiles read rows of pairs where they lie, but for the rest of a depth, for n columns: not
// often those that begin within a line of the cache.
bool is_readable(const Source& left, Index n) {
  return left.col_stride == 1 && left.rows >= kTile &&
         (left.row_stride % (2 * kTile) == 0 || n <= kFewPanels * kColumns);
}

// About how many cycles a product with n columns takes.
Index work(const Source& left, Index n) {
  const Index packed = (is_readable(left, n) ? 0 : left.rows) + n;
  return left.cols * (parts(left.rows, kTile) * parts(n, kColumns) + packed / 2);
}

Index depth_of(Index lots) {
  return lots <= amx::kMostLots ? lots : parts(lots, parts(lots, kDeep));
}

class Product {
 public:
  Product(const Source& left, const Source& right, const Bfloat16Output& output)
      : output_(output),
        right_(transposed(right)),
        rows_of_out_(output.out.rows),
        panels_(parts(output.out.cols, kColumns)),
        pairs_(rounded_up((left.cols + 1) / 2, kTile)),
        depth_(depth_of(pairs_ / kTile)),
        in_place_(is_readable(left, output.out.cols)),
        rows_(in_place_ ? rows_of_out_ : rounded_up(rows_of_out_, kTile)),
        whole_(in_place_ ? left.cols / (2 * kTile) : pairs_ / kTile),
        // A step that does not bring all rows into the same few lines of the nearest cache.
        copied_(in_place_ ? (whole_ * kTile < pairs_ ? kTile : 0) : pairs_ + kTile),
        copy_(std::size_t(rows_ * copied_ + 1)),
        left_(in_place_ ? left.data : reinterpret_cast<const bfloat16*>(copy_.data())),
        step_(in_place_ ? left.row_stride : 2 * copied_) {
    copy_rows(left);
  }

  void run() {
    const Index longest = kTaskProducts / (kColumns * 2 * pairs_);  // panels times rows of a task
    const Index tasks = num_threads() > 1 ? 4 * num_threads() : 1;
    // Panels that serve a few rows alone are used as soon as they are packed.
    const Index near = rows_of_out_ <= kFewRows ? kNearBytes / 8 : kNearBytes;
    Index group = std::clamp<Index>(near / bytes_of_panel(), 1, panels_);
    if (rows_of_out_ < kRows * tasks) group = std::min(group, parts(panels_, tasks));
    group = parts(panels_, parts(panels_, group));
    const Index groups = parts(panels_, group), at_once = is_at_once() ? longest : kMostRows;
    const Index most = std::max(kRows, std::min(longest / group, at_once));
    const Index wanted = std::max(parts(rows_of_out_, most), parts(tasks, groups));
    const Index rows = rounded_up(parts(rows_of_out_, wanted), kRows);
    const Index blocks = parts(rows_of_out_, rows);
    Scratch<Pair> all(std::size_t(blocks > 1 ? panels_ * pairs_ * kColumns : 1));
    if (blocks > 1) pack_all(group, all.data());
    parallel_for(groups * blocks, 1 + 4'000'000 / (group * kColumns * 2 * pairs_ * rows),
                 [&](Index begin, Index end) {
                   const amx::Tiles tiles(kTile);
                   for (Index i = begin; i < end; ++i) {
                     const Index first = i % groups * group, row = i / groups * rows;
                     task(row, std::min(rows_of_out_, row + rows), first,
                          std::min(panels_, first + group), blocks > 1 ? all.data() : nullptr);
                   }
                 });
  }

 private:
  // All of it, or what is left of the depth.
  void copy_rows(const Source& left) {
    if (copied_ == 0) return;
    const Index first = in_place_ ? whole_ * 2 * kTile : 0;
    const Source rest{left.data + first, left.rows, left.cols - first, left.row_stride,
                      left.col_stride};
    parallel_for(parts(rows_of_out_, kColumns), 1 + 4096 / copied_, [&](Index begin, Index end) {
      pack_pairs(rest, begin * kColumns, std::min(rows_of_out_, end * kColumns), copied_,
                 copy_.data() + begin * kColumns * copied_);
    });
    std::fill(copy_.data() + rows_of_out_ * copied_, copy_.data() + rows_ * copied_, Pair(0));
  }
  // The row at which a tile begins: the last one begins earlier where nothing follows the rows.
  Index origin(Index row) const { return std::min(row, rows_ - kTile); }

  bool is_at_once() const { return depth_ * kTile == pairs_; }
  Index bytes_of_panel() const { return depth_ * kTile * kColumns * Index(sizeof(Pair)); }

  // Some panels of depth_ lots from lot c on, one after another.
  void pack(Index c, Index first, Index last, Pair* to) const {
    const Index at = c * 2 * kTile, pairs = std::min(depth_ * kTile, pairs_ - c * kTile);
    const Source some{right_.data + at * right_.col_stride, right_.rows,
                      std::min(2 * pairs, right_.cols - at), right_.row_stride, right_.col_stride};
    pack_panels(some, first, last, pairs, to);
  }
  // Where they are in all that is packed: the lots of a group follow each other.
  Index packed_at(Index c, Index first, Index last) const {
    return kColumns * (first * pairs_ + c * kTile * (last - first));
  }

  void pack_all(Index group, Pair* to) const {
    constexpr Index kSome = 8;  // panels at a time
    const Index pieces = parts(group, kSome), all = parts(panels_, group) * pieces;
    parallel_for(all, 1 + 512 / pairs_, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const Index first = i / pieces * group, last = std::min(panels_, first + group);
        const Index at = first + i % pieces * kSome, past = std::min(last, at + kSome);
        for (Index c = 0; at < past && c < pairs_ / kTile; c += depth_) {
          const Index lots = std::min(depth_, pairs_ / kTile - c);
          pack(c, at, past,
               to + packed_at(c, first, last) + (at - first) * lots * kTile * kColumns);
        }
      }
    });
  }

  // Rows [begin, end), and a group of panels, which lie in `packed`, or are packed here.
  void task(Index begin, Index end, Index first, Index last, const Pair* packed) const {
    const Index chunks = pairs_ / kTile, panels = last - first;
    Scratch<float> sums(
        std::size_t((is_at_once() ? 1 : panels * parts(end - begin, kRows)) * kBlock));
    Scratch<Pair> here(std::size_t(packed ? 1 : panels * depth_ * kTile * kColumns));
    for (Index c = 0; c < chunks; c += depth_) {
      const Index some = std::min(depth_, chunks - c);
      fetch_left(begin, c, some);
      if (!packed) pack(c, first, last, here.data());
      const Pair* const right = packed ? packed + packed_at(c, first, last) : here.data();
      for (Index r = begin; r < end; r += kRows) {
        const Index past = std::min(r + kRows, end);
        if (past < end) fetch_left(past, c, some);
        for (Index panel = first; panel < last; ++panel) {
          const Pair* const from = right + (panel - first) * some * kTile * kColumns;
          const bool is_last = c + depth_ >= chunks;
          const bool fetches = packed && r == begin && panel + 1 < last;
          const Index place = is_at_once() ? 0 : (r - begin) / kRows * panels + panel - first;
          float* const to = sums.data() + place * kBlock;
          const auto left = [&](Index row) -> const void* {
            return row < end ? left_ + origin(row) * step_ + 2 * c * kTile : nullptr;
          };
          const auto tail = [&](Index row) -> const void* {
            return row < end && is_last && whole_ < chunks ? copy_.data() + origin(row) * kTile
                                                           : nullptr;
          };
          const Bfloat16Rows out = rows_of(output_, r, panel * kColumns);
          amx::multiply({{left(r), left(r + kTile)},
                         {tail(r), tail(r + kTile)},
                         step_ * Index(sizeof(bfloat16)),
                         kTile * Index(sizeof(Pair)),
                         from,
                         kColumns * Index(sizeof(Pair)),
                         amx::kPanelOffsets.data(),
                         some,
                         to,
                         c > 0,
                         fetches ? from + some * kTile * kColumns : from,
                         fetches ? kColumns : 0,
                         nullptr,
                         reinterpret_cast<const char*>(out.out),
                         out.ld * Index(sizeof(bfloat16)),
                         is_last && output_.out.col_stride == 1 ? past - r : 0});
          for (Index i = r; is_last && i < past; i += kTile)
            put_sums(to + (i - r + i - origin(i)) * kColumns, output_, i, panel * kColumns,
                     std::min(kTile, past - i));
        }
      }
    }
  }
  // Some lots of 32 rows that tiles read in place, whose lines no other read has announced.
  void fetch_left(Index row, Index lot, Index lots) const {
    if (!in_place_) return;
    const bfloat16* from = left_ + row * step_ + lot * 2 * kTile;
    for (Index i = std::min(kRows, rows_of_out_ - row); i > 0; --i, from += step_)
      for (Index k = 0; k < lots; ++k) __builtin_prefetch(from + k * 2 * kTile, 0, 2);
  }

  Bfloat16Output output_;
  Source right_;  // transposed
  Index rows_of_out_, panels_, pairs_, depth_;  // lots at a time
  bool in_place_;
  Index rows_, whole_, copied_;  // that tiles may read; their lots; pairs of a copied row
  Scratch<Pair> copy_;
  const bfloat16* left_;
  Index step_;
};

}  // namespace

bool amx_product(const Source& left, const Source& right, const Bfloat16Output& output) {
  const Index m = output.out.rows, n = output.out.cols, k = left.cols;
  if (!amx::is_available() || std::max(m, n) < kTile || m * n * k < 32768) return false;
  if (work(transposed(right), m) + m * n < work(left, n))
    Product(transposed(right), transposed(left), transposed(output)).run();
  else
    Product(left, right, output).run();
  return true;
}

}  // namespace rushlight
