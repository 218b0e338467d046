// The thread pool: coverage of ranges, nesting, several callers, exceptions, interrupts, fork.
#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "../../kernels/parallel.h"
#include "check.h"

using namespace rushlight;
using Clock = std::chrono::steady_clock;

static bool covers_once(std::int64_t n, std::int64_t grain) {
  std::vector<std::atomic<int>> seen(n);
  parallel_for(n, grain, [&](std::int64_t b, std::int64_t e) {
    for (; b < e; ++b) seen[b]++;
  });
  for (auto& s : seen)
    if (s != 1) return false;
  return true;
}

static void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

struct Interrupt {};

static void test_exceptions() {
  for (std::int64_t at : {0, 999}) {
    bool caught = false;
    try {
      parallel_for(1000, 1, [&](std::int64_t b, std::int64_t e) {
        if (b <= at && at < e) throw std::runtime_error("x");
      });
    } catch (const std::runtime_error&) {
      caught = true;
    }
    check::that(caught, "an exception reaches the caller");
  }
  check::that(covers_once(1000, 10), "the pool works after an exception");
}

static void test_interrupt(int threads) {
  set_num_threads(threads);
  poll_interrupt = [] { throw Interrupt{}; };
  const auto start = Clock::now();
  bool caught = false;
  try {
    parallel_for(10000, 1, [](std::int64_t b, std::int64_t e) { sleep_ms(int(e - b)); });
  } catch (const Interrupt&) {
    caught = true;
  }
  check::that(caught && Clock::now() - start < std::chrono::milliseconds(200),
              "work of 10 s is interrupted within 0.2 s");
  poll_interrupt = nullptr;
}

static void test_fork() {
  set_num_threads(4);
  for (int i = 0; i < 50; ++i) {
    covers_once(1000, 10);
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      _exit(covers_once(1000, 10) && covers_once(10000, 1) ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    check::that(status == 0, "a forked child has a pool of its own");
  }
}

int main() {
  for (int threads : {1, 2, 5}) {
    set_num_threads(threads);
    check::that(num_threads() == threads, "set_num_threads is remembered");
    for (std::int64_t n : {0, 1, 7, 100, 12345})
      for (std::int64_t grain : {0, 1, 3, 100, 100000})
        check::that(covers_once(n, grain), "every item once");
    test_interrupt(threads);
  }
  set_num_threads(4);
  test_exceptions();

  std::atomic<std::int64_t> sum = 0;
  parallel_for(100, 1, [&](std::int64_t b, std::int64_t e) {
    const int number = thread_number();
    check::that(number >= 0 && number < num_threads(), "thread numbers lie below num_threads");
    parallel_for((e - b) * 10, 1, [&](std::int64_t c, std::int64_t d) {
      check::that(thread_number() == number, "nested work stays in its thread");
      sum += d - c;
    });
  });
  check::that(sum == 1000, "nested calls cover");

  std::atomic<int> good = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 6; ++i)
    callers.emplace_back([&] {
      for (int j = 0; j < 200; ++j) good += covers_once(997, 5);
    });
  for (auto& t : callers) t.join();
  check::that(good == 1200, "several callers at once");
  test_fork();
  return check::failures != 0;
}
