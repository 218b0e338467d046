// Profiles, CUDA_VISIBLE_DEVICES, and which machine is active.
#include "devices/virtual_machine.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "core/error.h"

namespace rushlight {
namespace {

// Memory as the cards report it, in MiB.
constexpr VirtualProfile kProfiles[] = {
    {"t4", "Tesla T4", 7, 5, 40, 15102 * kMiB},
    {"v100", "Tesla V100-SXM2-16GB", 7, 0, 80, 16151 * kMiB},
    {"p100", "Tesla P100-PCIE-16GB", 6, 0, 56, 16276 * kMiB},
    {"a10g", "NVIDIA A10G", 8, 6, 80, 22723 * kMiB},
    {"a100", "NVIDIA A100-SXM4-40GB", 8, 0, 108, 40442 * kMiB},
    {"h100", "NVIDIA H100 80GB HBM3", 9, 0, 132, 81082 * kMiB},
    {"h200", "NVIDIA H200", 9, 0, 132, 143167 * kMiB},
    {"l4", "NVIDIA L4", 8, 9, 58, 22563 * kMiB},
    {"gtx1050", "GeForce GTX 1050 Ti", 6, 1, 6, 4042 * kMiB},
    {"rtx2080ti", "NVIDIA GeForce RTX 2080 Ti", 7, 5, 68, 11011 * kMiB},
    {"rtx3060", "NVIDIA GeForce RTX 3060 Laptop GPU", 8, 6, 30, 5937 * kMiB},
    {"rtx3090", "NVIDIA GeForce RTX 3090", 8, 6, 82, 24253 * kMiB},
    {"rtx4090", "NVIDIA GeForce RTX 4090", 8, 9, 128, 24210 * kMiB},
};

std::mutex machine_mutex;
std::atomic<std::uint32_t> number_of_active{0};
std::atomic<bool> any_machine{false};
Ref<VirtualMachine>& machine_slot() {
  static auto* slot = new Ref<VirtualMachine>;  // tensors may outlive static destruction
  return *slot;
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

// "a, b" as its parts: one, or as many as there are devices.
std::vector<std::string_view> list_of(const char* what, std::string_view text,
                                      std::string_view otherwise, int count) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view part = trimmed(text.substr(0, comma));
    parts.push_back(part.empty() ? otherwise : part);
    if (comma == text.npos) break;
    text.remove_prefix(comma + 1);
  }
  if (parts.size() != 1 && parts.size() != std::size_t(count))
    fail<ValueError>(count, " virtual GPUs, and ", parts.size(), " values of ", what,
                     "; give one for all or one for each");
  return parts;
}

// One entry of CUDA_VISIBLE_DEVICES: an index, or the start of a device's UUID. -1: invalid.
int visible_index(std::string_view entry, const VirtualMachine& machine) {
  const int count = int(machine.devices.size());
  int index = -1;
  const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), index);
  if (error == std::errc() && end == entry.data() + entry.size())
    return index >= 0 && index < count ? index : -1;
  if (entry.size() < 5 || !entry.starts_with("GPU-")) return -1;
  int found = -1;
  for (int i = 0; i < count; ++i)
    if (std::string_view(machine.devices[std::size_t(i)]->properties.uuid).starts_with(entry)) {
      if (found >= 0) return -1;  // more than one begins so
      found = i;
    }
  return found;
}

}  // namespace

std::vector<VirtualProfile> virtual_profiles() {
  return {std::begin(kProfiles), std::end(kProfiles)};
}

const VirtualProfile& virtual_profile(std::string_view key) {
  std::string known;
  for (const VirtualProfile& p : kProfiles) {
    if (key == p.key) return p;
    known += (known.empty() ? "" : ", ") + std::string(p.key);
  }
  fail<ValueError>("there is no profile '", key, "' of virtual GPUs; there are ", known);
}

std::int64_t parse_memory(std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const std::string_view unit = trimmed({rest, std::size_t(end - rest)});
  constexpr std::pair<std::string_view, double> units[] = {
      {"", 1},          {"B", 1},         {"KiB", 1 << 10},
      {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1e12 * 1.099511627776},
      {"K", 1 << 10},   {"M", 1 << 20},   {"G", 1 << 30},
      {"KB", 1e3},      {"MB", 1e6},      {"GB", 1e9},
      {"TB", 1e12}};
  const auto known = std::ranges::find(units, unit, &std::pair<std::string_view, double>::first);
  const double bytes = known == std::end(units) ? -1 : number * known->second;
  if (error != std::errc() || !(bytes >= 1 << 20) || bytes > 1e15)
    fail<ValueError>("'", text,
                     "' is no memory size for a virtual GPU\nwrite 2GiB, 512MiB, 16GB or "
                     "a number of bytes, at least 1MiB");
  return std::int64_t(bytes);
}

