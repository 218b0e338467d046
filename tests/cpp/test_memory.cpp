// The caching allocator: reuse, blocks that change threads, forks, and what is refused.
#include <cstdint>
#include <new>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "check.h"
#include "core/memory.h"

using namespace rushlight;

static bool aligned(void* p) { return reinterpret_cast<std::uintptr_t>(p) % 64 == 0; }

// What is given back is what is taken next.
static void test_reuse() {
  for (const std::size_t bytes : {1, 64, 65, 4096, 65536, 65537, 1 << 20, 5 << 20}) {
    void* first = BlockCache::take(bytes);
    check::that(aligned(first), "blocks are aligned to 64 bytes");
    static_cast<char*>(first)[bytes - 1] = 1;
    BlockCache::give(first, bytes);
    void* second = BlockCache::take(bytes);
    check::that(first == second, "a block is used again");
    BlockCache::give(second, bytes);
  }
}

static void test_neighbours() {
  void* block = take_large(1'000'000);
  give_large(block, 1'000'000);
  void* other = take_large(999'000);
  check::that(block == other, "a block serves sizes a little below its own");
  give_large(other, 999'000);
}

static void test_refusals() {
  for (const std::size_t bytes : {std::size_t(1) << 62, SIZE_MAX / 2}) {
    check::throws<std::bad_alloc>([&] { BlockCache::take(bytes); }, "more than the machine has");
    check::throws<std::bad_alloc>([&] { take_large(bytes); }, "the same of large blocks");
  }
  BlockCache::give(BlockCache::take(100), 100);  // works afterwards
}

// Taken on one thread, freed on another, with lists that overflow.
static void test_threads() {
  for (int round = 0; round < 20; ++round) {
    std::vector<void*> blocks;
    std::thread([&] {
      for (int i = 0; i < 1000; ++i) blocks.push_back(BlockCache::take(64 << i % 12));
    }).join();
    std::thread([&] {
      for (int i = 0; i < 1000; ++i) BlockCache::give(blocks[std::size_t(i)], 64 << i % 12);
    }).join();
  }
}

static void test_fork() {
  std::atomic<bool> started{false}, stop{false};
  std::thread busy([&] {
    while (!stop) {
      give_large(take_large(100'000), 100'000);
      started = true;
    }
  });
  while (!started) std::this_thread::yield();  // past malloc, whose lock ASan keeps in a child
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      give_large(take_large(200'000), 200'000);
      _exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    check::that(status == 0, "a child forked in the middle can allocate");
  }
  stop = true;
  busy.join();
}

struct Counted : Shared {
  int& alive;
  explicit Counted(int& n) : alive(n) { ++alive; }
};
static void destroy(Counted* c) {
  --c->alive;
  delete c;
}

static void test_references() {
  int alive = 0;
  {
    auto a = Ref<Counted>::adopt(new Counted(alive));
    Ref<Counted> b = a, c(a.get());
    check::that(a->use_count() == 3 && !a->is_unique(), "three hold it");
    b = nullptr;
    c = a;  // the same
    a = std::move(c);
    a = Ref<Counted>(a.get());
    check::that(alive == 1 && a->is_unique(), "one is left");
  }
  check::that(alive == 0, "the last one frees it");
}

int main() {
  test_reuse();
  test_neighbours();
  test_refusals();
  test_threads();
  test_fork();
  test_references();
  return check::failures != 0;
}
