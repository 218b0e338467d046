// The thread pool that every CPU kernel uses. Note: the pool survives fork (a child
// starts with none and makes its own), an exception of a worker is rethrown in the caller, and the
// caller polls for Ctrl-C between chunks, so no chunk should take more than about 20 ms.
#pragma once
#include <cstdint>
#include <type_traits>
#include <utility>

namespace rushlight {

// A borrowed callable: no allocation, no template in the pool.
template <class>
class FunctionRef;
template <class R, class... A>
class FunctionRef<R(A...)> {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>)
  FunctionRef(F&& f)
      : object_(const_cast<void*>(static_cast<const void*>(&f))), call_([](void* o, A... a) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(o))(std::forward<A>(a)...);
        }) {}
  R operator()(A... a) const { return call_(object_, std::forward<A>(a)...); }

 private:
  void* object_;
  R (*call_)(void*, A...);
};

// Calls f(begin, end) on disjoint ranges that cover [0, n), `grain` items or more at a time, on the
// calling thread and the pool's. Nested calls run in the calling thread.
void parallel_for(std::int64_t n, std::int64_t grain,
                  FunctionRef<void(std::int64_t, std::int64_t)> f);

int num_threads();
void set_num_threads(int n);
int thread_number();  // 0 in the caller of parallel_for, 1.. in a worker: picks per-thread scratch

// Set by the bindings; throws what should end the work (KeyboardInterrupt). Called at most every
// 10 ms or so, only on the thread that called parallel_for.
extern void (*poll_interrupt)();
// For a long serial loop between calls of parallel_for, or inside one: polls when it is time, on a
// caller's thread; throws in a worker whose parallel_for has failed in another thread.
void check_interrupt();

}  // namespace rushlight
