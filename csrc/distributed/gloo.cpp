// Threads, time-outs and the way out of a wait: Gloo has none but the end of its connections.
#include "distributed/gloo.h"

#include <algorithm>
#include <cstdlib>
#include <dirent.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "distributed/server.h"
#include "distributed/thread.h"

namespace rushlight::distributed {

struct Gloo::State {
  void* context;
  Sockets sockets;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Job> jobs;
  std::deque<Job> messages;  // that no thread has taken yet
  std::condition_variable message_came;
  int idle = 0;  // threads that wait for a message
  std::string broken;
  bool closing = false;
  bool runs = false;  // a collective, since when
  Clock::time_point since;
  int threads = 0;
};

Sockets open_connections() {
  Sockets found;
  const std::unique_ptr<DIR, int (*)(DIR*)> files(opendir("/proc/self/fd"), &closedir);
  while (const dirent* entry = files ? readdir(files.get()) : nullptr) {
    char* end = nullptr;
    const int fd = int(std::strtol(entry->d_name, &end, 10));
    struct stat status{};
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    if (end == entry->d_name || fstat(fd, &status) != 0 || !S_ISSOCK(status.st_mode)) continue;
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) continue;
    if (peer.ss_family != AF_INET && peer.ss_family != AF_INET6) continue;
    if (!Server::serves(port_of(fd)))  // the store's clients may come at any time
      found.emplace_back(fd, (unsigned long)status.st_ino);
  }
  return found;
}

Gloo::Gloo(void* context, const Sockets& before)
    : state_(std::make_shared<State>()), process_(getpid()) {
  state_->context = context;
  for (const auto& each : open_connections())
    if (std::find(before.begin(), before.end(), each) == before.end())
      state_->sockets.push_back(each);
  state_->threads = 1;
  start_thread([state = state_] { run(state); });
}

Gloo::~Gloo() {
  if (getpid() != process_) return;
  abort("the process group was destroyed");
  close(Milliseconds(1000));
}

void Gloo::run(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  for (;;) {
    state->changed.wait(lock, [&] { return state->closing || !state->jobs.empty(); });
    if (state->jobs.empty()) break;
    const Job job = std::move(state->jobs.front());
    state->jobs.pop_front();
    state->runs = true;
    state->since = Clock::now();
    lock.unlock();
    execute(*state, job);
    lock.lock();
    state->runs = false;
  }
  --state->threads;
  state->changed.notify_all();
}

// What Gloo says, without its mark and without the path of its source.
static std::string plain(std::string words) {
  if (const auto at = words.find("] "); words.starts_with("[") && at < 200) words.erase(0, at + 2);
  std::erase_if(words, [](char c) { return static_cast<unsigned char>(c) > 126; });
  const auto first = words.find_first_not_of(' ');
  return first == std::string::npos ? "failed" : words.substr(first);
}

static void shut(const Sockets& sockets) {
  for (const auto& [fd, inode] : sockets) {
    struct stat status{};  // another file may have the number now
    if (fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode) && status.st_ino == inode)
      shutdown(fd, SHUT_RDWR);
  }
}

void Gloo::execute(State& state, const Job& job) {
  std::string error;
  {
    const std::lock_guard lock(state.mutex);
    error = state.broken;
  }
  if (error.empty()) {
    try {
      call_gloo(state.context, job.first);
    } catch (const std::exception& e) {
      error = plain(e.what());
    } catch (...) {
      error = "an exception of an unknown type";
    }
    if (!error.empty()) {
      const std::lock_guard lock(state.mutex);
      if (state.broken.empty()) state.broken = error;
      shut(state.sockets);
    }
  }
  job.second->finish(error);
}

std::shared_ptr<Work> Gloo::submit(const GlooCall& operation) {
  if (const auto why = not_of_this_process(process_); !why.empty()) fail<BackendError>(why);
  Job job(operation, std::make_shared<Work>());
  using Call = GlooCall::Call;
  const std::unique_lock lock(state_->mutex);
  if (state_->closing) fail<BackendError>("this process group has been destroyed");
  if (operation.call != Call::send && operation.call != Call::receive) {
    state_->jobs.push_back(job);
    state_->changed.notify_all();
    return job.second;
  }
  state_->messages.push_back(job);
  if (state_->idle >= int(state_->messages.size())) {
    state_->message_came.notify_one();
    return job.second;
  }
  ++state_->threads;
  try {
    start_thread([state = state_] { run_messages(state); });
  } catch (...) {
    --state_->threads;
    state_->messages.pop_back();
    throw;
  }
  return job.second;
}

// Executes messages one after another, and stays for a while: a new thread takes ten times as long
// as a small message.
void Gloo::run_messages(const std::shared_ptr<State>& state) {
  constexpr std::chrono::seconds kStays(5);
  std::unique_lock lock(state->mutex);
  for (;;) {
    if (state->messages.empty()) {
      ++state->idle;
      state->message_came.wait_for(lock, kStays,
                                   [&] { return !state->messages.empty() || state->closing; });
      --state->idle;
      if (state->messages.empty()) break;
    }
    const Job job = state->messages.front();
    state->messages.pop_front();
    lock.unlock();
    execute(*state, job);
    lock.lock();
  }
  --state->threads;
  state->changed.notify_all();
}

void Gloo::abort(const std::string& reason) {
  if (getpid() != process_) return;
  const std::lock_guard lock(state_->mutex);
  if (state_->broken.empty()) state_->broken = reason;
  shut(state_->sockets);
}

bool Gloo::overdue(Milliseconds timeout) {
  if (getpid() != process_) return false;
  const std::lock_guard lock(state_->mutex);
  return state_->runs && Clock::now() - state_->since > timeout;
}

std::string Gloo::broken() {
  if (auto why = not_of_this_process(process_); !why.empty()) return why;
  const std::lock_guard lock(state_->mutex);
  return state_->broken;
}

bool Gloo::close(Milliseconds timeout) {
  if (getpid() != process_) return false;
  std::unique_lock lock(state_->mutex);
  state_->closing = true;
  state_->changed.notify_all();
  state_->message_came.notify_all();
  return state_->changed.wait_until(lock, after(timeout), [&] { return state_->threads == 0; });
}

}  // namespace rushlight::distributed
