// Reading and writing at positions that other tensors name. A thread takes one element; where
// results of one place add up, a thread takes a whole line of them in order, so that sums do not
// depend on chance. An index out of range is noted and taken as 0.
#include "elements.h"
#include "families.h"
#include "launch.h"

namespace rushlight::gpu {
namespace {

// The positions of an index list, and what lies behind each of them.
struct IndexJob {
  int count;
  Index sizes[kMaxRank], self_strides[kMaxRank];  // of the indexed dimensions
  const Index* index[kMaxRank];
  Strided<kMaxRank> positions;  // offsets in each index tensor
  Strided<1> others;            // of a position, in the other operand
  Strided<2> rest;              // of the dimensions behind, in self and in the other
};

IndexJob job_of(const View& self, const View& other, const IndexList& list) {
  IndexJob job = {};
  job.count = list.count;
  const View& first = list.of[0];
  for (int k = 0; k < list.count; ++k) {
    job.sizes[k] = self.sizes[k];
    job.self_strides[k] = self.strides[k];
    job.index[k] = list.of[k].as<const Index>();
  }
  for (int d = first.rank - 1; d >= 0; --d) {
    Index steps[kMaxRank] = {};
    for (int k = 0; k < list.count; ++k) steps[k] = list.of[k].strides[d];
    for (int k = list.count; k < kMaxRank; ++k) steps[k] = steps[0];
    job.positions.add_array(first.sizes[d], steps);
    job.others.add(first.sizes[d], other.strides[d]);
  }
  for (int d = self.rank - 1; d >= list.count; --d)
    job.rest.add(self.sizes[d], self.strides[d], other.strides[d - list.count + first.rank]);
  return job;
}

// The offset in self of position i; negative indices count from the end.
__device__ Index self_offset(const IndexJob& job, Index i, Note* note) {
  Index at[kMaxRank], offset = 0;
  job.positions.at(i, at);
  for (int k = 0; k < job.count; ++k) {
    const Index value = job.index[k][at[k]], size = job.sizes[k];
    if (value < -size || value >= size) {
      leave_note(note, Noted::index, value, size);
      continue;
    }
    offset += (value < 0 ? value + size : value) * job.self_strides[k];
  }
  return offset;
}

__global__ void find_bad_index(IndexJob job, unsigned long long* first) {
  for (Index i = first_item(); i < job.positions.numel; i += stride()) {
    Index at[kMaxRank];
    job.positions.at(i, at);
    for (int k = 0; k < job.count; ++k) {
      const Index value = job.index[k][at[k]];
      // Ordered by tensor first, as the error names the first bad one of the first tensor.
      if (value < -job.sizes[k] || value >= job.sizes[k])
        atomicMin(first, (unsigned long long)(k * job.positions.numel + i));
    }
  }
}

// Waits for the device, so only where every call waits anyway.
BadIndex check_indices(const IndexJob& job) {
  if (!blocking() || job.positions.numel == 0) return {};
  const Scratch<unsigned long long> first(1, "index");
  check(cudaMemsetAsync(first.data(), 0xff, sizeof(unsigned long long), current().stream), "index");
  launch_items("index", find_bad_index, job.positions.numel, job, first.data());
  const auto found = static_cast<Index>(fetch(first.data(), "index"));
  if (found < 0) return {};
  const int which = int(found / job.positions.numel);
  Index at[kMaxRank];
  job.positions.at(found % job.positions.numel, at);
  return {which, fetch(job.index[which] + at[which], "index"), job.sizes[which]};
}

template <class S>
__global__ void get_items(IndexJob job, S* out, const S* self, Note* note) {
  for (Index i = first_item(); i < job.positions.numel * job.rest.numel; i += stride()) {
    Index other[1], rest[2];
    job.others.at(i / job.rest.numel, other);
    job.rest.at(i % job.rest.numel, rest);
    out[other[0] + rest[1]] = self[self_offset(job, i / job.rest.numel, note) + rest[0]];
  }
}

template <class S>
__global__ void put_items(IndexJob job, S* self, const S* values, Note* note) {
  for (Index i = first_item(); i < job.positions.numel * job.rest.numel; i += stride()) {
    Index other[1], rest[2];
    job.others.at(i / job.rest.numel, other);
    job.rest.at(i % job.rest.numel, rest);
    self[self_offset(job, i / job.rest.numel, note) + rest[0]] = values[other[0] + rest[1]];
  }
}

template <class C>
__device__ C combined(C a, C b, ScatterMode mode, bool is_bool) {
  if (is_bool && mode == ScatterMode::add) return C(a != C(0) || b != C(0));
  switch (mode) {
    case ScatterMode::add:
      if constexpr (std::is_integral_v<C>)
        return C(std::uint64_t(a) + std::uint64_t(b));
      else
        return a + b;
    case ScatterMode::multiply:
      if constexpr (std::is_integral_v<C>)
        return C(std::uint64_t(a) * std::uint64_t(b));
      else
        return a * b;
    case ScatterMode::largest: return b > a || b != b ? b : a;
    case ScatterMode::smallest: return b < a || b != b ? b : a;
    default: return b;
  }
}

// One thread for each element behind a position; it adds all positions in their order.
template <class C>
__global__ void add_items(IndexJob job, Writer<C> self, Reader<C> before, Reader<C> values,
                          Note* note) {
  for (Index r = first_item(); r < job.rest.numel; r += stride()) {
    Index rest[2];
    job.rest.at(r, rest);
    for (Index i = 0; i < job.positions.numel; ++i) {
      Index other[1];
      job.others.at(i, other);
      const Index at = self_offset(job, i, note) + rest[0];
      self.set(at, combined(before[at], values[other[0] + rest[1]], ScatterMode::add,
                            before.dtype == DType::boolean));
    }
  }
}

BadIndex get(const View& out, const View& self, const IndexList& list) {
  const IndexJob job = job_of(self, out, list);
  if (const BadIndex bad = check_indices(job); bad.which >= 0) return bad;
  dispatch_size(out.dtype, [&]<class S>(Type<S>) {
    launch_items("index", get_items<S>, out.numel, job, out.as<S>(), self.as<const S>(),
                 current().note);
  });
  return {};
}

BadIndex put(const View& self, const View& values, const IndexList& list, bool accumulate) {
  const IndexJob job = job_of(self, values, list);
  if (const BadIndex bad = check_indices(job); bad.which >= 0) return bad;
  if (values.numel == 0) return {};
  if (!accumulate) {
    dispatch_size(self.dtype, [&]<class S>(Type<S>) {
      launch_items("index_put_", put_items<S>, job.positions.numel * job.rest.numel, job,
                   self.as<S>(), values.as<const S>(), current().note);
    });
    return {};
  }
  compute_any(self.dtype, [&]<class C>(Type<C>) {
    launch_items("index_put_", add_items<C>, job.rest.numel, job, Writer<C>(self), Reader<C>(self),
                 Reader<C>(values), current().note);
  });
  return {};
}

// Lines of the index along `dim`, with offsets in index, self and the other operand.
Lines<3> index_lines(const View& self, int dim, const View& index, const View& other) {
  return Lines<3>(dim, index, self, other);
}

__global__ void find_bad_place(Lines<3> lines, const Index* index, Index size,
                               unsigned long long* first) {
  for (Index i = first_item(); i < lines.starts.numel * lines.length; i += stride()) {
    Index at[3];
    lines.starts.at(i / lines.length, at);
    const Index value = index[at[0] + i % lines.length * lines.step[0]];
    if (value < 0 || value >= size) atomicMin(first, (unsigned long long)(i));
  }
}

BadIndex check_places(const Lines<3>& lines, const Index* index, Index size) {
  if (!blocking() || lines.starts.numel * lines.length == 0) return {};
  const Scratch<unsigned long long> first(1, "gather");
  check(cudaMemsetAsync(first.data(), 0xff, sizeof(unsigned long long), current().stream),
        "gather");
  launch_items("gather", find_bad_place, lines.starts.numel * lines.length, lines, index, size,
               first.data());
  const auto found = static_cast<Index>(fetch(first.data(), "gather"));
  if (found < 0) return {};
  Index at[3];
  lines.starts.at(found / lines.length, at);
  return {0, fetch(index + at[0] + found % lines.length * lines.step[0], "gather"), size};
}

template <class S>
__global__ void gather_items(Lines<3> lines, S* out, const S* self, const Index* index, Index size,
                             Note* note) {
  for (Index i = first_item(); i < lines.starts.numel * lines.length; i += stride()) {
    Index at[3];
    const Index along = i % lines.length;
    lines.starts.at(i / lines.length, at);
    const Index from =
        checked_index(note, Noted::index, index[at[0] + along * lines.step[0]], size);
    out[at[2] + along * lines.step[2]] = self[at[1] + from * lines.step[1]];
  }
}

// One thread a line: what meets in one place is combined in order.
template <class C>
__global__ void scatter_lines(Lines<3> lines, Writer<C> self, Reader<C> before, Reader<C> src,
                              const Index* index, Index size, ScatterMode mode, Note* note) {
  for (Index line = first_item(); line < lines.starts.numel; line += stride()) {
    Index at[3];
    lines.starts.at(line, at);
    for (Index i = 0; i < lines.length; ++i) {
      const Index to = checked_index(note, Noted::index, index[at[0] + i * lines.step[0]], size);
      const Index place = at[1] + to * lines.step[1];
      const C value = src[at[2] + i * lines.step[2]];
      self.set(place, mode == ScatterMode::assign
                          ? value
                          : combined(before[place], value, mode, before.dtype == DType::boolean));
    }
  }
}

Index size_along(const View& self, int dim) { return self.rank ? self.sizes[dim] : 1; }

BadIndex gather(const View& out, const View& self, int dim, const View& index) {
  const Lines<3> lines = index_lines(self, dim, index, out);
  const Index size = size_along(self, dim);
  if (const BadIndex bad = check_places(lines, index.as<Index>(), size); bad.which >= 0) return bad;
  dispatch_size(out.dtype, [&]<class S>(Type<S>) {
    launch_items("gather", gather_items<S>, index.numel, lines, out.as<S>(), self.as<const S>(),
                 index.as<const Index>(), size, current().note);
  });
  return {};
}

BadIndex scatter(const View& self, int dim, const View& index, const View& src, ScatterMode mode) {
  if (index.numel == 0) return {};
  const Lines<3> lines = index_lines(self, dim, index, src);
  const Index size = size_along(self, dim);
  if (const BadIndex bad = check_places(lines, index.as<Index>(), size); bad.which >= 0) return bad;
  compute_any(self.dtype, [&]<class C>(Type<C>) {
    launch_items("scatter", scatter_lines<C>, lines.starts.numel, lines, Writer<C>(self),
                 Reader<C>(self), Reader<C>(src), index.as<const Index>(), size, mode,
                 current().note);
  });
  return {};
}

// Of a tile of the input: how many are not zero.
constexpr Index kTile = 2048;
template <class C>
__global__ void count_tiles(Strided<1> items, Reader<C> in, Index* counts) {
  Index found = 0;
  const Index begin = Index(blockIdx.x) * kTile;
  for (Index i = begin + threadIdx.x; i < begin + kTile && i < items.numel; i += blockDim.x) {
    Index at[1];
    items.at(i, at);
    found += in[at[0]] != C(0);
  }
  found = block_reduce(found, Add(), shared_memory<Index>());
  if (threadIdx.x == 0) counts[blockIdx.x] = found;
}

// One thread: where each tile's rows begin, and the sum behind the last.
__global__ void add_counts(Index tiles, Index* counts) {
  Index before = 0;
  for (Index t = 0; t < tiles; ++t) {
    const Index here = counts[t];
    counts[t] = before;
    before += here;
  }
  counts[tiles] = before;
}

// A warp walks its tile in order, 32 elements at a time.
template <class C>
__global__ void write_positions(Strided<1> items, Reader<C> in, const Index* begins, Index* out,
                                Index rows, Index row_step, Index column_step, int rank,
                                Strided<1> shape) {
  unsigned* shared = shared_memory<unsigned>();
  Index row = begins[blockIdx.x];
  const Index begin = Index(blockIdx.x) * kTile;
  for (Index base = begin; base < begin + kTile && base < items.numel; base += kWarp) {
    const Index i = base + threadIdx.x;
    Index at[1] = {0};
    bool found = false;
    if (i < items.numel) {
      items.at(i, at);
      found = in[at[0]] != C(0);
    }
    shared[threadIdx.x] = found;
    __syncthreads();
    unsigned before = 0, all = 0;
    for (int t = 0; t < kWarp; ++t) {
      before += t < int(threadIdx.x) ? shared[t] : 0;
      all += shared[t];
    }
    __syncthreads();
    if (found && row + before < rows) {
      Index rest = i;
      for (int d = 0; d < rank; ++d) {  // shape: sizes as they are, innermost first
        out[(row + before) * row_step + (rank - 1 - d) * column_step] = rest % shape.sizes[d];
        rest /= shape.sizes[d];
      }
    }
    row += all;
  }
}

Strided<1> items_of(const View& in) {
  Strided<1> items;
  for (int d = in.rank - 1; d >= 0; --d) items.add(in.sizes[d], in.strides[d]);
  return items;
}

Index count_or_write(const View* out, const View& in) {
  if (in.numel == 0) return 0;
  const Strided<1> items = items_of(in);
  const Index tiles = (in.numel + kTile - 1) / kTile;
  const Scratch<Index> counts(tiles + 1, "nonzero");
  compute_any(in.dtype, [&]<class C>(Type<C>) {
    launch("nonzero", count_tiles<C>, unsigned(tiles), kThreads, reduce_bytes<Index>(), items,
           Reader<C>(in), counts.data());
    launch("nonzero", add_counts, 1, 1, 0, tiles, counts.data());
    if (!out) return;
    Strided<1> shape;
    for (int d = 0; d < in.rank; ++d) shape.sizes[d] = in.sizes[in.rank - 1 - d];
    launch("nonzero", write_positions<C>, unsigned(tiles), kWarp, kWarp * sizeof(unsigned), items,
           Reader<C>(in), static_cast<const Index*>(counts.data()), out->as<Index>(), out->sizes[0],
           out->strides[0], out->strides[1], in.rank, shape);
  });
  return fetch(counts.data() + tiles, "nonzero");
}

Index count_nonzero(const View& in) { return count_or_write(nullptr, in); }
Index nonzero(const View& out, const View& in) { return count_or_write(&out, in); }

}  // namespace

const IndexKernels index_kernels = {get, put, gather, scatter, count_nonzero, nonzero};

}  // namespace rushlight::gpu
