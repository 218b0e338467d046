// Runs a kernel's threads on the CPU: blocks one after another, threads of a block as fibers. A
// fiber is spent only on a thread that waits: threads that never do are run one after another on a
// single one. Warps run to the next barrier in order, in every second block in reverse order, and
// at every second launch the other way about, so that a missing barrier shows in one of the two:
// shared memory is NaN before each block. A fiber that waits goes on to the next thread of its warp
// by itself. Compiled without sanitizers, which see the memory that kernels touch; ASan is not told
// of the switches (it would know the bounds of a fiber's stack, for exceptions, which kernels do
// not have): that was a quarter of the time of the tests.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sys/mman.h>
#include <vector>

#include "cuda_runtime.h"
#include "shared_memory.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

// Saves what a call must preserve on the stack, stores the stack in *from and takes the other.
extern "C" void emulator_switch(void** from, void* to);
asm(R"(
.text
.globl emulator_switch
.hidden emulator_switch
.type emulator_switch, @function
emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size emulator_switch, .-emulator_switch
)");

namespace emulator {
namespace {

constexpr std::size_t kStack = 256 << 10;
enum class State : unsigned char { fresh, ready, at_block, at_warp, done };

struct Fiber {
  void* stack_pointer = nullptr;
  char* stack = nullptr;
  int thread = -1;
};

std::vector<Fiber*> idle;
State state[1024];
Fiber* fiber_of[1024];
uint3 place[1024];
// What a lane shows to its warp in its n-th exchange. Two sets in turn: a lane that is ahead by one
// writes into the other, so that one synchronization an exchange is enough.
struct Slot {
  std::uint64_t turn, value;
} slots[2][1024];
std::uint64_t turns[1024], first_turn;
Fiber* current;
int next_fresh, end_fresh, end_ready, threads;
void* scheduler;
void (*body)(void*);
void* kernel;

void set_thread(int i) { threadIdx = place[i]; }

Fiber* take_idle();

// From a fiber to the next that is ready in its warp, or to a new one for the next fresh thread, or
// to the scheduler.
void leave(int after) {
  Fiber* self = current;
  for (int i = after; i < end_ready; ++i)
    if (state[i] == State::ready) {
      current = fiber_of[i];
      return emulator_switch(&self->stack_pointer, current->stack_pointer);
    }
  if (next_fresh < end_fresh) {
    current = take_idle();
    return emulator_switch(&self->stack_pointer, current->stack_pointer);
  }
  emulator_switch(&self->stack_pointer, scheduler);
}

[[noreturn]] void work() {
  while (true) {
    Fiber* self = current;
    while (next_fresh < end_fresh) {
      const int i = next_fresh++;
      self->thread = i;
      fiber_of[i] = self;
      state[i] = State::ready;
      set_thread(i);
      body(kernel);
      state[self->thread] = State::done;
    }
    idle.push_back(self);
    leave(self->thread + 1);
  }
}

Fiber* take_idle() {
  if (!idle.empty()) {
    Fiber* f = idle.back();
    idle.pop_back();
    return f;
  }
  auto* f = new Fiber;
  f->stack = static_cast<char*>(mmap(nullptr, kStack, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (f->stack == MAP_FAILED) {
    std::fputs("emulator: no memory for the stack of a thread\n", stderr);
    std::abort();
  }
  // Stacks begin at different offsets of their pages: at one, all would share a few lines of cache.
  static int made = 0;
  auto** top = reinterpret_cast<void**>(f->stack + kStack - made++ % 59 * 832);
  top[-2] = reinterpret_cast<void*>(&work);  // where the switch returns to
  f->stack_pointer = top - 8;  // below it, room for six registers
  return f;
}

void resume(Fiber* f) {
  current = f;
  emulator_switch(&scheduler, f->stack_pointer);
}

void wait(State s) {
  const int i = current->thread;
  state[i] = s;
  leave(i + 1);
  set_thread(i);
}

[[noreturn]] void fault(const char* what) {
  std::fprintf(stderr, "emulator: %s, block (%u, %u, %u)\n", what, blockIdx.x, blockIdx.y,
               blockIdx.z);
  std::abort();
}

// Runs the threads of a warp until all of them wait at the block's barrier or have ended.
void run_warp(int begin, int end) {
  for (int i = begin; i < end; ++i)
    if (state[i] == State::at_block) state[i] = State::ready;
  while (true) {
    end_ready = end;
    for (int i = begin; i < end; ++i)
      if (state[i] == State::ready) resume(fiber_of[i]);
    end_ready = 0;
    if (state[end - 1] == State::fresh) {
      next_fresh = begin;
      end_fresh = end;
      while (next_fresh < end_fresh) resume(take_idle());
    }
    int at_warp = 0, at_block = 0;
    for (int i = begin; i < end; ++i) {
      at_warp += state[i] == State::at_warp;
      at_block += state[i] == State::at_block;
    }
    if (!at_warp) return;
    if (at_block)
      fault("a warp has come apart: some of its threads shuffle, others are at a barrier");
    for (int i = begin; i < end; ++i)
      if (state[i] == State::at_warp) state[i] = State::ready;
  }
}

void run_block(std::size_t shared, bool reverse) {
  if (shared) forget_shared(shared);
  first_turn += std::uint64_t(1) << 32;  // no slot of an earlier block is mistaken for one of this
  for (int i = 0; i < threads; ++i) {
    state[i] = State::fresh;
    turns[i] = first_turn;
  }
  const int warps = (threads + 31) / 32;
  for (bool alive = true; alive;) {
    alive = false;
    for (int k = 0; k < warps; ++k) {
      const int w = reverse ? warps - 1 - k : k;
      run_warp(w * 32, w * 32 + 32 < threads ? w * 32 + 32 : threads);
    }
    bool some_wait = false;
    for (int i = 0; i < threads; ++i) some_wait |= state[i] == State::at_block;
    alive = some_wait;
  }
}

}  // namespace

void block_barrier() { wait(State::at_block); }
void warp_barrier() { wait(State::at_warp); }
int lane() { return current->thread % 32; }
std::uint64_t exchange(std::uint64_t value, int from) {
  const int self = current->thread;
  const std::uint64_t turn = ++turns[self];
  Slot* set = slots[turn & 1];
  set[self] = {turn, value};
  warp_barrier();
  if (from < 0 || from >= 32) return value;
  const Slot& other = set[self / 32 * 32 + from];
  return other.turn == turn ? other.value : value;
}

bool can_run(const cudaLaunchConfig_t& c) {
  const auto many = std::uint64_t(c.blockDim.x) * c.blockDim.y * c.blockDim.z;
  return many > 0 && many <= 1024 && c.gridDim.x > 0 && c.gridDim.y > 0 && c.gridDim.z > 0 &&
         c.gridDim.x <= 0x7fffffffu && c.gridDim.y <= 65535 && c.gridDim.z <= 65535 &&
         c.dynamicSmemBytes <= (48 << 10);
}

std::atomic<std::uint64_t> launches{0};

void run(const cudaLaunchConfig_t& c, void (*call)(void*), void* made) {
  bool reverse = ++launches % 2 == 0;
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  gridDim = c.gridDim;
  blockDim = c.blockDim;
  body = call;
  kernel = made;
  threads = int(blockDim.x * blockDim.y * blockDim.z);
  for (unsigned t = 0; t < unsigned(threads); ++t)
    place[t] = {t % blockDim.x, t / blockDim.x % blockDim.y, t / (blockDim.x * blockDim.y)};
  open_shared(c.dynamicSmemBytes);
  for (unsigned z = 0; z < gridDim.z; ++z)
    for (unsigned y = 0; y < gridDim.y; ++y)
      for (unsigned x = 0; x < gridDim.x; ++x) {
        blockIdx = {x, y, z};
        run_block(c.dynamicSmemBytes, reverse);
        reverse = !reverse;
      }
  close_shared();
}

}  // namespace emulator

// How many kernels have run.
extern "C" __attribute__((visibility("default"))) std::uint64_t emulated_launches() {
  return emulator::launches;
}
