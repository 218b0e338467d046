// Generator: one stream of random numbers, and the default stream of each device. Note:
// no thread waits for a generator while holding the interpreter lock, as its holder may need
// that lock to finish; GeneratorLock sees to it.
#pragma once
#include <atomic>
#include <mutex>
#include <thread>

#include "core/tensor.h"
#include "kernels/random.h"

namespace rushlight {

class Generator : public Shared {
 public:
  explicit Generator(Device d, std::uint64_t seed = kDefaultSeed);
  const Device device;
  std::mutex mutex;
  std::atomic<std::thread::id> holder;  // of the mutex
  std::atomic<int> process;             // how many forks lead to the process that it is of
  RandomState state;  // under the mutex

  void manual_seed(std::uint64_t seed);
  std::uint64_t seed();  // from the operating system's entropy; returns it
  std::uint64_t initial_seed();
  // 5056 bytes in torch's own format, so that states can be exchanged with it.
  Tensor get_state();
  void set_state(const Tensor& bytes);
};
inline void destroy(Generator* g) { delete g; }

class GeneratorLock {
 public:
  // RuntimeError where this thread has it already: in a signal handler that ran during a draw.
  explicit GeneratorLock(Generator& g);
  ~GeneratorLock() {
    generator_.holder = std::thread::id();
    generator_.mutex.unlock();
  }
  GeneratorLock(const GeneratorLock&) = delete;

 private:
  Generator& generator_;
};

// The device's own; made at its first use with the seed of the last manual_seed_all.
Generator& default_generator(Device device);
// Every device's, those of the future included.
void manual_seed_all(std::uint64_t seed);
// The CUDA devices' alone: torch.cuda.manual_seed_all.
void manual_seed_cuda(std::uint64_t seed);
// The one to draw from for a tensor on `device`: `given`, or the default if that is null.
Generator& generator_for(Device device, const Ref<Generator>& given);

}  // namespace rushlight
