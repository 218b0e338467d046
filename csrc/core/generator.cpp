// Seeds, states and the default generators.
#include "core/generator.h"

#include <cstring>
#include <new>
#include <pthread.h>
#include <random>

#include "core/backend.h"
#include "core/unlocked.h"

namespace rushlight {
namespace {

// How torch writes a generator of the CPU.
struct StateBytes {
  std::uint64_t seed;
  std::int32_t left, seeded;
  std::uint64_t next;
  std::uint64_t words[kEngineWords];
  double unused, next_double, unused_too;
  std::int64_t has_double;
  float next_float;
  std::int32_t has_float;
};
static_assert(sizeof(StateBytes) == 5056);

std::atomic<int> forks = 0;  // that lead to this process

// In a forked child, the thread that was drawing numbers is gone and does not unlock the mutex.
// The numbers go on from wherever it was.
void free_after_fork(Generator& g, std::thread::id self) {
  for (int seen = g.process; seen != forks; seen = g.process) {
    const int busy = ~forks;  // another thread of this process does it
    if (seen == busy || !g.process.compare_exchange_strong(seen, busy)) {
      std::this_thread::yield();
      continue;
    }
    if (g.holder != self) {
      new (&g.mutex) std::mutex;
      g.holder = std::thread::id();
    }
    g.process = forks.load();
  }
}

constexpr int kDevices = 128;  // what an int8 index can name
std::mutex list_mutex;
Ref<Generator> cuda_generators[kDevices];  // under list_mutex
std::uint64_t cuda_seed = kDefaultSeed;    // under list_mutex
Generator& cpu_generator() {
  static Generator* const generator = new Generator(kCpu);
  return *generator;
}

}  // namespace

Generator::Generator(Device d, std::uint64_t seed) : device(d), state(seed) {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { ++forks; });
  (void)registered;
  process = forks.load();
}

GeneratorLock::GeneratorLock(Generator& g) : generator_(g) {
  const auto self = std::this_thread::get_id();
  if (g.process != forks) free_after_fork(g, self);
  if (g.holder == self)
    fail<RuntimeError>(
        "this generator is in the middle of drawing numbers on the same thread\na signal handler "
        "that draws numbers needs a torch.Generator of its own");
  if (!g.mutex.try_lock()) {
    void* const python = interpreter.release ? interpreter.release() : nullptr;
    g.mutex.lock();
    if (python) interpreter.acquire(python);
  }
  g.holder = self;
}

void Generator::manual_seed(std::uint64_t seed) {
  const GeneratorLock lock(*this);
  state = RandomState(seed);
}

std::uint64_t Generator::seed() {
  std::random_device entropy;
  const std::uint64_t high = entropy(), chosen = high << 32 | entropy();
  manual_seed(chosen);
  return chosen;
}

std::uint64_t Generator::initial_seed() {
  const GeneratorLock lock(*this);
  return state.seed;
}

Tensor Generator::get_state() {
  Tensor out = empty({sizeof(StateBytes)}, DType::uint8);
  StateBytes bytes{};
  {
    const GeneratorLock lock(*this);
    bytes.seed = state.seed;
    bytes.seeded = 1;
    bytes.next = state.fresh ? 0 : static_cast<std::uint64_t>(state.next);
    bytes.left = kEngineWords + 1 - state.next;
    std::copy_n(state.words, kEngineWords, bytes.words);
    bytes.next_double = state.has_double ? state.next_double : 0;
    bytes.has_double = state.has_double;
    bytes.next_float = state.has_float ? state.next_float : 0;
    bytes.has_float = state.has_float;
  }
  std::memcpy(view_of(out).data, &bytes, sizeof bytes);
  return out;
}

void Generator::set_state(const Tensor& t) {
  if (t.dtype() != DType::uint8 || !t.device().is_cpu())
    fail<TypeError>("RNG state must be a torch.ByteTensor\ngot ", describe("state", t));
  if (t.dim() != 1 || t.numel() != sizeof(StateBytes) || !t.is_contiguous())
    fail<RuntimeError>("Expected a CPUGeneratorImplState of size ", sizeof(StateBytes),
                       " but found the input RNG state size to be ", t.numel(),
                       "\na state comes from get_rng_state() or Generator.get_state()");
  StateBytes bytes;
  std::memcpy(&bytes, view_of(t).data, sizeof bytes);
  const bool fresh = bytes.left == 1 && bytes.next == 0;
  if (bytes.seeded != 1 || bytes.left < 1 || bytes.left > kEngineWords ||
      (!fresh && bytes.next != static_cast<std::uint64_t>(kEngineWords + 1 - bytes.left)))
    fail<RuntimeError>("Invalid mt19937 state\nleft ", bytes.left, ", next ", bytes.next,
                       ", seeded ", bytes.seeded, ": these bytes are no state of a generator");
  const GeneratorLock lock(*this);
  state.seed = bytes.seed;
  for (int i = 0; i < kEngineWords; ++i)
    state.words[i] = static_cast<std::uint32_t>(bytes.words[i]);
  state.next = kEngineWords + 1 - bytes.left;
  state.fresh = fresh;
  state.next_double = bytes.next_double;
  state.has_double = static_cast<std::int32_t>(bytes.has_double) != 0;
  state.next_float = bytes.next_float;
  state.has_float = (bytes.has_float & 0xff) != 0;
}

Generator& default_generator(Device device) {
  if (!device.is_cuda()) return cpu_generator();
  const auto index = static_cast<std::size_t>(resolve(device).index);
  const std::lock_guard lock(list_mutex);
  Ref<Generator>& g = cuda_generators[index];
  if (!g)
    g = Ref<Generator>::adopt(
        new Generator({DeviceType::cuda, static_cast<std::int8_t>(index)}, cuda_seed));
  return *g;
}

void manual_seed_cuda(std::uint64_t seed) {
  Ref<Generator> made[kDevices];
  {
    const std::lock_guard lock(list_mutex);
    cuda_seed = seed;
    std::copy_n(cuda_generators, kDevices, made);
  }
  for (const Ref<Generator>& g : made)
    if (g) g->manual_seed(seed);
}

void manual_seed_all(std::uint64_t seed) {
  cpu_generator().manual_seed(seed);
  manual_seed_cuda(seed);
}

Generator& generator_for(Device device, const Ref<Generator>& given) {
  if (!given) return default_generator(device);
  const Device own = given->device;
  if (own.type != device.type)
    fail<RuntimeError>("Expected a '", device_type_name(device.type),
                       "' device type for generator but found '", device_type_name(own.type),
                       "'\nthe tensor is on ", device, ", the generator on ", own,
                       ": make one with torch.Generator(device='", device, "')");
  return *given;
}

}  // namespace rushlight
