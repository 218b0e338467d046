// A long line as a matrix of plan.columns->n rows and plan.rows->n columns (plan.h): groups of its
// columns are transformed and turned, then groups of its rows.
#pragma once
#include <algorithm>

#include "kernels/cpu/scratch.h"
#include "kernels/parallel.h"
#include "passes.h"

namespace rushlight::fft {

constexpr Index groups_of(Index count) { return (count + kGroup - 1) / kGroup; }

// Transforms a group of columns, [row][kGroup] in x, and turns it. It goes to `tiles`, which are
// groups of rows: [group of rows][column][kGroup].
template <class T>
void columns_to_tiles(const Plan<T>& plan, Index group, Planes<T> x, Planes<T> other,
                      Planes<T> tiles);

// take(column, count, row, rows, planes) reads some rows of columns to [row][kGroup]; put(row,
// count, j, values, planes) writes some values of the transforms of rows from [j][kGroup]: number j
// of a row is number j * plan.columns->n + row of all. Several groups take turns at either, so that
// what lies together in memory is reached at once.
template <class T, class Take, class Put>
void by_matrix(const Plan<T>& plan, Take&& take, Put&& put) {
  constexpr Index kTogether = 4, kRows = 8;
  const Index height = plan.columns->n, width = plan.rows->n;
  const Index size = groups_of(height) * kGroup * width;
  Scratch<T> between(std::size_t(2 * size));
  const Planes<T> tiles = {between.data(), between.data() + size};
  const auto each_set = [&](Index count, auto&& f) {  // of groups
    const Index groups = groups_of(count);
    const Index together = std::clamp<Index>(groups / num_threads(), 1, kTogether);
    parallel_for((groups + together - 1) / together, 1, [&](Index begin, Index end) {
      for (Index set = begin * together; set < std::min(groups, end * together); set += together)
        f(set, std::min(set + together, groups));
    });
  };
  const auto in_turns = [&](Index from, Index to, Index count, Index length, auto&& f) {
    for (Index at = 0; at < length; at += kRows)
      for (Index group = from; group < to; ++group)
        f(group, std::min(kGroup, count - group * kGroup), at, std::min(kRows, length - at));
  };
  each_set(width, [&](Index from, Index to) {
    const Index part = height * kGroup;
    Scratch<T> memory(std::size_t(2 * (to - from + 1) * part));
    const auto planes = [&](Index i) {
      return Planes<T>{memory.data() + 2 * i * part, memory.data() + (2 * i + 1) * part};
    };
    if (to * kGroup > width) memory.zero();
    in_turns(from, to, width, height, [&](Index group, Index count, Index row, Index rows) {
      take(group * kGroup, count, row, rows, planes(group - from));
    });
    for (Index group = from; group < to; ++group)
      columns_to_tiles(plan, group, planes(group - from), planes(to - from), tiles);
  });
  each_set(height, [&](Index from, Index to) {
    const Index part = width * kGroup;
    Scratch<T> memory(std::size_t(2 * part));
    Planes<T> other = {memory.data(), memory.data() + part}, made[kTogether];
    for (Index group = from; group < to; ++group) {
      const Planes<T> x = {tiles.re + group * part, tiles.im + group * part};
      const Planes<T> found = made[group - from] = run_passes(*plan.rows, kGroup, x, other);
      if (found.re != x.re) other = x;
    }
    in_turns(from, to, height, width, [&](Index group, Index count, Index j, Index values) {
      put(group * kGroup, count, j, values, made[group - from]);
    });
  });
}

}  // namespace rushlight::fft
