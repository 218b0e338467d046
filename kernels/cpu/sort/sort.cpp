// Sorting of lines, by their keys; and the table.
#include "kernels/sort.h"

#include <optional>

#include "kernels/cpu/interruptible.h"
#include "kernels/cpu/lines.h"
#include "kernels/cpu/scratch.h"
#include "order.h"
#include "select.h"

namespace rushlight {
namespace {

void sort(const View& values, const View& indices, const View& in, int dim, bool descending) {
  if (in.numel == 0) return;
  const Lines<3> lines(dim, in, values, indices);
  const Index n = lines.length;
  with_keys(in.dtype, n, [&]<class Key>(Type<Key>) {
    dispatch_size(in.dtype, [&]<class S>(Type<S>) {
      each_line(lines, [&](const Index(&at)[3]) {
        const S* const x = in.as<const S>() + at[0];
        S* const sorted = values.as<S>() + at[1];
        Index* const written = indices.as<Index>() + at[2];
        const bool in_place = lines.step[2] == 1;
        Key few_keys[kTinyLine];
        Index few_held[kTinyLine];
        std::optional<Scratch<Key>> all_keys;
        std::optional<Scratch<Index>> all_held;
        const auto size = static_cast<std::size_t>(n);
        Key* const keys = n <= kTinyLine ? few_keys : all_keys.emplace(size).data();
        Index* const order = in_place         ? written
                             : n <= kTinyLine ? few_held
                                              : all_held.emplace(size).data();
        read_keys(in.dtype, x, lines.step[0], n, descending, keys);
        stable_order(keys, n, order);
        serial_for(n, [&](Index i, Index end) {
          if (lines.step[0] == 1 && lines.step[1] == 1)
            for (Index k = i; k < end; ++k) sorted[k] = x[order[k]];
          else
            for (Index k = i; k < end; ++k) sorted[k * lines.step[1]] = x[order[k] * lines.step[0]];
          for (Index k = i; k < end && !in_place; ++k) written[k * lines.step[2]] = order[k];
        });
      });
    });
  });
}

}  // namespace
}  // namespace rushlight

const rushlight::SortKernels rushlight::cpu_sort = {sort,   top,  kth,    median, mode,
                                                    unique, runs, search, count,  histogram};
