// Sorting of lines, by their keys; and the table.
#include "kernels/sort.h"

#include "kernels/cpu/interruptible.h"
#include "kernels/cpu/lines.h"
#include "kernels/cpu/scratch.h"
#include "order.h"
#include "select.h"
#include "short_lines.h"

namespace rushlight {
namespace {

void sort(const View& values, const View& indices, const View& in, int dim, bool descending) {
  if (in.numel == 0) return;
  const Lines<3> lines(dim, in, values, indices);
  const Index n = lines.length;
  with_keys(in.dtype, n, [&]<class Key>(Type<Key>) {
    dispatch_size(in.dtype, [&]<class S>(Type<S>) {
      if (n <= kShortLine)
        return each_short_line<Key>(
            lines, in, descending, [&](const Index(&at)[3], const Key*, const std::uint8_t* order) {
              for (Index i = 0; i < n; ++i) {
                const Index from = order[i];
                values.as<S>()[at[1] + i * lines.step[1]] =
                    in.as<const S>()[at[0] + from * lines.step[0]];
                indices.as<Index>()[at[2] + i * lines.step[2]] = from;
              }
            });
      each_line(lines, [&](const Index(&at)[3]) {
        const S* const x = in.as<const S>() + at[0];
        S* const sorted = values.as<S>() + at[1];
        Index* const written = indices.as<Index>() + at[2];
        const bool in_place = lines.step[2] == 1;
        Scratch<Key> keys(static_cast<std::size_t>(n));
        Scratch<Index> held(static_cast<std::size_t>(in_place ? 0 : n));
        Index* const order = in_place ? written : held.data();
        read_keys(in.dtype, x, lines.step[0], n, descending, keys.data());
        stable_order(keys.data(), n, order);
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
