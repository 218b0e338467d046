// 1024 of the depth of 256 rows stay in the second cache, while the panels of 32 columns pass by
// and are fetched ahead. Either operand may be the left one, as the left one is seldom copied.
#include "amx_product.h"

#include <algorithm>

#include "amx.h"
#include "bfloat16_panels.h"
#include "bfloat16_sums.h"
#include "kernels/cpu/scratch.h"
#include "kernels/parallel.h"

namespace rushlight {
namespace {

using amx::kTile;
using Index = std::int64_t;
using Pair = Bfloat16Pair;
using Source = StridedMatrix<const bfloat16>;
constexpr Index kColumns = kPairColumns, kRows = 2 * kTile, kBlock = kRows * kColumns;
constexpr Index kMostRows = 256, kMostPanels = 32;
constexpr Index kNearBytes = 128 << 10, kFewPanels = 8, kLongRow = 64;
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

class Product {
 public:
  Product(const Source& left, const Source& right, const Bfloat16Output& output)
      : output_(output),
        right_(transposed(right)),
        rows_of_out_(output.out.rows),
        panels_(parts(output.out.cols, kColumns)),
        pairs_(rounded_up((left.cols + 1) / 2, kTile)),
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
    const Index most = std::clamp(longest / kRows * kRows, kRows, kMostRows);
    const Index rows = rounded_up(parts(rows_of_out_, parts(rows_of_out_, most)), kRows);
    const Index blocks = parts(rows_of_out_, rows);
    // Panels that are packed where they are used stay in the second cache.
    Index wanted =
        blocks == 1 ? kNearBytes / (pairs_ * kColumns * Index(sizeof(Pair))) : kMostPanels;
    if (num_threads() > 1) wanted = std::min(wanted, panels_ * blocks / (4 * num_threads()));
    const Index group = std::clamp<Index>(std::min(wanted, longest / rows), 1, kMostPanels);
    const Index groups = parts(panels_, group);
    const auto pack = [&](Index begin, Index end, Pair* to) {
      pack_panels(right_, begin, end, pairs_, to);
    };
    Scratch<Pair> all(std::size_t(blocks > 1 ? panels_ * pairs_ * kColumns : 1));
    if (blocks > 1)
      parallel_for(panels_, 1 + 4096 / pairs_, [&](Index begin, Index end) {
        pack(begin, end, all.data() + begin * pairs_ * kColumns);
      });
    parallel_for(
        groups * blocks, 1 + 4'000'000 / (group * kColumns * 2 * pairs_ * rows),
        [&](Index begin, Index end) {
          const amx::Tiles tiles(kTile);
          for (Index i = begin; i < end; ++i) {
            const Index first = i % groups * group, last = std::min(panels_, first + group);
            const Index row = i / groups * rows;
            Scratch<Pair> some(std::size_t(blocks > 1 ? 1 : (last - first) * pairs_ * kColumns));
            fetch_left(row, 0, std::min(pairs_ / kTile, amx::kMostLots));
            if (blocks == 1) pack(first, last, some.data());
            task(row, std::min(rows_of_out_, row + rows), first, last,
                 blocks > 1 ? all.data() + first * pairs_ * kColumns : some.data());
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

  // Rows [begin, end), and some panels, which lie at `right`.
  void task(Index begin, Index end, Index first, Index last, const Pair* right) const {
    const Index chunks = pairs_ / kTile, depth = parts(chunks, parts(chunks, amx::kMostLots));
    const Index lots = parts(end - begin, kRows), lines = parts(2 * kTile, lots);
    const bool at_once = depth == chunks;
    Scratch<float> sums(std::size_t((at_once ? 1 : (last - first) * lots) * kBlock));
    for (Index c = 0; c < chunks; c += depth)
      for (Index panel = first; panel < last; ++panel) {
        const Pair* const from = right + ((panel - first) * pairs_ + c * kTile) * kColumns;
        const Index some = std::min(depth, chunks - c);
        const bool is_last = c + depth >= chunks, more = panel + 1 < last;
        for (Index r = begin; r < end; r += kRows) {
          const Index lot = (r - begin) / kRows, past = std::min(r + kRows, end);
          float* const to = sums.data() + (at_once ? 0 : (panel - first) * lots + lot) * kBlock;
          const auto left = [&](Index row) -> const void* {
            return row < end ? left_ + origin(row) * step_ + 2 * c * kTile : nullptr;
          };
          const auto tail = [&](Index row) -> const void* {
            return row < end && is_last && whole_ < chunks ? copy_.data() + origin(row) * kTile
                                                           : nullptr;
          };
          if (is_last) fetch(r, past, panel);
          if (panel == first && past < end) fetch_left(past, c, some);
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
                         more ? from + (pairs_ * kColumns + lot * some * lines * kTile) : from,
                         more ? lines : 0});
          for (Index i = r; is_last && i < past; i += kTile)
            output_.put(to + (i - r + i - origin(i)) * kColumns, i, panel * kColumns,
                        std::min(kTile, past - i));
        }
      }
  }
  // Some lots of 32 rows that tiles read in place, whose lines no other read has announced.
  void fetch_left(Index row, Index lot, Index lots) const {
    if (!in_place_) return;
    const bfloat16* from = left_ + row * step_ + lot * 2 * kTile;
    for (Index i = std::min(kRows, rows_of_out_ - row); i > 0; --i, from += step_)
      for (Index k = 0; k < lots; ++k) __builtin_prefetch(from + k * 2 * kTile);
  }
  // Rows of a large result, each of which lies in a page of its own.
  void fetch(Index begin, Index end, Index panel) const {
    const Bfloat16Rows to = output_.rows(begin, panel * kColumns);
    if (output_.out.col_stride != 1 || to.ld < kLongRow) return;
    for (Index i = 0; i < end - begin; ++i) __builtin_prefetch(to.out + i * to.ld, 1);
  }

  Bfloat16Output output_;
  Source right_;  // transposed
  Index rows_of_out_, panels_, pairs_;
  bool in_place_;
  Index rows_, whole_, copied_;  // that tiles may read; their lots; pairs of a copied row
  Scratch<Pair> copy_;
  const bfloat16* left_;
  Index step_;
};

}  // namespace

bool amx_product(const Source& left, const Source& right, const StridedMatrix<bfloat16>& out,
                 float alpha, float beta) {
  const Index m = out.rows, n = out.cols, k = left.cols;
  if (!amx::is_available() || std::max(m, n) < kTile || m * n * k < 32768) return false;
  if (work(transposed(right), m) + m * n < work(left, n))
    Product(transposed(right), transposed(left), {transposed(out), alpha, beta}).run();
  else
    Product(left, right, {out, alpha, beta}).run();
  return true;
}

}  // namespace rushlight
