// The cast lists of autocast: an op is bound as op<casting<&mm, kLower>>(...). A changer must know:
// outside a region a listed op pays one test; a tensor is cast by the policy of its own device, and
// only if it is floating point and not float64; what an out= receives is never cast.
#pragma once
#include <optional>
#include <tuple>
#include <vector>

#include "bindings/row.h"
#include "core/autocast.h"
#include "core/tensor.h"
#include "kernels/pointwise.h"
#include "ops/input.h"

namespace rushlight::python {

struct WithOut {
  Policy policy;
  bool has_out;
  constexpr WithOut(Policy p, bool out = false) : policy(p), has_out(out) {}
};
constexpr WithOut with_out(Policy p) { return {p, true}; }

// The tensor as an op with this policy takes it in the regions that are open.
Tensor recast(const Tensor& t, Policy p);
inline std::optional<Tensor> recast(const std::optional<Tensor>& t, Policy p) {
  return t ? std::optional<Tensor>(recast(*t, p)) : t;
}
inline std::vector<Tensor> recast(std::vector<Tensor> list, Policy p) {
  for (Tensor& t : list) t = recast(t, p);
  return list;
}
template <class T>
const T& recast(const T& other, Policy) {
  return other;
}

// The same for the operands of a pointwise op, which are kept here for the length of the call.
class Recast {
 public:
  Recast(Input* in, int count, Policy p) {
    for (int i = 0; i < count; ++i)
      if (in[i].tensor) {
        kept_[i] = recast(*in[i].tensor, p);
        in[i].tensor = &kept_[i];
      }
  }

 private:
  Tensor kept_[kMaxInputs];
};

template <auto F, WithOut P>
struct Casting;
template <class R, class... A, R (*F)(A...), WithOut P>
struct Casting<F, P> {
  static R call(A... a) {
    if (!autocast.on) [[likely]]
      return F(static_cast<A&&>(a)...);
    if constexpr (P.has_out) {
      if (std::get<sizeof...(A) - 1>(std::tie(a...))) return F(static_cast<A&&>(a)...);
    }
    return F(recast(a, P.policy)...);
  }
};
template <auto F, WithOut P>
inline constexpr auto casting = &Casting<F, P>::call;

}  // namespace rushlight::python
