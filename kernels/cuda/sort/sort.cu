// Sorting and selecting along lines. Every line becomes 64-bit keys with the indices they came
// from, is sorted (sort_pairs.h), and each op then reads what it needs from its sorted line.
#include "keys.h"
#include "runs.h"
#include "sort.h"

namespace rushlight::gpu {
namespace {

template <class C>
__global__ void make_keys(Lines<3> lines, Reader<C> in, bool descending, std::uint64_t* keys,
                          Index* order) {
  for (Index i = first_item(); i < lines.starts.numel * lines.length; i += stride()) {
    Index at[3];
    lines.starts.at(i / lines.length, at);
    const std::uint64_t key = sort_key(in[at[0] + i % lines.length * lines.step[0]]);
    keys[i] = descending ? ~key : key;
    order[i] = i % lines.length;
  }
}

template <class S>
__global__ void copy_lines(Lines<3> lines, const S* in, S* dense) {
  for (Index i = first_item(); i < lines.starts.numel * lines.length; i += stride()) {
    Index at[3];
    lines.starts.at(i / lines.length, at);
    dense[i] = in[at[0] + i % lines.length * lines.step[0]];
  }
}

// The first `count` of each sorted line, as the elements were, and their indices.
template <class S>
__global__ void write_sorted(Lines<3> lines, Index count, const S* dense, const Index* order,
                             S* values, Index* indices) {
  for (Index i = first_item(); i < lines.starts.numel * count; i += stride()) {
    const Index line = i / count, k = i % count, index = order[line * lines.length + k];
    Index at[3];
    lines.starts.at(line, at);
    values[at[1] + k * lines.step[1]] = dense[line * lines.length + index];
    indices[at[2] + k * lines.step[2]] = index;
  }
}

// Calls f(keys, indices) with every line of `in` sorted.
template <class F>
void with_sorted(const Lines<3>& lines, const View& in, bool descending, F f) {
  const Index n = lines.starts.numel * lines.length;
  const Scratch<std::uint64_t> keys(n, "sort");
  const Scratch<Index> order(n, "sort");
  compute_any(in.dtype, [&]<class C>(Type<C>) {
    launch_items("sort", make_keys<C>, n, lines, Reader<C>(in), descending, keys.data(),
                 order.data());
  });
  sort_pairs(keys.data(), order.data(), lines.starts.numel, lines.length);
  f(static_cast<const std::uint64_t*>(keys.data()), static_cast<const Index*>(order.data()));
}

void sort_first(const View& values, const View& indices, const View& in, int dim, bool descending,
                Index count) {
  if (in.numel == 0 || count == 0) return;
  const Lines<3> lines(dim, in, values, indices);
  with_sorted(lines, in, descending, [&](const std::uint64_t*, const Index* order) {
    dispatch_size(in.dtype, [&]<class S>(Type<S>) {
      const Scratch<S> dense(in.numel, "sort");  // the result may be the input
      launch_items("sort", copy_lines<S>, in.numel, lines, in.as<const S>(), dense.data());
      launch_items("sort", write_sorted<S>, lines.starts.numel * count, lines, count,
                   static_cast<const S*>(dense.data()), order, values.as<S>(), indices.as<Index>());
    });
  });
}

void sort(const View& values, const View& indices, const View& in, int dim, bool descending) {
  sort_first(values, indices, in, dim, descending, in.rank ? in.sizes[dim] : 1);
}

void top(const View& values, const View& indices, const View& in, int dim, bool largest, bool) {
  sort_first(values, indices, in, dim, largest, in.rank ? values.sizes[dim] : 1);
}

// The index in its sorted line that an op selects: one thread per line.
enum class Choice : int { kth, median, nanmedian };

__device__ Index first_nan(const std::uint64_t* keys, Index n) {
  Index low = 0;
  for (Index high = n; low < high;) {
    const Index middle = (low + high) / 2;
    if (keys[middle] == kNaNKey)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

template <class S>
__global__ void write_choice(Lines<3> lines, Choice choice, Index k, bool has_nan,
                             const std::uint64_t* keys, const Index* order, const S* in, S* values,
                             Index* indices) {
  for (Index line = first_item(); line < lines.starts.numel; line += stride()) {
    const std::uint64_t* own = keys + line * lines.length;
    const Index n = lines.length, numbers = has_nan ? first_nan(own, n) : n;
    Index chosen = k;
    if (choice == Choice::median)
      chosen = numbers < n ? numbers : (n - 1) / 2;
    else if (choice == Choice::nanmedian)
      chosen = numbers > 0 ? (numbers - 1) / 2 : 0;
    Index at[3];
    lines.starts.at(line, at);
    const Index index = order[line * n + chosen];
    values[at[1]] = in[at[0] + index * lines.step[0]];
    if (indices) indices[at[2]] = index;
  }
}

void choose(Choice choice, const View& values, const View& indices, const View& in, int dim,
            Index k) {
  if (values.numel == 0) return;
  const Lines<3> lines(dim, in, values, indices);
  with_sorted(lines, in, false, [&](const std::uint64_t* keys, const Index* order) {
    dispatch_size(in.dtype, [&]<class S>(Type<S>) {
      launch_items("sort", write_choice<S>, lines.starts.numel, lines, choice, k,
                   is_floating(in.dtype), keys, order, in.as<const S>(), values.as<S>(),
                   indices.as<Index>());
    });
  });
}

void kth(const View& values, const View& indices, const View& in, int dim, Index k) {
  choose(Choice::kth, values, indices, in, dim, k);
}
void median(const View& values, const View& indices, const View& in, int dim, bool ignore_nan) {
  choose(ignore_nan ? Choice::nanmedian : Choice::median, values, indices, in, dim, 0);
}

// The mode is the last of a line's longest run of equals, the lowest of several: a thread an
// element finds the run that begins there, first for the length of the longest, then for where it
// ends. A NaN equals nothing.
template <class F>
__device__ void each_run(Index lines, Index length, const std::uint64_t* keys, bool has_nan, F f) {
  for (Index i = first_item(); i < lines * length; i += stride()) {
    const Index line = i / length, first = i % length;
    const std::uint64_t* const own = keys + line * length;
    const bool is_nan = has_nan && own[first] == kNaNKey;
    if (is_nan)
      f(line, Index(1), first);
    else if (first == 0 || own[first - 1] != own[first]) {
      const Index end = run_end(own, first, length);
      f(line, end - first, end - 1);
    }
  }
}
__global__ void find_longest(Index lines, Index length, const std::uint64_t* keys, bool has_nan,
                             unsigned long long* longest) {
  each_run(lines, length, keys, has_nan, [&](Index line, Index count, Index) {
    if ((unsigned long long)(count) > longest[line])  // it only grows: many need not try
      atomicMax(longest + line, (unsigned long long)(count));
  });
}
__global__ void find_modes(Index lines, Index length, const std::uint64_t* keys, bool has_nan,
                           const unsigned long long* longest, unsigned long long* modes) {
  each_run(lines, length, keys, has_nan, [&](Index line, Index count, Index last) {
    if ((unsigned long long)(count) == longest[line])
      atomicMin(modes + line, (unsigned long long)(last));
  });
}
template <class S>
__global__ void write_modes(Lines<3> lines, const unsigned long long* modes, const Index* order,
                            const S* in, S* values, Index* indices) {
  for (Index line = first_item(); line < lines.starts.numel; line += stride()) {
    Index at[3];
    lines.starts.at(line, at);
    const Index index = order[line * lines.length + Index(modes[line])];
    values[at[1]] = in[at[0] + index * lines.step[0]];
    indices[at[2]] = index;
  }
}

void mode(const View& values, const View& indices, const View& in, int dim) {
  if (values.numel == 0) return;
  const Lines<3> lines(dim, in, values, indices);
  const Index count = lines.starts.numel, n = count * lines.length;
  const Scratch<unsigned long long> longest(count, "mode"), modes(count, "mode");
  const std::size_t bytes = std::size_t(count) * sizeof(unsigned long long);
  check(cudaMemsetAsync(longest.data(), 0, bytes, current().stream), "mode");
  check(cudaMemsetAsync(modes.data(), 0xff, bytes, current().stream), "mode");
  with_sorted(lines, in, false, [&](const std::uint64_t* keys, const Index* order) {
    const bool has_nan = is_floating(in.dtype);
    launch_items("mode", find_longest, n, count, lines.length, keys, has_nan, longest.data());
    launch_items("mode", find_modes, n, count, lines.length, keys, has_nan,
                 static_cast<const unsigned long long*>(longest.data()), modes.data());
    dispatch_size(in.dtype, [&]<class S>(Type<S>) {
      launch_items("mode", write_modes<S>, count, lines,
                   static_cast<const unsigned long long*>(modes.data()), order, in.as<const S>(),
                   values.as<S>(), indices.as<Index>());
    });
  });
}

}  // namespace

const SortKernels sort_kernels = {sort,   top,     kth,    median, mode,
                                  unique, nullptr, search, count,  histogram};

}  // namespace rushlight::gpu
