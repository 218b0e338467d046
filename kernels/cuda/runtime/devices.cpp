// The thread's device and stream, checks of the runtime's answers, and notes of bad indices. The
// current device is read from the runtime in each call: another library may have changed it.
#include "devices.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <string>

#include "kernels/device_error.h"

namespace rushlight::gpu {
namespace {

constexpr const char* kArchitectures = RUSHLIGHT_CUDA_ARCHS;  // of CMakeLists.txt

struct DeviceState {
  std::once_flag made;
  std::atomic<Note*> host_note = nullptr;  // the same memory, as the host
  Note* note = nullptr;                    // and as the device sees it
  std::mutex reading;                      // of the note, by threads of the host
};
DeviceState* devices() {
  static auto* all = new DeviceState[kMostDevices];  // never destroyed: a tensor may outlive main
  return all;
}
thread_local Current here;
std::atomic<bool> forked_child{false};
thread_local const char* last_op = "";

[[noreturn]] void raise(cudaError_t error, const char* op) {
  cudaGetLastError();  // so that the next call does not report it again
  const std::string words = std::string("CUDA error: ") + cudaGetErrorString(error) + "\nseen by " +
                            op + "; the last kernel started by this thread was " + last_op +
                            "\nwith RUSHLIGHT_LAUNCH_BLOCKING=1 an error is raised by the call "
                            "that caused it";
  const bool memory = error == cudaErrorMemoryAllocation;
  throw DeviceError(memory ? DeviceError::Kind::memory : DeviceError::Kind::fault, words.c_str());
}

int device_now() {
  int index = 0;
  check(cudaGetDevice(&index), "cudaGetDevice");
  return index;
}
void go_to(int index) {
  if (device_now() != index) check(cudaSetDevice(index), "cudaSetDevice");
}

DeviceState& device_at(int index) {
  DeviceState& d = devices()[index];
  std::call_once(d.made, [&] {
    const OnDevice there(index);
    void *host = nullptr, *device = nullptr;
    check(cudaHostAlloc(&host, sizeof(Note), cudaHostAllocMapped | cudaHostAllocPortable), "note");
    check(cudaHostGetDevicePointer(&device, host, 0), "note");
    d.note = static_cast<Note*>(device);
    d.host_note.store(new (host) Note{}, std::memory_order_release);
  });
  return d;
}

// One of CMake's architectures, as in "90-real": code for GPUs of that generation from that one on.
// "90" alone brings text too, which the driver compiles for all that come after it.
bool serves(const char* architecture, int major, int minor) {
  char* rest;
  const int number = int(std::strtol(architecture, &rest, 10));
  if (rest == architecture) return true;  // "native": made where it is used
  const bool has_text = std::strncmp(rest, "-real", 5) != 0;
  return (number / 10 == major && number % 10 <= minor) ||
         (has_text && number <= major * 10 + minor);
}
bool has_code_for(int major, int minor) {
  for (const char* at = kArchitectures; at; at = std::strchr(at, ',')) {
    if (*at == ',') ++at;
    if (serves(at, major, minor)) return true;
  }
  return false;
}

struct Served {
  int count = 0;
  std::string why_not_more;
};
const Served& served() {
  static const Served* all = [] {
    auto* found = new Served;
    int n = 0;
    pthread_atfork(nullptr, nullptr, [] { forked_child = true; });
    if (const cudaError_t error = cudaGetDeviceCount(&n); error != cudaSuccess) {
      cudaGetLastError();
      if (error != cudaErrorNoDevice)
        found->why_not_more = std::string("CUDA error: ") + cudaGetErrorString(error);
    }
    for (; found->count < n && found->count < kMostDevices; ++found->count) {
      int major = 0, minor = 0;
      check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, found->count),
            "CUDA");
      check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, found->count),
            "CUDA");
      if (has_code_for(major, minor)) continue;
      const std::string wanted = std::to_string(major) + std::to_string(minor);
      found->why_not_more = "GPU " + std::to_string(found->count) + " has compute capability " +
                            std::to_string(major) + "." + std::to_string(minor) +
                            ", and this library was built for " + kArchitectures +
                            "; to build it for that one: pip install "
                            "-Ccmake.define.RUSHLIGHT_CUDA_ARCHS=" +
                            wanted + "-real .";
      break;
    }
    return found;
  }();
  return *all;
}