VirtualDevice::VirtualDevice(std::uint32_t owner, int number, const VirtualProfile& profile,
                             std::int64_t memory)
    : machine(owner), index(number), allocator(memory) {
  std::snprintf(properties.name, sizeof properties.name, "%s (virtual)", profile.name);
  std::snprintf(properties.uuid, sizeof properties.uuid, "GPU-00000000-0000-0000-0000-%012x",
                unsigned(number));
  properties.total_memory = memory;
  properties.major = profile.major;
  properties.minor = profile.minor;
  properties.multi_processor_count = profile.processors;
  properties.max_threads_per_multi_processor =
      profile.major == 7 && profile.minor == 5 ? 1024 : 2048;
  if (profile.major == 8 && profile.minor != 0) properties.max_threads_per_multi_processor = 1536;
  properties.max_threads_per_block = 1024;
  properties.warp_size = 32;
  properties.regs_per_multiprocessor = 65536;
  properties.shared_memory_per_block = 48 << 10;
  properties.l2_cache_size = 4 << 20;
}

VirtualMachine::VirtualMachine(int count, std::string_view profiles, std::string_view memories) {
  static std::atomic<std::uint32_t> machines{0};
  if (count < 1 || count > kMostVirtualDevices)
    fail<ValueError>("the number of virtual GPUs must be from 0 to ", kMostVirtualDevices, ", not ",
                     count);
  const auto keys = list_of("profile", profiles, "t4", count);
  const auto sizes = list_of("memory", memories, "", count);
  number = ++machines;
  for (int i = 0; i < count; ++i) {
    const std::string_view size = sizes[std::size_t(i) % sizes.size()];
    const VirtualProfile& profile = virtual_profile(keys[std::size_t(i) % keys.size()]);
    const std::int64_t memory = size.empty() ? profile.memory : parse_memory(size);
    devices.push_back(std::make_unique<VirtualDevice>(number, i, profile, memory));
  }
}

void destroy(VirtualMachine* machine) { delete machine; }

const std::vector<int>& VirtualMachine::visible() {
  std::call_once(read_visible_, [this] {
    const char* value = std::getenv("CUDA_VISIBLE_DEVICES");
    std::string_view list = value ? value : "";
    if (!value) {
      for (int i = 0; i < int(devices.size()); ++i) visible_.push_back(i);
      return;
    }
    while (!list.empty()) {
      const std::size_t comma = std::min(list.find(','), list.size());
      const int index = visible_index(trimmed(list.substr(0, comma)), *this);
      if (index < 0) return;  // an invalid entry hides itself and all after it
      if (std::ranges::find(visible_, index) != visible_.end()) {
        visible_.clear();  // named twice: the driver shows none
        return;
      }
      visible_.push_back(index);
      list.remove_prefix(std::min(comma + 1, list.size()));
    }
  });
  return visible_;
}

VirtualDevice* VirtualMachine::device(int logical) {
  const std::vector<int>& map = visible();
  if (logical < 0 || std::size_t(logical) >= map.size()) return nullptr;
  return devices[std::size_t(map[std::size_t(logical)])].get();
}

Ref<VirtualMachine> active_machine() {
  std::lock_guard lock(machine_mutex);
  return machine_slot();
}

bool had_machine() { return any_machine; }
std::uint32_t active_number() { return number_of_active.load(std::memory_order_relaxed); }

Ref<VirtualMachine> machine_from_environment() {
  const std::string_view count_text = trimmed(environment("RUSHLIGHT_VIRTUAL_GPUS"));
  if (count_text.empty()) return nullptr;
  int count = -1;
  const char* end = count_text.data() + count_text.size();
  const auto [rest, error] = std::from_chars(count_text.data(), end, count);
  if (error != std::errc() || rest != end || count < 0 || count > kMostVirtualDevices)
    fail<ValueError>("RUSHLIGHT_VIRTUAL_GPUS must be a number of virtual GPUs from 0 to ",
                     kMostVirtualDevices, ", not '", count_text, "'");
  const std::string_view profiles = environment("RUSHLIGHT_VIRTUAL_PROFILE");
  const std::string_view memories = environment("RUSHLIGHT_VIRTUAL_MEMORY");
  const VirtualMachine checked(std::max(count, 1), profiles, memories);
  if (count == 0) return nullptr;
  return Ref<VirtualMachine>::adopt(new VirtualMachine(count, profiles, memories));
}

Ref<VirtualMachine> exchange_machine(Ref<VirtualMachine> next) {
  std::lock_guard lock(machine_mutex);
  std::swap(machine_slot(), next);
  if (machine_slot()) any_machine = true;
  number_of_active = machine_slot() ? machine_slot()->number : 0;
  show_machine(machine_slot().get());
  return next;
}

}  // namespace rushlight
