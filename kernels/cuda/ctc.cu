// CTC: one block an example, a thread every so many-th state; the block synchronizes after each
// step. The shares of equal labels are added up in the order of the target, so that the sums are
// deterministic.
#include "../ctc.h"
#include "elements.h"
#include "families.h"
#include "runtime/launch.h"

namespace rushlight::gpu {
namespace {

// What a thread reads of its block's example.
struct Example {
  Index n, length, labels, states;
  const Index* target;
};
__device__ inline Example example_of(const CtcShape& s, Index n, const Index* targets,
                                     const Index* examples) {
  const Index labels = examples[2 * s.batch + n];
  return {n, examples[s.batch + n], labels, 2 * labels + 1, targets + examples[n]};
}
// The class of a state, valid whatever is in memory.
__device__ inline Index class_of(const CtcShape& s, const Example& e, Index state, Note* note) {
  if (state % 2 == 0) return s.blank;
  return checked_index(note, Noted::target, e.target[state / 2 * s.target_step], s.classes);
}
// Whether a path may skip the blank between `from` and `state`.
__device__ inline bool may_skip(const CtcShape& s, const Example& e, Index state, Index from) {
  if (state % 2 == 0 || from < 0 || from >= e.states) return false;
  const Index label = e.target[state / 2 * s.target_step];
  return label != s.blank && label != e.target[from / 2 * s.target_step];
}
// The log-probability of the paths in the row `last` to a state at the next step; by: -1, or 1 in
// reversed time.
template <class C>
__device__ C ways(const CtcShape& s, const Example& e, const C* last, Index state, Index by) {
  const Index one = state + by, two = state + 2 * by;
  const bool inside = one >= 0 && one < e.states;
  return log_sum(last[state], inside ? last[one] : -kInfinity<C>,
                 may_skip(s, e, state, two) ? last[two] : -kInfinity<C>);
}

template <class C>
__global__ void forward_examples(CtcShape s, const C* log_probs, const Index* targets,
                                 const Index* examples, C* losses, C* alpha, Note* note) {
  for (Index n = blockIdx.x; n < s.batch; n += gridDim.x) {
    const Example e = example_of(s, n, targets, examples);
    C* const rows = alpha + n * s.steps * s.states;
    for (Index t = 0; t < e.length; ++t) {
      const C* const at = log_probs + (t * s.batch + n) * s.classes;
      for (Index i = threadIdx.x; i < e.states; i += blockDim.x) {
        const C before =
            t == 0 ? (i < 2 ? C(0) : -kInfinity<C>) : ways(s, e, rows + (t - 1) * s.states, i, -1);
        rows[t * s.states + i] = before + at[class_of(s, e, i, note)];
      }
      __syncthreads();
    }
    if (threadIdx.x != 0) continue;
    if (e.length == 0) {
      losses[n] = e.labels == 0 ? C(0) : kInfinity<C>;
      continue;
    }
    const C* const last = rows + (e.length - 1) * s.states;
    losses[n] = -log_sum(last[e.states - 1], e.states > 1 ? last[e.states - 2] : -kInfinity<C>,
                         -kInfinity<C>);
  }
}

// following[i]: the next label of the target equal to label i, or its length; -1 - that where an
// equal label is before it.
__device__ inline void chain_labels(const CtcShape& s, const Example& e, Index* following) {
  for (Index i = threadIdx.x; i < e.labels; i += blockDim.x) {
    const Index label = e.target[i * s.target_step];
    Index next = i + 1;
    while (next < e.labels && e.target[next * s.target_step] != label) ++next;
    bool first = true;
    for (Index j = 0; j < i && first; ++j) first = e.target[j * s.target_step] != label;
    following[i] = first ? next : -1 - next;
  }
}

template <class C>
__global__ void backward_examples(CtcShape s, const C* grad, const C* log_probs,
                                  const Index* targets, const Index* examples, const C* losses,
                                  const C* alpha, bool zero_infinity, C* work, Index* chains,
                                  C* out, Note* note) {
  C* shared = shared_memory<C>();
  for (Index n = blockIdx.x; n < s.batch; n += gridDim.x) {
    const Example e = example_of(s, n, targets, examples);
    const C loss = losses[n], g = grad[n];
    const bool impossible = loss == kInfinity<C>;
    C *next = work + n * 3 * s.states, *now = next + s.states, *const share = now + s.states;
    Index* const following = chains + n * s.states;
    chain_labels(s, e, following);
    for (Index t = s.steps - 1; t >= 0; --t) {
      const Index first = (t * s.batch + n) * s.classes;
      const bool counts = t < e.length && !impossible;
      const C other = t < e.length && !zero_infinity ? kNaN<C> : C(0);
      for (Index c = threadIdx.x; c < s.classes; c += blockDim.x)
        out[first + c] = counts ? exp(log_probs[first + c]) * g : other;
      if (!counts) continue;
      C blanks = 0;
      for (Index i = threadIdx.x; i < e.states; i += blockDim.x) {
        const C emitted = log_probs[first + class_of(s, e, i, note)];
        const C before = t == e.length - 1 ? (i + 2 >= e.states ? C(0) : -kInfinity<C>)
                                           : ways(s, e, static_cast<const C*>(next), i, 1);
        now[i] = before + emitted;
        share[i] = ctc_share(alpha[(n * s.steps + t) * s.states + i], now[i], emitted, loss);
        if (i % 2 == 0) blanks += share[i];
      }
      blanks = block_reduce(blanks, Add(), shared);  // the block synchronizes here
      for (Index i = threadIdx.x; i < e.labels; i += blockDim.x) {
        if (following[i] < 0) continue;
        C sum = share[2 * i + 1];
        for (Index j = following[i]; j < e.labels; j = -1 - following[j]) sum += share[2 * j + 1];
        out[first + class_of(s, e, 2 * i + 1, note)] -= sum * g;
      }
      __syncthreads();
      if (threadIdx.x == 0) out[first + s.blank] -= blanks * g;
      C* const swapped = next;
      next = now;
      now = swapped;
    }
    __syncthreads();
  }
}

Index forward(const CtcShape& s, const View& log_probs, const View& targets, const View& examples,
              const View& losses, const View& alpha) {
  compute_floating(log_probs.dtype, [&]<class C>(Type<C>) {
    launch("ctc_loss", forward_examples<C>, blocks_for(s.batch, 1), threads_for(s.states), 0, s,
           log_probs.as<const C>(), targets.as<const Index>(), examples.as<const Index>(),
           losses.as<C>(), alpha.as<C>(), current().note);
  });
  return -1;
}

Index backward(const CtcShape& s, const View& grad, const View& log_probs, const View& targets,
               const View& examples, const View& losses, const View& alpha, bool zero_infinity,
               const View& grad_log_probs) {
  const char* const op = "ctc_loss_backward";
  compute_floating(log_probs.dtype, [&]<class C>(Type<C>) {
    const Scratch<C> work(3 * s.batch * s.states, op);
    const Scratch<Index> chains(s.batch * s.states, op);
    launch(op, backward_examples<C>, blocks_for(s.batch, 1),
           threads_for(s.states > s.classes ? s.states : s.classes), reduce_bytes<C>(), s,
           grad.as<const C>(), log_probs.as<const C>(), targets.as<const Index>(),
           examples.as<const Index>(), losses.as<const C>(), alpha.as<const C>(), zero_infinity,
           work.data(), chains.data(), grad_log_probs.as<C>(), current().note);
  });
  return -1;
}

}  // namespace

const CtcKernels ctc_kernels = {forward, backward};

}  // namespace rushlight::gpu
