// Selection along lines: top-k, k-th value, median, mode. Ties are resolved by the same standard
// algorithms, in the same cases, as torch's, so the indices are the same with libstdc++.
#include "select.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/cpu/interruptible.h"
#include "kernels/cpu/lines.h"
#include "order.h"

namespace rushlight {
namespace {

template <class C>
struct Entry {
  C value;
  std::int64_t at;
};
// What Ctrl-C is checked by: in long lines each comparison counts, which takes half of its time.
struct NotCounted {
  void done(std::int64_t) {}
};
constexpr std::int64_t kLongLine = 1 << 18;

template <class Counter>
struct Ascending {
  Counter* counter;
  template <class C>
  static bool before(C a, C b) {
    return ((a == a) & (b != b)) | (a < b);
  }
  template <class C>
  bool operator()(const Entry<C>& a, const Entry<C>& b) const {
    counter->done(4);
    return before(a.value, b.value);
  }
};
template <class Counter>
struct Descending {
  Counter* counter;
  template <class C>
  static bool before(C a, C b) {
    return ((a != a) & (b == b)) | (a > b);
  }
  template <class C>
  bool operator()(const Entry<C>& a, const Entry<C>& b) const {
    counter->done(4);
    return before(a.value, b.value);
  }
};

// Calls f with what to give to comparisons in a line of n.
template <class F>
void with_counter(std::size_t n, F f) {
  Interruptible counted;
  NotCounted not_counted;
  std::int64_t(n) > kLongLine ? f(&counted) : f(&not_counted);
}

// Calls select(entries, results): entries in the order of the line, results to be written.
template <class Select>
void lines_of_entries(const View& values, const View& indices, const View& in, int dim,
                      Select&& select) {
  if (values.numel == 0) return;
  const Lines<3> lines(dim, in, values, indices);
  const std::int64_t n = lines.length;
  dispatch_all(in.dtype, [&]<class T>(Type<T>) {
    each_line(lines, [&](const auto& at) {
      std::vector<Entry<Compute<T>>> entries(static_cast<std::size_t>(n));
      const T* const x = in.as<const T>() + at[0];
      serial_for(n, [&](std::int64_t i, std::int64_t end) {
        for (; i < end; ++i)
          entries[static_cast<std::size_t>(i)] = {load(x + i * lines.step[0]), i};
      });
      std::int64_t written = 0;
      select(entries, [&](const Entry<Compute<T>>& e) {
        store(values.as<T>() + at[1] + written * lines.step[1], e.value);
        indices.as<std::int64_t>()[at[2] + written * lines.step[2]] = e.at;
        ++written;
      });
    });
  });
}

// Moves the entries that an ascending order has at [first, last) there, in that order, if the line
// is short and no two are equal: then every algorithm chooses the same. False: nothing was done.
template <class C>
bool ranked(std::vector<Entry<C>>& entries, std::int64_t first, std::int64_t last) {
  const std::size_t n = entries.size();
  if (n < 8 || n > kFewKeys) return false;
  std::vector<SortKey<C>> keys(n), ranks;
  for (std::size_t i = 0; i < n; ++i) keys[i] = sort_key(&entries[i].value);
  if (!rank_keys(keys, ranks)) return false;
  std::vector<Entry<C>> found(std::size_t(last - first));
  for (std::size_t i = 0; i < n; ++i)
    if (const auto at = std::int64_t(ranks[i]); at >= first && at < last)
      found[std::size_t(at - first)] = entries[i];
  std::copy(found.begin(), found.end(), entries.begin() + first);
  return true;
}

// Whether one of the 64 comes before the worst that was chosen.
template <class Before, class T>
CLONES bool any_before(const T* x, Compute<T> worst) {
  int any = 0;
  for (int i = 0; i < 64; ++i) any |= Before::before(load(x + i), worst);
  return any != 0;
}

// The first k of a dense line: a heap of the best so far, as std::partial_sort has it, so that ties
// come out alike; but most of the line is only compared with the worst of them, in vectors.
template <class T, class Before>
void partial_sort(const T* x, std::int64_t n, std::vector<Entry<Compute<T>>>& heap, std::int64_t k,
                  Before before) {
  heap.resize(std::size_t(k + 1));
  for (std::int64_t i = 0; i < k; ++i) heap[std::size_t(i)] = {load(x + i), i};
  std::make_heap(heap.begin(), heap.end() - 1, before);
  for (std::int64_t i = k; i < n;) {
    const std::int64_t end = std::min(n, i + 64);
    if (end - i == 64 && !any_before<Before>(x + i, heap[0].value)) {
      i = end;
      before.counter->done(64);
      continue;
    }
    for (; i < end; ++i) {
      heap.back() = {load(x + i), i};
      if (before(heap.back(), heap[0])) std::pop_heap(heap.begin(), heap.end(), before);
    }
  }
  std::sort_heap(heap.begin(), heap.end() - 1, before);
}

template <class Entries, class Before>
void select_top(Entries& entries, std::int64_t k, bool sorted, Before before) {
  const auto begin = entries.begin(), end = entries.end();
  if (k * 64 <= std::int64_t(entries.size())) {
    std::partial_sort(begin, begin + k, end, before);
  } else {
    std::nth_element(begin, begin + k - 1, end, before);
    if (sorted) std::sort(begin, begin + k - 1, before);
  }
}

}  // namespace

void top(const View& values, const View& indices, const View& in, int dim, bool largest,
         bool sorted) {
  const std::int64_t k = in.rank ? values.sizes[dim] : 1;
  const auto ordered = [&](std::int64_t n, auto&& f) {
    with_counter(std::size_t(n), [&]<class C>(C* counter) {
      largest ? f(Descending<C>{counter}) : f(Ascending<C>{counter});
    });
  };
  if (in.rank && in.strides[dim] == 1 && k > 0 && k * 64 <= in.sizes[dim]) {
    const Lines<3> lines(dim, in, values, indices);
    return dispatch_all(in.dtype, [&]<class T>(Type<T>) {
      each_line(lines, [&](const auto& at) {
        std::vector<Entry<Compute<T>>> heap;
        ordered(lines.length, [&](auto before) {
          partial_sort(in.as<const T>() + at[0], lines.length, heap, k, before);
        });
        for (std::int64_t i = 0; i < k; ++i) {
          store(values.as<T>() + at[1] + i * lines.step[1], heap[std::size_t(i)].value);
          indices.as<std::int64_t>()[at[2] + i * lines.step[2]] = heap[std::size_t(i)].at;
        }
      });
    });
  }
  lines_of_entries(values, indices, in, dim, [&](auto& entries, auto&& write) {
    const auto n = static_cast<std::int64_t>(entries.size());
    if (ranked(entries, largest ? n - k : 0, largest ? n : k)) {
      for (std::int64_t i = 0; i < k; ++i)
        write(entries[static_cast<std::size_t>(largest ? n - 1 - i : i)]);
      return;
    }
    ordered(std::int64_t(entries.size()),
            [&](auto before) { select_top(entries, k, sorted, before); });
    for (std::int64_t i = 0; i < k; ++i) write(entries[static_cast<std::size_t>(i)]);
  });
}

void kth(const View& values, const View& indices, const View& in, int dim, std::int64_t k) {
  lines_of_entries(values, indices, in, dim, [&](auto& entries, auto&& write) {
    if (!ranked(entries, k, k + 1))
      with_counter(entries.size(), [&]<class C>(C* counter) {
        std::nth_element(entries.begin(), entries.begin() + k, entries.end(),
                         Ascending<C>{counter});
      });
    write(entries[static_cast<std::size_t>(k)]);
  });
}

void median(const View& values, const View& indices, const View& in, int dim, bool ignore_nan) {
  lines_of_entries(values, indices, in, dim, [&](auto& entries, auto&& write) {
    const auto is_nan = [](const auto& e) { return e.value != e.value; };
    auto n = static_cast<std::int64_t>(entries.size());
    if (ignore_nan) {
      n -= std::count_if(entries.begin(), entries.end(), is_nan);
    } else if (const auto nan = std::find_if(entries.begin(), entries.end(), is_nan);
               nan != entries.end()) {
      return write(*nan);
    }
    const auto middle = entries.begin() + std::max<std::int64_t>(0, (n - 1) / 2);
    const std::int64_t at = middle - entries.begin();
    if (!ranked(entries, at, at + 1))
      with_counter(entries.size(), [&]<class C>(C* counter) {
        std::nth_element(entries.begin(), middle, entries.end(), Ascending<C>{counter});
      });
    write(*middle);
  });
}

void mode(const View& values, const View& indices, const View& in, int dim) {
  lines_of_entries(values, indices, in, dim, [&](auto& entries, auto&& write) {
    Interruptible interruptible;
    std::stable_sort(entries.begin(), entries.end(), Ascending<Interruptible>{&interruptible});
    std::size_t best = 0, longest = 0, run = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      ++run;
      if (i + 1 < entries.size() && entries[i].value == entries[i + 1].value) continue;
      if (run > longest) {
        longest = run;
        best = i;
      }
      run = 0;
    }
    write(entries[best]);
  });
}

}  // namespace rushlight
