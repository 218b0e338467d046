// A virtual machine: the set of virtual GPUs that a program has requested. Note: one
// is active at a time; blocks of memory keep theirs alive, so tensors of a machine that is gone can
// still be freed, and one that comes back (the end of a `with` block) finds its tensors intact.
#pragma once
#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "core/memory.h"
#include "devices/virtual_allocator.h"

namespace rushlight {

// What a kind of GPU looks like to a program.
struct VirtualProfile {
  const char* key;  // "t4"
  const char* name;  // "Tesla T4"
  int major, minor;
  int processors;
  std::int64_t memory;
};
std::vector<VirtualProfile> virtual_profiles();
const VirtualProfile& virtual_profile(std::string_view key);  // ValueError lists what there is
std::int64_t parse_memory(std::string_view text);  // "2GiB", "512MB", "1073741824"

// The figures that `nvidia-smi` reads, at their offset in a page shared with it (or in plain
// memory, until it is shared). Its layout is also in python/rushlight/cuda/_smi_program.py.
struct VirtualPage {
  struct Device {
    std::int64_t total, reserved, allocated;
    std::int32_t major, minor, processors, unused;
    char name[64];
    char padding[24];
  };
  char magic[8];
  std::int64_t process, count, machine;
  Device devices[64];
};
inline constexpr int kMostVirtualDevices = 64;

struct VirtualDevice {
  std::uint32_t machine;
  int index;  // physical
  DeviceProperties properties{};
  VirtualAllocator allocator;
  VirtualDevice(std::uint32_t machine, int index, const VirtualProfile& profile,
                std::int64_t memory);
};

struct VirtualMachine : Shared {
  std::uint32_t number;  // never used twice: what a storage remembers as its generation
  std::vector<std::unique_ptr<VirtualDevice>> devices;
  // `profiles` and `memories` ("2GiB") are one for all, or one for each, separated by commas; empty
  // ones are "t4" and the profile's own memory.
  VirtualMachine(int count, std::string_view profiles, std::string_view memories);

  // Logical to physical devices by CUDA_VISIBLE_DEVICES, read at the first call and not again.
  const std::vector<int>& visible();
  VirtualDevice* device(int logical);  // null where there is none

 private:
  std::once_flag read_visible_;
  std::vector<int> visible_;
};
void destroy(VirtualMachine* machine);

Ref<VirtualMachine> active_machine();
bool had_machine();  // whether there has ever been one
std::uint32_t active_number();  // of the active machine; 0 if there is none
// Replaces the active machine, which is returned. Null ends virtual GPUs.
Ref<VirtualMachine> exchange_machine(Ref<VirtualMachine> next);
// The machine that RUSHLIGHT_VIRTUAL_GPUS, _PROFILE and _MEMORY describe; null if they name none.
Ref<VirtualMachine> machine_from_environment();

// From now on the figures are in the file `path`, which is made.
void publish_page(const std::string& path);
void show_machine(const VirtualMachine* machine);
void write_figures(const VirtualDevice& device);  // after each change of a device's memory

}  // namespace rushlight
