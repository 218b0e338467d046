// Running reductions, by block_scan.h: one block a line, or several blocks where lines are few and
// long. Sums of floats are held in double.
#include "../scan_formulas.h"
#include "block_scan.h"
#include "elements.h"
#include "families.h"
#include "running_sums.h"
#include "runtime/launch.h"

namespace rushlight::gpu {
namespace {

// With `only_totals`, writes what the parts come to; else begins each part with the running total
// of those before it, which `totals` holds.
template <class C, class Sum, class Join>
__global__ void scan_lines(Lines<2> lines, Parts parts, bool only_totals, Sum* totals, Reader<C> in,
                           void* out, DType dtype, Sum nothing, Join join) {
  Sum* const shared = shared_memory<Sum>();
  for (Index job = blockIdx.x; job < parts.lines * parts.count; job += gridDim.x) {
    const Index part = job % parts.count;
    Index at[2];
    lines.starts.at(job / parts.count, at);
    const auto load = [&](Index i) { return static_cast<Sum>(in[at[0] + i * lines.step[0]]); };
    if (only_totals) {
      const Sum total = join_part(parts.begin(part), parts.end(part), nothing, load, join, shared);
      if (threadIdx.x == 0) totals[job] = total;
      continue;
    }
    const auto store = [&](Index i, Sum v) {
      using Value = std::conditional_t<std::is_floating_point_v<Sum>, Sum, Index>;
      store_as(out, at[1] + i * lines.step[1], dtype, static_cast<Value>(v));
    };
    scan_part(parts.begin(part), parts.end(part), part > 0 ? totals[job - 1] : nothing, nothing,
              load, store, join, shared);
  }
}

// Calls run(whether only totals are wanted, their memory): once where a block has a whole line.
template <class T, class Join, class Run>
void in_parts(const Parts& parts, T nothing, Join join, Run run) {
  const Scratch<T> totals(parts.count > 1 ? parts.lines * parts.count : 1, "scan");
  if (parts.count > 1) {
    run(true, totals.data());
    launch("scan", scan_totals<T, Join>, blocks_for(parts.lines, 1), threads_for(parts.count),
           reduce_bytes<T>(), parts.lines, parts.count, totals.data(), nothing, join);
  }
  run(false, totals.data());
}

void scan(Scan kind, const View& out, const View& in, int dim) {
  if (in.numel == 0) return;
  const Lines<2> lines(dim, in, out);
  const Parts parts(lines.starts.numel, lines.length);
  compute_any(in.dtype, [&]<class C>(Type<C>) {
    using Sum = scans::SumOf<C>;
    const auto run = [&](auto nothing, auto join) {
      in_parts(parts, nothing, join, [&](bool only_totals, auto* totals) {
        launch("scan", scan_lines<C, decltype(nothing), decltype(join)>,
               blocks_for(parts.lines * parts.count, 1), threads_for(parts.each),
               reduce_bytes<decltype(nothing)>(), lines, parts, only_totals, totals, Reader<C>(in),
               out.data, out.dtype, nothing, join);
      });
    };
    if (kind == Scan::sum) return run(Sum(0), scans::Sum());
    if (kind == Scan::product) return run(Sum(1), scans::Product());
    if constexpr (std::is_floating_point_v<C>)
      run(-std::numeric_limits<double>::infinity(), scans::LogSumExp());
  });
}

template <class C>
__global__ void extreme_lines(Lines<3> lines, Parts parts, bool only_totals,
                              scans::Extreme<C>* totals, Reader<C> in, Writer<C> values,
                              Index* indices, scans::Better<C> join) {
  using Extreme = scans::Extreme<C>;
  auto* const shared = shared_memory<Extreme>();
  const Extreme nothing = {C(0), -1};
  for (Index job = blockIdx.x; job < parts.lines * parts.count; job += gridDim.x) {
    const Index part = job % parts.count;
    Index at[3];
    lines.starts.at(job / parts.count, at);
    const auto load = [&](Index i) { return Extreme{in[at[0] + i * lines.step[0]], i}; };
    if (only_totals) {
      const Extreme total =
          join_part(parts.begin(part), parts.end(part), nothing, load, join, shared);
      if (threadIdx.x == 0) totals[job] = total;
      continue;
    }
    const auto store = [&](Index i, Extreme v) {
      values.set(at[1] + i * lines.step[1], v.value);
      indices[at[2] + i * lines.step[2]] = v.at;
    };
    scan_part(parts.begin(part), parts.end(part), part > 0 ? totals[job - 1] : nothing, nothing,
              load, store, join, shared);
  }
}

void extreme(bool largest, const View& values, const View& indices, const View& in, int dim) {
  if (in.numel == 0) return;
  const Lines<3> lines(dim, in, values, indices);
  const Parts parts(lines.starts.numel, lines.length);
  compute_any(in.dtype, [&]<class C>(Type<C>) {
    using Extreme = scans::Extreme<C>;
    const scans::Better<C> join = {largest};
    in_parts(parts, Extreme{C(0), -1}, join, [&](bool only_totals, Extreme* totals) {
      launch("scan", extreme_lines<C>, blocks_for(parts.lines * parts.count, 1),
             threads_for(parts.each), reduce_bytes<Extreme>(), lines, parts, only_totals, totals,
             Reader<C>(in), Writer<C>(values), indices.as<Index>(), join);
    });
  });
}

}  // namespace

void running_sums(Index* counts, Index n) {
  const View line = {counts, DType::int64, 1, n, {n}, {1}};
  scan(Scan::sum, line, line, 0);
}

const ScanKernels scan_kernels = {scan, extreme};

}  // namespace rushlight::gpu
