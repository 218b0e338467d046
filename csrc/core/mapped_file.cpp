// Mapped files. Where a file becomes shorter than what is mapped of it, the processor cannot read
// the page and the system sends SIGBUS, which ends a process. Here a handler puts a page of zeros
// in its place; a SIGBUS of anything else goes to the handler that was installed before.
#include "core/mapped_file.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/error.h"

namespace rushlight {
namespace {

struct Mapped {
  std::atomic<std::uintptr_t> begin = 0, end = 0;  // end is 0 of a free slot
  bool shared = false;
};
// Of fixed size: a signal handler may take no lock, which a list that grows would need.
std::array<Mapped, 4096> all_mapped;
struct sigaction before;

void on_missing_page(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (const Mapped& each : all_mapped) {
    if (address < each.begin || address >= each.end) continue;
    const auto size = std::uintptr_t(sysconf(_SC_PAGESIZE));
    void* const page = reinterpret_cast<void*>(address / size * size);
    if (mmap(page, size, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
        MAP_FAILED)
      return;
  }
  if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    return before.sa_handler(signal);
  std::signal(SIGBUS, SIG_DFL);  // the access is tried again, and ends the process
}

void watch_for_missing_pages() {
  struct sigaction now;
  sigaction(SIGBUS, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_missing_page) return;
  before = now;
  struct sigaction ours = {};
  ours.sa_sigaction = on_missing_page;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaction(SIGBUS, &ours, nullptr);
}

void unmap(Storage& s) noexcept {
  const auto* slot = static_cast<Mapped*>(s.owner);
  munmap(s.data, slot->end - slot->begin);
  static_cast<Mapped*>(s.owner)->end = 0;
}

std::string cause() {
  const int code = errno;
  return std::string(std::strerror(code)) + " (" + std::to_string(code) + ")";
}

// Whether the disk of a file has room for more bytes; true where it does not say.
bool room_for(int file, std::int64_t bytes) {
  struct statvfs disk;
  if (fstatvfs(file, &disk) != 0 || disk.f_frsize == 0) return true;
  return std::uint64_t(bytes) / disk.f_frsize < std::uint64_t(disk.f_bavail);
}

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

}  // namespace

Ref<Storage> map_file(const std::string& path, bool shared, std::int64_t bytes) {
  // O_NONBLOCK: to open a pipe would wait for its other end.
  const int flags = (shared ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC | O_NONBLOCK;
  const Descriptor file{open(path.c_str(), flags, 0666)};
  if (file.number < 0)
    fail<RuntimeError>("unable to open file <", path, "> in ", shared ? "read-write" : "read-only",
                       " mode: ", cause());
  struct stat about;
  if (fstat(file.number, &about) != 0)
    fail<RuntimeError>("unable to stat the file <", path, ">: ", cause());
  if (!S_ISREG(about.st_mode))
    fail<RuntimeError>("unable to mmap ", bytes, " bytes from file <", path,
                       ">: it is no regular file");
  if (bytes > about.st_size) {
    if (!shared)
      fail<RuntimeError>("file <", path, "> size <", std::int64_t(about.st_size),
                         "> is smaller than the required mapping size <", bytes, ">");
    // With room on the disk: without it, a write to the memory would have nowhere to go. Where it
    // is too small, other programs keep what is left of it.
    int code = room_for(file.number, bytes - about.st_size) ? 0 : ENOSPC;
    if (code == 0) code = posix_fallocate(file.number, 0, bytes);
    if (code != 0) {
      [[maybe_unused]] const int shrunk = ftruncate(file.number, about.st_size);
      errno = code;
      fail<RuntimeError>("unable to resize file <", path, "> to ", bytes, " bytes: ", cause());
    }
  }
  Mapped* slot = nullptr;
  for (Mapped& each : all_mapped)
    if (each.end == 0) {
      slot = &each;
      break;
    }
  if (!slot)
    fail<RuntimeError>("unable to mmap ", bytes, " bytes from file <", path,
                       ">: ", all_mapped.size(), " files are mapped already\nread some of them: ",
                       "torch.load, or .clone() of what is mapped");
  watch_for_missing_pages();
  void* const data = mmap(nullptr, std::size_t(bytes), PROT_READ | PROT_WRITE,
                          shared ? MAP_SHARED : MAP_PRIVATE, file.number, 0);
  if (data == MAP_FAILED)
    fail<RuntimeError>("unable to mmap ", bytes, " bytes from file <", path, ">: ", cause());
  slot->shared = shared;
  slot->begin = reinterpret_cast<std::uintptr_t>(data);
  slot->end = reinterpret_cast<std::uintptr_t>(data) + std::uintptr_t(bytes);
  return Storage::borrow(data, std::size_t(bytes), slot, unmap);
}

Mapping mapping_of(const Storage& storage) {
  if (storage.release_memory != unmap) return Mapping::none;
  return static_cast<const Mapped*>(storage.owner)->shared ? Mapping::shared : Mapping::read;
}

}  // namespace rushlight
