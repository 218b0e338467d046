// Draws of the laws in kernels/math/laws.h, one element at a time and in double whatever the dtype.
#include "kernels/math/laws.h"

#include "engine.h"

namespace rushlight::random {
namespace {

struct Stream {
  RandomState& state;
  double unit() { return take_unit(state); }
  double normal() { return take_normal(state); }
};

}  // namespace

void drawn(Law which, const View& out, const View& first, const View& second, RandomState& s) {
  Stream stream{s};
  dispatch_law(which, [&](auto law) {
    dispatch_floating(out.dtype, [&]<class T>(Type<T>) {
      const T *const a = first.as<const T>(), *const b = second.as<const T>();
      T* const to = out.as<T>();
      Interruptible interruptible;
      for (std::int64_t i = 0; i < out.numel; ++i) {
        interruptible.done(64);
        store(to + i,
              static_cast<Compute<T>>(draw<law()>(static_cast<double>(load(a + i)),
                                                  static_cast<double>(load(b + i)), stream)));
      }
    });
  });
}

}  // namespace rushlight::random
