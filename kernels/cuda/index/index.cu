// Reading and writing at positions that other tensors name. A thread takes one element; where
// results of one index add up, indices are sorted first (sort/runs.h). An index out of range is
// noted and taken as 0.
#include "kernels.h"
#include "kernels/cuda/families.h"
#include "kernels/cuda/sort/runs.h"

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
  Index offset = 0;
  for (int k = 0; k < job.count; ++k) {
    const Index value = job.index[k][job.positions.offset(k, i)], size = job.sizes[k];
    if (value < -size || value >= size) {
      leave_note(note, Noted::index, value, size);
      continue;
    }
    offset += (value < 0 ? value + size : value) * job.self_strides[k];
  }
  return offset;
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

__global__ void number_positions(IndexJob job, std::uint64_t* keys, Index* order, Note* note) {
  for (Index i = first_item(); i < job.positions.numel; i += stride()) {
    keys[i] = std::uint64_t(self_offset(job, i, note));
    order[i] = i;
  }
}

// What is added to the elements at one offset; `rest`: the elements behind it.
template <class C>
struct Additions {
  using Value = C;
  IndexJob job;
  Writer<C> self;
  Reader<C> before, values;
  __device__ Index element(Index offset, Index column) const {
    return offset + job.rest.offset(0, column);
  }
  __device__ C start(Index offset, Index column) const { return before[element(offset, column)]; }
  __device__ C at(Index position, Index column) const {
    Index other[1];
    job.others.at(position, other);
    return values[other[0] + job.rest.offset(1, column)];
  }
  __device__ C join(C a, C b) const {
    return combined(a, b, ScatterMode::add, before.dtype == DType::boolean);
  }
  __device__ void put(const Runs& runs, Index first, Index column, C sum) const {
    self.set(element(Index(runs.keys[first]), column), sum);
  }
};

BadIndex get(const View& out, const View& self, const IndexList& list) {
  const IndexJob job = job_of(self, out, list);
  dispatch_size(out.dtype, [&]<class S>(Type<S>) {
    launch_items("index", get_items<S>, out.numel, job, out.as<S>(), self.as<const S>(),
                 current().note);
  });
  return {};
}

BadIndex put(const View& self, const View& values, const IndexList& list, bool accumulate) {
  const IndexJob job = job_of(self, values, list);
  if (values.numel == 0) return {};
  if (!accumulate) {
    dispatch_size(self.dtype, [&]<class S>(Type<S>) {
      launch_items("index_put_", put_items<S>, job.positions.numel * job.rest.numel, job,
                   self.as<S>(), values.as<const S>(), current().note);
    });
    return {};
  }
  const Index n = job.positions.numel;
  const Scratch<std::uint64_t> keys(n, "index_put_");
  const Scratch<Index> order(n, "index_put_");
  launch_items("index_put_", number_positions, n, job, keys.data(), order.data(), current().note);
  sort_pairs(keys.data(), order.data(), 1, n);
  compute_any(self.dtype, [&]<class C>(Type<C>) {
    fold_all_runs("index_put_", Runs(keys.data(), order.data(), n),
                  Additions<C>{job, self, self, values}, job.rest.numel, C(0));
  });
  return {};
}

}  // namespace

const IndexKernels index_kernels = {
    get, put, index_gather, index_scatter, index_count_nonzero, index_nonzero};

}  // namespace rushlight::gpu
