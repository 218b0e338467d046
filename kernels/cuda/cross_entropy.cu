// Losses of class indices. One block an example: its row of logits is read for the largest value,
// for the sum of exponentials and, in backward, once more; the softmax is never stored. Totals are
// added in a fixed order, in parts (block_scan.h).
#include "block_scan.h"
#include "elements.h"
#include "families.h"
#include "runtime/launch.h"

namespace rushlight::gpu {
namespace {

using Shape = CrossEntropyShape;

// A target, valid whatever is in memory; -1 where it is ignored.
__device__ Index target_of(const Shape& s, const Index* target, Index i, Note* note) {
  if (target[i] == s.ignore_index) return -1;
  return checked_index(note, Noted::target, target[i], s.classes);
}

// The kernels note what they meet: the host waits for no check.
Index check_targets(const Shape&, const View&) { return -1; }

template <class C>
__global__ void forward_rows(Shape s, Reader<C> x, const Index* target, Reader<C> weight, C* losses,
                             C* log_sums, Note* note) {
  C* shared = shared_memory<C>();
  const C smoothing = C(s.label_smoothing), share = smoothing / C(s.classes);
  for (Index i = blockIdx.x; i < s.n * s.inner; i += gridDim.x) {
    const Index first = i / s.inner * s.classes * s.inner + i % s.inner;
    C top = -std::numeric_limits<C>::infinity();
    for (Index c = threadIdx.x; c < s.classes; c += blockDim.x)
      top = Larger()(top, x[first + c * s.inner]);
    top = block_reduce(top, Larger(), shared);
    C sum = 0;
    for (Index c = threadIdx.x; c < s.classes; c += blockDim.x)
      sum += std::exp(x[first + c * s.inner] - top);
    const C log_sum = std::log(block_reduce(sum, Add(), shared));
    C smooth = 0;
    if (smoothing != C(0)) {
      for (Index c = threadIdx.x; c < s.classes; c += blockDim.x)
        smooth += weight.value_or(c, 1) * (top - x[first + c * s.inner] + log_sum);
      smooth = block_reduce(smooth, Add(), shared);
    }
    if (threadIdx.x != 0) continue;
    log_sums[i] = top;
    log_sums[i + s.n * s.inner] = log_sum;
    const Index t = target_of(s, target, i, note);
    losses[i] = t < 0 ? C(0)
                      : (C(1) - smoothing) * weight.value_or(t, 1) *
                                (top - x[first + t * s.inner] + log_sum) +
                            share * smooth;
  }
}

// The losses' sum and the weights', of all examples.
struct LossTotals {
  double loss, weight;
};
struct AddTotals {
  __device__ LossTotals operator()(LossTotals a, LossTotals b) const {
    return {a.loss + b.loss, a.weight + b.weight};
  }
};
template <class C>
__device__ void write_totals(LossTotals all, C* totals) {
  if (threadIdx.x != 0) return;
  totals[0] = C(all.loss);
  totals[1] = C(all.weight);
}
template <class C>
__global__ void add_parts(Shape s, Parts parts, const C* losses, const Index* target,
                          Reader<C> weight, LossTotals* sums, C* totals, Note* note) {
  const auto load = [&](Index i) {
    const Index t = target_of(s, target, i, note);
    return LossTotals{double(losses[i]), t >= 0 ? double(weight.value_or(t, 1)) : 0.0};
  };
  for (Index part = blockIdx.x; part < parts.count; part += gridDim.x) {
    const LossTotals sum = join_part(parts.begin(part), parts.end(part), LossTotals{}, load,
                                     AddTotals(), shared_memory<LossTotals>());
    if (parts.count == 1)
      write_totals(sum, totals);
    else if (threadIdx.x == 0)
      sums[part] = sum;
  }
}
template <class C>
__global__ void join_totals(Index count, const LossTotals* sums, C* totals) {
  const auto load = [&](Index i) { return sums[i]; };
  write_totals(
      join_part(Index(0), count, LossTotals{}, load, AddTotals(), shared_memory<LossTotals>()),
      totals);
}
template <class C>
void add_totals(const char* op, const Shape& s, const View& losses, const Index* target,
                const View* weight, const View& totals) {
  const Parts parts(1, s.n * s.inner);
  const Scratch<LossTotals> sums(parts.count, op);
  launch(op, add_parts<C>, blocks_for(parts.count, 1), kThreads, reduce_bytes<LossTotals>(), s,
         parts, losses.as<const C>(), target, Reader<C>(weight), sums.data(), totals.as<C>(),
         current().note);
  if (parts.count > 1)
    launch(op, join_totals<C>, 1, threads_for(parts.count), reduce_bytes<LossTotals>(), parts.count,
           static_cast<const LossTotals*>(sums.data()), totals.as<C>());
}

template <class C>
__global__ void backward_rows(Shape s, const C* grad, Index grad_step, Reader<C> x,
                              const Index* target, Reader<C> weight, const C* log_sums,
                              Writer<C> out, Note* note) {
  C* shared = shared_memory<C>();
  const C smoothing = C(s.label_smoothing), share = smoothing / C(s.classes);
  C weight_sum = C(s.classes);
  if (weight.data && smoothing != C(0)) {
    weight_sum = 0;
    for (Index c = threadIdx.x; c < s.classes; c += blockDim.x) weight_sum += weight[c];
    weight_sum = block_reduce(weight_sum, Add(), shared);
  }
  for (Index i = blockIdx.x; i < s.n * s.inner; i += gridDim.x) {
    const Index first = i / s.inner * s.classes * s.inner + i % s.inner;
    const Index t = target_of(s, target, i, note);
    const C g = t < 0 ? C(0) : grad[i * grad_step];
    const C own = t < 0 ? C(0) : (C(1) - smoothing) * weight.value_or(t, 1);
    for (Index c = threadIdx.x; c < s.classes; c += blockDim.x) {
      const Index at = first + c * s.inner;
      if (t < 0) {
        out.set(at, C(0));
        continue;
      }
      const C p = std::exp(x[at] - log_sums[i] - log_sums[i + s.n * s.inner]);
      const C wanted = share * weight.value_or(c, 1) + (c == t ? own : C(0));
      out.set(at, g * ((own + share * weight_sum) * p - wanted));
    }
  }
}

template <class C>
__global__ void nll_items(Shape s, Reader<C> x, const Index* target, Reader<C> weight, C* losses,
                          Note* note) {
  for (Index i = first_item(); i < s.n * s.inner; i += stride()) {
    const Index t = target_of(s, target, i, note);
    const Index first = i / s.inner * s.classes * s.inner + i % s.inner;
    losses[i] = t < 0 ? C(0) : -weight.value_or(t, 1) * x[first + t * s.inner];
  }
}

template <class C>
__global__ void nll_grad_items(Shape s, const C* grad, Index grad_step, const Index* target,
                               Reader<C> weight, Writer<C> out, Note* note) {
  for (Index at = first_item(); at < s.n * s.classes * s.inner; at += stride()) {
    const Index i = at / (s.classes * s.inner) * s.inner + at % s.inner;
    const Index t = target_of(s, target, i, note), c = at / s.inner % s.classes;
    out.set(at, c == t ? -weight.value_or(t, 1) * grad[i * grad_step] : C(0));
  }
}

void forward(const Shape& s, const View& input, const View& target, const View* weight,
             const View& losses, const View& log_sums, const View& totals) {
  compute_floating(input.dtype, [&]<class C>(Type<C>) {
    const Index* t = target.as<const Index>();
    if (s.n * s.inner > 0)
      launch("cross_entropy", forward_rows<C>, blocks_for(s.n * s.inner, 1), threads_for(s.classes),
             reduce_bytes<C>(), s, Reader<C>(input), t, Reader<C>(weight), losses.as<C>(),
             log_sums.as<C>(), current().note);
    add_totals<C>("cross_entropy", s, losses, t, weight, totals);
  });
}

void backward(const Shape& s, const View& grad, const View& input, const View& target,
              const View* weight, const View& log_sums, const View& grad_input) {
  if (grad_input.numel == 0) return;
  compute_floating(input.dtype, [&]<class C>(Type<C>) {
    launch("cross_entropy_backward", backward_rows<C>, blocks_for(s.n * s.inner, 1),
           threads_for(s.classes), reduce_bytes<C>(), s, grad.as<const C>(),
           Index(grad.numel == 1 ? 0 : 1), Reader<C>(input), target.as<const Index>(),
           Reader<C>(weight), log_sums.as<const C>(), Writer<C>(grad_input), current().note);
  });
}

void nll(const Shape& s, const View& input, const View& target, const View* weight,
         const View& losses, const View& totals) {
  compute_floating(input.dtype, [&]<class C>(Type<C>) {
    const Index* t = target.as<const Index>();
    launch_items("nll_loss", nll_items<C>, s.n * s.inner, s, Reader<C>(input), t, Reader<C>(weight),
                 losses.as<C>(), current().note);
    add_totals<C>("nll_loss", s, losses, t, weight, totals);
  });
}

void nll_backward(const Shape& s, const View& grad, const View& target, const View* weight,
                  const View& grad_input) {
  compute_floating(grad_input.dtype, [&]<class C>(Type<C>) {
    launch_items("nll_loss_backward", nll_grad_items<C>, grad_input.numel, s, grad.as<const C>(),
                 Index(grad.numel == 1 ? 0 : 1), target.as<const Index>(), Reader<C>(weight),
                 Writer<C>(grad_input), current().note);
  });
}

}  // namespace

const CrossEntropyKernels cross_entropy_kernels = {check_targets, forward, backward, nll,
                                                   nll_backward};

}  // namespace rushlight::gpu