// A note that is still being written stays for the next call, as no kernel of its own stream or
// device, which were waited for, is writing any more. Only what is whole is cleared.
bool take_note(DeviceState& d, Note& note, Note& seen) {
  const std::atomic_ref state(note.state);
  if (state.load(std::memory_order_acquire) != kNoteWritten) [[likely]]
    return false;
  const std::lock_guard lock(d.reading);
  if (state.load(std::memory_order_acquire) != kNoteWritten) return false;  // another thread's now
  seen = note;
  state.store(kNoteFree, std::memory_order_release);
  return true;
}

[[noreturn]] void raise_note(int index, const Note& seen) {
  constexpr const char* formats[] = {
      "",
      "index %lld is out of bounds for dimension with size %lld",
      "Target %lld is out of bounds.",
      "index out of range in self",
      "Found an invalid max index: %lld (output volumes are of size %lld)",
      "pivot %lld: pivots must all be greater or equal to 1 and at most %lld"};
  char words[400];
  const int n =
      std::snprintf(words, sizeof words, formats[seen.op], static_cast<long long>(seen.value),
                    static_cast<long long>(seen.size));
  std::snprintf(
      words + n, sizeof words - std::size_t(n),
      "\na kernel of cuda:%d met %lld where the size is %lld, took 0 instead and went on: "
      "what it has computed is not to be used\nwith RUSHLIGHT_LAUNCH_BLOCKING=1 the error "
      "is raised by the call that caused it",
      index, static_cast<long long>(seen.value), static_cast<long long>(seen.size));
  throw DeviceError(
      seen.op == int(Noted::pivot) ? DeviceError::Kind::fault : DeviceError::Kind::index, words);
}

}  // namespace

Current& current() { return here; }

int device_count() { return served().count; }
const char* why_not_more() {
  return served().why_not_more.empty() ? nullptr : served().why_not_more.c_str();
}

bool blocking() {
  static const bool yes = [] {
    const char* text = std::getenv("RUSHLIGHT_LAUNCH_BLOCKING");
    return text && *text && *text != '0';
  }();
  return yes;
}

void check(cudaError_t error, const char* op) {
  if (error != cudaSuccess) [[unlikely]]
    raise(error, op);
}

void finish_launch(cudaError_t error, const char* op) {
  last_op = op;
  check(error, op);
  if (!blocking()) return;
  check(cudaStreamSynchronize(here.stream), op);
  raise_notes();
}

bool is_forked_child() { return forked_child.load(std::memory_order_relaxed); }

void enter(int index, StreamId stream) {
  go_to(index);
  here.stream = reinterpret_cast<cudaStream_t>(stream);
  if (here.device == index) return;
  here.device = index;
  here.note = device_at(index).note;
}

OnDevice::OnDevice(int index) : index_(index), before_(device_now()) {
  if (before_ != index_) check(cudaSetDevice(index_), "cudaSetDevice");
}
// A thread that has chosen no device is on device 0, and to choose that would start it: it must be
// in use already.
OnDevice::~OnDevice() {
  if (before_ == index_ || (before_ == 0 && !devices()[0].host_note.load())) return;
  if (cudaSetDevice(before_) != cudaSuccess) cudaGetLastError();
}

cudaEvent_t event_after(OnStream s) {
  const OnDevice there(s.device);
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "event");
  check(cudaEventRecord(event, s.stream), "event");
  return event;
}

void order(OnStream earlier, OnStream later) {
  const cudaEvent_t event = event_after(earlier);
  const OnDevice there(later.device);
  check(cudaStreamWaitEvent(later.stream, event, 0), "event");
  check(cudaEventDestroy(event), "event");  // it goes when it has come to pass
}

void raise_notes() {
  Note seen;
  for (int index = 0; index < device_count(); ++index) {
    DeviceState& d = devices()[index];
    Note* note = d.host_note.load(std::memory_order_acquire);
    if (note && take_note(d, *note, seen)) raise_note(index, seen);
  }
}

}  // namespace rushlight::gpu
