// The n-th allocation fails, for every n: an exception, or the right result without that memory,
// and afterwards everything works. This file replaces posix_memalign and operator new, through
// which all memory of the core and the kernels comes.
#include <cerrno>
#include <cstdlib>
#include <new>
#include <unistd.h>

#include "check.h"
#include "csrc/ops/conv/conv.h"
#include "csrc/ops/norm/norm.h"
#include "csrc/ops/pointwise/pointwise.h"
#include "csrc/ops/pool/pool.h"
#include "kernels/parallel.h"
#include "ops/cross_entropy.h"

static long left = -1;  // allocations until one fails; negative: none does

static bool fails() { return left >= 0 && left-- == 0; }

extern "C" int posix_memalign(void** out, std::size_t alignment, std::size_t bytes) noexcept {
  if (fails()) return ENOMEM;
  *out = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  return *out ? 0 : ENOMEM;
}
void* operator new(std::size_t bytes) {
  void* block = fails() ? nullptr : std::malloc(bytes ? bytes : 1);
  if (!block) throw std::bad_alloc();
  return block;
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return fails() ? nullptr : std::malloc(bytes ? bytes : 1);
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

using namespace rushlight;

static Tensor numbers(const Shape& shape) {
  const Tensor t = full(shape, 0.5, DType::float32);
  t->requires_grad = true;
  return t;
}

static Tensor whole(const Tensor& t) { return sum(t, {}, false); }

// Something of each family, forward and backward. Returns a checksum.
static double work() {
  const Tensor image = numbers({2, 3, 6, 6}), kernel = numbers({4, 3, 3, 3}), scale = numbers({4});
  const ConvOptions options{{1}, {1}, {1}, {0}, 1};
  Tensor x = convolution("conv2d", 2, image, kernel, scale, options);
  x = batch_norm(x, scale, scale, {}, {}, true, 0.1, 1e-5);
  x = apply<Relu>(x);
  PoolOptions windows;
  windows.kernel = {2};
  x = max_pool("max_pool2d", 2, x, windows);
  x = permute(x, {0, 2, 3, 1});
  x = reshape(x, {18, 4});
  const Tensor classes = full({18}, 1, DType::int64);
  Tensor loss = cross_entropy(x, classes, detach(scale), "mean", -100, 0.1);
  const Tensor rows = index(x, {classes});
  loss = add(loss, whole(rows));
  loss = add(loss, whole(gather(x, 1, unsqueeze(classes, 1))));
  loss = add(loss, whole(cat({x, mul(x, scale)}, 0)));
  Tensor copy = clone(x);
  fill_(select(copy, 0, 0), 2.0);
  loss = add(loss, whole(copy));
  run_backward({loss}, {ones_like(loss)}, {}, {});
  return item(whole(grad_of(kernel))).as_double() + item(detach(loss)).as_double();
}

int main(int, char** arguments) {
  if (!cache_is_off()) {  // a cache would serve without allocating
    setenv("RUSHLIGHT_NO_CACHE", "1", 1);
    execv("/proc/self/exe", arguments);
  }
  set_num_threads(1);
  const double expected = work();
  long n = 0, failed = 0;
  for (bool done = false; !done && n < 100'000; ++n) {
    left = n;
    try {
      check::that(work() == expected, "what can do without the memory is right without it");
      done = left >= 0;
    } catch (const std::bad_alloc&) {
      ++failed;
    } catch (const RuntimeError&) {  // "can't allocate memory"
      ++failed;
    }
    left = -1;
    if (n % 50 == 0) check::that(work() == expected, "afterwards everything works");
  }
  check::that(failed > 200, "there were allocations to fail");
  std::printf("%ld allocations failed, one at a time\n", failed);
  return check::failures != 0;
}
