// See nccl.h. Note: the watching thread holds no lock while it calls the provider, as that call may
// wait for another thread's.
#include "distributed/nccl.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <unistd.h>

#include "core/cuda.h"
#include "distributed/thread.h"

namespace rushlight::distributed {

constexpr Milliseconds kLook{100};  // between two looks at what is under way
constexpr Milliseconds kPatience{5000};  // with what is under way when the group is destroyed

struct Nccl::State {
  const GroupKernels* kernels;
  const DeviceRuntime* runtime;
  std::shared_ptr<GroupMember> member;  // null after close(); a caller keeps a reference meanwhile
  int device;
  StreamId stream;
  Milliseconds timeout;
  pid_t process = getpid();
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Part>> under_way;
  std::string broken;
  bool closing = false, watching = false;

  std::string reason() {
    if (auto why = not_of_this_process(process); !why.empty()) return why;
    const std::lock_guard lock(mutex);
    return broken;
  }
  std::shared_ptr<GroupMember> held() {
    const std::lock_guard lock(mutex);
    return member;
  }
  void fail_with(const std::string& words) {
    {
      const std::lock_guard lock(mutex);
      if (!broken.empty()) return;
      broken = words;
    }
    if (const auto own = held()) kernels->abort(own.get());
  }
  // Words of an error that came since the calls were enqueued.
  std::string look() {
    char words[1024] = "";
    if (auto why = reason(); !why.empty()) return why;
    const auto own = held();
    if (own && kernels->error(own.get(), words, sizeof words)) fail_with(words);
    return reason();
  }
};

static const GroupKernels& kernels_of_groups() {
  const CollectiveKernels* found = cuda_backend().collectives;
  if (!found || !found->groups) fail<BackendError>("these GPUs have no NCCL");
  return *found->groups;
}

std::string Nccl::new_id() {
  char id[kGroupIdBytes];
  if (!kernels_of_groups().new_id(id))
    fail<BackendError>(
        "Distributed package doesn't have NCCL: the library was not found\n`rushlight info` says "
        "where it was looked for: pip install nvidia-nccl-cu13");
  return {id, sizeof id};
}

Nccl::Nccl(int device, const std::string& id, int rank, int size, Milliseconds timeout)
    : state_(std::make_shared<State>()) {
  check_cuda_index(device);
  char given[kGroupIdBytes];
  if (id.size() != sizeof given || size < 1 || rank < 0 || rank >= size)
    fail<ValueError>("Nccl(): an id of ", sizeof given,
                     " bytes and a rank of the group are needed");
  std::memcpy(given, id.data(), sizeof given);
  State& s = *state_;
  s.kernels = &kernels_of_groups();
  s.runtime = cuda_backend().runtime;
  s.device = device;
  s.timeout = timeout;
  s.stream = s.runtime->new_stream(device, 0);
  s.member = {s.kernels->join(device, given, rank, size, timeout.count()),
              [kernels = s.kernels](GroupMember* m) {
                try {
                  kernels->leave(m, kPatience.count());
                } catch (const std::exception&) {  // a driver that is gone
                }
              }};
  s.watching = true;
  start_thread([state = state_] { watch(state); });
}

Nccl::~Nccl() {
  try {
    close();
  } catch (const std::exception&) {  // a driver that is gone
  }
}

void Nccl::watch(const std::shared_ptr<State>& state) {
  State& s = *state;
  std::unique_lock lock(s.mutex);
  while (!s.closing) {
    if (s.under_way.empty()) {
      s.changed.wait(lock);
      continue;
    }
    const std::shared_ptr<Part> first = s.under_way.front();
    lock.unlock();
    try {
      if (first->is_done()) {
        lock.lock();
        if (!s.under_way.empty() && s.under_way.front() == first) s.under_way.pop_front();
        continue;
      }
      if (Clock::now() > first->deadline_)
        s.fail_with(text("Timed out waiting ", s.timeout.count(), "ms"));
      s.look();
    } catch (const std::exception& e) {
      const std::lock_guard again(s.mutex);
      if (s.broken.empty()) s.broken = e.what();
    }
    lock.lock();
    if (!s.broken.empty()) s.under_way.clear();
    s.changed.wait_for(lock, kLook);
  }
  s.watching = false;
  s.changed.notify_all();
}

Nccl::Part::Part(std::shared_ptr<State> state, bool blocks)
    : state_(std::move(state)), blocks_(blocks), deadline_(after(state_->timeout)) {}

Nccl::Part::~Part() {
  if (event_) state_->runtime->release_event(event_);
}

void Nccl::Part::wait() {
  const State& s = *state_;
  if (!event_) return;
  if (const auto why = not_of_this_process(s.process); !why.empty()) fail<BackendError>(why);
  s.runtime->stream_wait(s.device, current_stream(s.device), event_);
  if (blocks_) s.runtime->event_synchronize(event_);
}

bool Nccl::Part::is_done() {
  return !state_->reason().empty() || (event_ && state_->runtime->event_done(event_));
}

std::string Nccl::Part::error() { return state_->look(); }

std::shared_ptr<Nccl::Part> Nccl::submit(const MemberCall& call, bool blocks) {
  State& s = *state_;
  if (const std::string reason = s.reason(); !reason.empty()) fail<BackendError>(reason);
  if (together_) {
    held_.push_back(call);
    return together_;
  }
  const auto part = std::make_shared<Part>(state_, blocks);
  enqueue({call}, part);
  return part;
}

void Nccl::enqueue(const std::vector<MemberCall>& calls, const std::shared_ptr<Part>& part) {
  State& s = *state_;
  void* before = s.runtime->new_event(s.device, false);
  try {
    s.runtime->record_event(before, s.device, current_stream(s.device));
    s.runtime->stream_wait(s.device, s.stream, before);
  } catch (...) {
    s.runtime->release_event(before);
    throw;
  }
  s.runtime->release_event(before);
  const auto own = s.held();
  if (!own) fail<BackendError>("this process group has been destroyed");
  try {
    s.kernels->enqueue(own.get(), calls.data(), int(calls.size()), s.stream, s.timeout.count());
  } catch (const std::exception& e) {
    s.fail_with(e.what());
    fail<BackendError>(e.what());
  }
  part->event_ = s.runtime->new_event(s.device, false);
  s.runtime->record_event(part->event_, s.device, s.stream);
  const std::lock_guard lock(s.mutex);
  s.under_way.push_back(part);
  s.changed.notify_all();
}

void Nccl::begin() {
  if (together_) fail<BackendError>("calls are already being held");
  together_ = std::make_shared<Part>(state_, false);
}

void Nccl::end() {
  const auto part = std::exchange(together_, nullptr);
  const auto calls = std::exchange(held_, {});
  if (part && !calls.empty()) enqueue(calls, part);
}

void Nccl::abort(const std::string& reason) {
  if (getpid() == state_->process) state_->fail_with(reason);
}

std::string Nccl::broken() { return state_->reason(); }

void Nccl::close() {
  State& s = *state_;
  if (getpid() != s.process || !s.held()) return;
  {
    const std::lock_guard lock(s.mutex);
    for (const auto& part : s.under_way)
      part->deadline_ = std::min(part->deadline_, after(kPatience));
  }
  if (s.reason().empty()) s.runtime->stream_synchronize(s.device, s.stream);
  std::shared_ptr<GroupMember> own;
  {
    std::unique_lock lock(s.mutex);
    s.closing = true;
    s.changed.notify_all();
    s.changed.wait(lock, [&] { return !s.watching; });
    s.under_way.clear();
    if (s.broken.empty()) s.broken = "this process group has been destroyed";
    own = std::move(s.member);
  }
}

}  // namespace rushlight::distributed
