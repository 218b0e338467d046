// The page of figures that `nvidia-smi` reads. Written with plain relaxed stores, so it costs an
// allocation nothing; a forked child gets a page of its own, or it would write over its parent's.
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/error.h"
#include "devices/virtual_machine.h"

namespace rushlight {
namespace {

static_assert(sizeof(VirtualPage::Device) == 128 && sizeof(VirtualPage) == 32 + 64 * 128);

VirtualPage own_page;
std::atomic<VirtualPage*> page{&own_page};

void store(std::int64_t& to, std::int64_t value) {
  std::atomic_ref(to).store(value, std::memory_order_relaxed);
}

}  // namespace

void write_figures(const VirtualDevice& device) {
  VirtualPage& shown = *page.load(std::memory_order_relaxed);
  if (shown.machine != device.machine) return;  // freed after its machine was taken away
  const auto [allocated, reserved] = device.allocator.bytes();
  store(shown.devices[device.index].allocated, allocated);
  store(shown.devices[device.index].reserved, reserved);
}

void show_machine(const VirtualMachine* machine) {
  VirtualPage& to = *page.load();
  std::memcpy(to.magic, "RLSMI1\0\0", sizeof to.magic);
  to.process = getpid();
  std::int64_t count = 0;
  store(to.machine, machine ? machine->number : 0);
  if (machine)
    for (const auto& device : machine->devices) {
      VirtualPage::Device& d = to.devices[count++];
      d.total = device->properties.total_memory;
      d.major = device->properties.major;
      d.minor = device->properties.minor;
      d.processors = device->properties.multi_processor_count;
      std::memcpy(d.name, device->properties.name, sizeof d.name - 1);
      write_figures(*device);
    }
  store(to.count, count);
}

void publish_page(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) fail<RuntimeError>("cannot make ", path, ": ", std::strerror(errno));
  void* place = MAP_FAILED;
  if (ftruncate(file, sizeof(VirtualPage)) == 0)
    place = mmap(nullptr, sizeof(VirtualPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (place == MAP_FAILED) fail<RuntimeError>("cannot map ", path, ": ", std::strerror(errno));
  page = static_cast<VirtualPage*>(place);
  static const int forked =
      pthread_atfork(nullptr, nullptr, [] { page.store(&own_page, std::memory_order_relaxed); });
  (void)forked;
  const Ref<VirtualMachine> machine = active_machine();
  show_machine(machine.get());
}

}  // namespace rushlight
