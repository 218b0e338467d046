// Graphs: built, run and freed on a small stack, usable again after an exception, freed in a fork
// of a thread that did not make them.
#include <pthread.h>
#include <stdexcept>
#include <thread>

#include "check.h"
#include "csrc/ops/pointwise/pointwise.h"

using namespace rushlight;

static Tensor leaf(double value) {
  const Tensor x = full({2}, value, DType::float32);
  x->requires_grad = true;
  return x;
}
static double grad_of_first(const Tensor& x) { return item(select(grad_of(x), 0, 0)).as_double(); }
static void backward(const Tensor& y, bool keep = false) {
  run_backward({y}, {ones_like(y)}, {}, {.retain_graph = keep});
}

// A long chain, a wide fan and a deep tree of sums: none of them may recurse.
static void test_shapes_of_graphs() {
  const Tensor x = leaf(1);
  Tensor chain = x;
  for (int i = 0; i < 200'000; ++i) chain = neg(chain);
  Tensor fan = x;
  for (int i = 0; i < 50'000; ++i) fan = add(fan, x);
  Tensor doubled = x;
  for (int i = 0; i < 20; ++i) doubled = add(doubled, doubled);
  backward(add(add(chain, fan), doubled));
  check::that(grad_of_first(x) == 1 + 50'001 + (1 << 20), "gradients of all paths");
  Tensor never = x;
  for (int i = 0; i < 200'000; ++i) never = neg(never);  // freed without having been run
}

static void* on_small_stack(void*) {
  test_shapes_of_graphs();
  return nullptr;
}

struct Stop : std::runtime_error {
  using std::runtime_error::runtime_error;
};

static void test_exception() {
  const Tensor x = leaf(3);
  bool fails = true;
  const Tensor y = record(
      "FailingBackward", detach(mul(x, Scalar(2))),
      [&fails](Tensor g) {
        if (fails) throw Stop("in the middle");
        return Gradients(mul(g, Scalar(2)));
      },
      x);
  const Tensor z = add(y, neg(x));
  check::throws<Stop>([&] { backward(z, true); }, "an exception of a node reaches the caller");
  set_grad(x, {});
  fails = false;
  backward(z);
  check::that(grad_of_first(x) == 1, "afterwards the graph runs, with nothing left over");
  const Tensor w = apply<Exp>(x);
  backward(w);
  check::throws<RuntimeError>([&] { backward(w); }, "what was freed says so");
}

// The result keeps its history; a history never keeps its result.
static void test_ownership() {
  const Tensor x = leaf(2);
  Tensor y = apply<Exp>(x);  // saves its own result
  const Ref<Storage> storage = y->storage;
  check::that(storage->use_count() == 3, "the result, what was saved of it, and this one");
  y = Tensor();
  check::that(storage->is_unique(), "dropping the result frees all of it");
}

static void test_threads() {
  const Tensor x = leaf(1);
  Tensor y = x;
  for (int i = 0; i < 1000; ++i) y = neg(y);
  std::thread([&] { backward(y, true); }).join();
  std::thread([held = std::move(y)]() mutable { held = Tensor(); }).join();
  check::that(grad_of_first(x) == 1, "made here, run there, freed elsewhere");
}

int main() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  pthread_t thread;
  pthread_create(&thread, &attributes, on_small_stack, nullptr);
  pthread_join(thread, nullptr);
  test_exception();
  test_ownership();
  test_threads();
  return check::failures != 0;
}
