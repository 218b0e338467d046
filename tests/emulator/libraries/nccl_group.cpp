// NCCL between processes of one machine, for tests: a socket between each two of them. A call is
// done when its stream comes to it: every rank tells every other what it was asked for, with its
// elements, so that calls that differ are found. A rank that waits goes on when its communicator is
// aborted, or a peer has gone.
#include "nccl_group.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

#include "kernels/dtype.h"
#include "memory.h"

namespace emulated {
namespace {

using Clock = std::chrono::steady_clock;
using Bytes = std::vector<char>;
constexpr auto kPatience = std::chrono::seconds(30);  // with a peer that neither comes nor goes

std::mutex words_turn;
std::string words;  // of the last error
ncclResult_t refuse(ncclResult_t status, const std::string& why) {
  const std::lock_guard lock(words_turn);
  words = why;
  return status;
}

struct Header {
  int what, element, operation, peer;
  std::size_t count;
  bool operator==(const Header&) const = default;
};
Header header_of(const GroupCall& c) {
  const bool message = c.what == GroupCall::send || c.what == GroupCall::receive;
  return {message ? int(GroupCall::send) : int(c.what), c.element, c.operation,
          message ? -1 : c.peer, c.count};
}

// a = a op b, as the ranks follow each other.
template <class T>
T joined(int operation, T a, T b) {
  if (operation == ncclProd) return T(a * b);
  if (operation == ncclMax) return a > b ? a : b;
  if (operation == ncclMin) return a < b ? a : b;
  return T(a + b);
}
template <class T>
void join_all(int operation, char* total, const char* part, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    T a, b;
    std::memcpy(&a, total + i * sizeof(T), sizeof(T));
    std::memcpy(&b, part + i * sizeof(T), sizeof(T));
    if constexpr (std::is_arithmetic_v<T>)
      a = joined(operation, a, b);
    else
      rushlight::store(&a, joined(operation, rushlight::load(&a), rushlight::load(&b)));
    std::memcpy(total + i * sizeof(T), &a, sizeof(T));
  }
}
void join_elements(ncclDataType_t e, int operation, char* total, const char* part, std::size_t n) {
  switch (e) {
    case ncclInt8: return join_all<std::int8_t>(operation, total, part, n);
    case ncclUint8: return join_all<std::uint8_t>(operation, total, part, n);
    case ncclInt32: return join_all<std::int32_t>(operation, total, part, n);
    case ncclInt64: return join_all<std::int64_t>(operation, total, part, n);
    case ncclFloat16: return join_all<rushlight::float16>(operation, total, part, n);
    case ncclBfloat16: return join_all<rushlight::bfloat16>(operation, total, part, n);
    case ncclFloat32: return join_all<float>(operation, total, part, n);
    case ncclFloat64: return join_all<double>(operation, total, part, n);
  }
}

sockaddr_un address_of(const ncclUniqueId& id, int rank, socklen_t& size) {
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  const std::string name = std::string(id.internal) + "-" + std::to_string(rank);
  std::memcpy(a.sun_path + 1, name.data(), name.size());  // abstract: no file is left behind
  size = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return a;
}

}  // namespace

class Across {
 public:
  Across(int size, const ncclUniqueId& id, int rank, int device)
      : id_(id), rank_(rank), size_(size), device_(device), sockets_(std::size_t(size), -1) {
    connecting_ = std::thread([this] { connect_all(); });
  }
  ~Across() {
    stop_ = true;
    connecting_.join();
    const std::lock_guard lock(turn_);
    for (const int fd : sockets_)
      if (fd >= 0) ::close(fd);
  }
  void stop() { stop_ = true; }
  ncclResult_t state() const { return state_; }

  std::vector<GroupCall> asked;
  int rank() const { return rank_; }
  int size() const { return size_; }
  bool fits(const GroupCall& c) const {
    const std::uint64_t bytes = c.count * bytes_of(c.element), all = bytes * std::uint64_t(size_);
    const bool reads = c.what != GroupCall::receive;
    const bool writes =
        c.what != GroupCall::send && (c.what != GroupCall::reduce || c.peer == rank_);
    const std::uint64_t read = c.what == GroupCall::reduce_scatter ? all : bytes;
    const std::uint64_t written = c.what == GroupCall::all_gather ? all : bytes;
    return (!reads || holds("what is read", c.from, read, device_)) &&
           (!writes || holds("what is written", c.to, written, device_)) && c.peer >= 0 &&
           c.peer < size_;
  }

  void run(const std::vector<GroupCall>& calls) {
    const std::lock_guard lock(turn_);
    if (stop_ || state_ != ncclSuccess) return;
    std::vector<GroupCall> messages;
    for (const GroupCall& c : calls) {
      if (c.what == GroupCall::send || c.what == GroupCall::receive)
        messages.push_back(c);
      else
        collective(c);
    }
    if (!messages.empty()) exchange(messages);
  }

 private:
  void fail(const std::string& why) { state_ = refuse(ncclRemoteError, why); }

  void connect_all() {
    socklen_t length = 0;
    const sockaddr_un own = address_of(id_, rank_, length);
    const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(server, reinterpret_cast<const sockaddr*>(&own), length) != 0 ||
        listen(server, size_) != 0)
      return fail("bind");
    const auto deadline = Clock::now() + kPatience;
    int left = size_ - 1;
    for (int r = 0; r < rank_; ++r) {
      const sockaddr_un peer = address_of(id_, r, length);
      const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      while (connect(fd, reinterpret_cast<const sockaddr*>(&peer), length) != 0) {
        if (stop_ || Clock::now() > deadline) return fail("a rank has not come");
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      const int hello[2] = {rank_, device_};
      int theirs = -1;
      if (::send(fd, hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello ||
          recv(fd, &theirs, sizeof theirs, MSG_WAITALL) != sizeof theirs)
        return fail("a rank has gone");
      if (!greet(r, theirs, fd)) return;
      --left;
    }
    while (left > 0) {
      pollfd waiting{server, POLLIN, 0};
      if (stop_ || Clock::now() > deadline) return fail("a rank has not come");
      if (poll(&waiting, 1, 20) <= 0) continue;
      const int fd = accept4(server, nullptr, nullptr, SOCK_CLOEXEC);
      int hello[2] = {};
      if (recv(fd, hello, sizeof hello, MSG_WAITALL) != sizeof hello || hello[0] <= rank_ ||
          hello[0] >= size_ || ::send(fd, &device_, sizeof device_, MSG_NOSIGNAL) < 0)
        return fail("a rank has gone");
      if (!greet(hello[0], hello[1], fd)) return;
      --left;
    }
    ::close(server);
    state_ = ncclSuccess;
  }
  bool greet(int rank, int device, int fd) {
    sockets_[std::size_t(rank)] = fd;
    if (device != device_) return true;
    state_ = refuse(ncclInvalidUsage, "Duplicate GPU detected : rank " + std::to_string(rank_) +
                                          " and rank " + std::to_string(rank) +
                                          " both on CUDA device " + std::to_string(device));
    return false;
  }

  // Sends and receives all at once, whatever the order at the other ends.
  bool swap(const std::map<int, Bytes>& out, std::map<int, Bytes>& in) {
    std::map<int, std::size_t> sent, got;
    const auto deadline = Clock::now() + kPatience;
    for (;;) {
      std::vector<pollfd> all;
      std::vector<int> ranks;
      for (int r = 0; r < size_; ++r) {
        const bool writes = out.count(r) && sent[r] < out.at(r).size();
        const bool reads = in.count(r) && got[r] < in.at(r).size();
        if (!writes && !reads) continue;
        const short what = short((writes ? POLLOUT : 0) | (reads ? POLLIN : 0));
        all.push_back({sockets_[std::size_t(r)], what, 0});
        ranks.push_back(r);
      }
      if (all.empty()) return true;
      if (stop_) return (fail("aborted"), false);
      if (Clock::now() > deadline) return (fail("a rank does not answer"), false);
      poll(all.data(), all.size(), 20);
      for (std::size_t i = 0; i < all.size(); ++i) {
        const int r = ranks[i];
        ssize_t n = 1;
        if (all[i].revents & (POLLIN | POLLHUP | POLLERR) && all[i].events & POLLIN) {
          n = recv(all[i].fd, in[r].data() + got[r], in[r].size() - got[r], MSG_DONTWAIT);
          if (n > 0) got[r] += std::size_t(n);
        } else if (all[i].revents & (POLLOUT | POLLHUP | POLLERR)) {
          n = ::send(all[i].fd, out.at(r).data() + sent[r], out.at(r).size() - sent[r],
                     MSG_DONTWAIT | MSG_NOSIGNAL);
          if (n > 0) sent[r] += std::size_t(n);
        }
        if (n == 0 || (n < 0 && errno != EAGAIN))
          return (fail("rank " + std::to_string(r) + " has gone"), false);
      }
    }
  }

  static void append(Bytes& to, const GroupCall& c, std::size_t part = 0) {
    const Header h = header_of(c);
    const auto* first = reinterpret_cast<const char*>(&h);
    to.insert(to.end(), first, first + sizeof h);
    const std::size_t bytes = c.count * bytes_of(c.element);
    const auto* from = static_cast<const char*>(c.from) + part * bytes;
    to.insert(to.end(), from, from + bytes);
  }
  bool agrees(const GroupCall& c, const char* theirs, int rank) {
    const Header own = header_of(c);
    if (std::memcmp(&own, theirs, sizeof own) == 0) return true;
    wrong("rank %d is asked for something else than rank %d", rank_, rank);
    state_ = refuse(ncclInvalidUsage, "the ranks do not call the same");
    return false;
  }

  void collective(const GroupCall& c) {
    const std::size_t bytes = c.count * bytes_of(c.element);
    std::map<int, Bytes> out, in;
    const bool scatters = c.what == GroupCall::reduce_scatter;
    Bytes own;
    for (int r = 0; r < size_; ++r) {
      append(r == rank_ ? own : out[r], c, scatters ? std::size_t(r) : 0);
      if (r != rank_) in[r].resize(sizeof(Header) + bytes);
    }
    if (!swap(out, in)) return;
    in[rank_] = std::move(own);
    for (const auto& [r, data] : in)
      if (r != rank_ && !agrees(c, data.data(), r)) return;
    const auto part = [&](int r) { return in.at(r).data() + sizeof(Header); };
    auto* to = static_cast<char*>(c.to);
    if (c.what == GroupCall::broadcast) {
      std::memcpy(to, part(c.peer), bytes);
    } else if (c.what == GroupCall::all_gather) {
      for (int r = 0; r < size_; ++r) std::memcpy(to + std::size_t(r) * bytes, part(r), bytes);
    } else if (c.what == GroupCall::all_reduce || scatters || c.peer == rank_) {
      Bytes total(part(0), part(0) + bytes);
      for (int r = 1; r < size_; ++r)
        join_elements(c.element, c.operation, total.data(), part(r), c.count);
      std::memcpy(to, total.data(), bytes);
    }
  }

  void exchange(const std::vector<GroupCall>& calls) {
    std::map<int, Bytes> out, in;
    for (const GroupCall& c : calls) {
      if (c.what == GroupCall::send)
        append(out[c.peer], c);
      else
        in[c.peer].resize(in[c.peer].size() + sizeof(Header) + c.count * bytes_of(c.element));
    }
    Bytes own = std::move(out[rank_]);
    if (own.size() != in[rank_].size()) return fail("a rank sends itself what it does not receive");
    in.erase(rank_);
    out.erase(rank_);
    if (!swap(out, in)) return;
    in[rank_] = std::move(own);
    std::map<int, std::size_t> at;
    for (const GroupCall& c : calls) {
      if (c.what != GroupCall::receive) continue;
      const char* data = in.at(c.peer).data() + at[c.peer];
      if (!agrees(c, data, c.peer)) return;
      const std::size_t bytes = c.count * bytes_of(c.element);
      std::memcpy(c.to, data + sizeof(Header), bytes);
      at[c.peer] += sizeof(Header) + bytes;
    }
  }

  const ncclUniqueId id_;
  const int rank_, size_, device_;
  std::vector<int> sockets_;  // by rank
  std::atomic<ncclResult_t> state_{ncclInProgress};
  std::atomic<bool> stop_{false};
  std::mutex turn_;
  std::thread connecting_;
};

namespace {
using Held = std::shared_ptr<Across>;
std::mutex members_turn;
std::vector<Held>& members() {
  static auto* all = new std::vector<Held>;
  return *all;
}
}  // namespace

std::size_t bytes_of(ncclDataType_t e) {
  switch (e) {
    case ncclInt8:
    case ncclUint8: return 1;
    case ncclFloat16:
    case ncclBfloat16: return 2;
    case ncclInt64:
    case ncclFloat64: return 8;
    default: return 4;
  }
}

Across* join_across(int size, const ncclUniqueId& id, int rank, int device) {
  const std::lock_guard lock(members_turn);
  members().push_back(std::make_shared<Across>(size, id, rank, device));
  return members().back().get();
}
void leave_across(Across* a) {
  Held own;
  const std::lock_guard lock(members_turn);
  for (const Held& each : members())
    if (each.get() == a) own = each;
  if (!own) return;
  own->stop();
  std::erase(members(), own);  // work that is still in a stream holds it
}

ncclResult_t ask_across(Across& a, const GroupCall& call) {
  if (a.state() != ncclSuccess) return a.state();
  if (!a.fits(call)) return ncclInvalidArgument;
  a.asked.push_back(call);
  return ncclSuccess;
}
void end_across() {
  std::vector<Held> all;
  {
    const std::lock_guard lock(members_turn);
    all = members();
  }
  for (const Held& a : all) {
    if (a->asked.empty()) continue;
    const cudaStream_t stream = a->asked[0].stream;
    for (const GroupCall& c : a->asked)
      if (c.stream != stream) wrong("the calls of one group are on several streams");
    give(stream, [a, calls = std::exchange(a->asked, {})] { a->run(calls); });
  }
}
ncclResult_t state_of(Across& a) { return a.state(); }
const char* last_words() {
  const std::lock_guard lock(words_turn);
  static thread_local std::string kept;
  kept = words;
  return kept.c_str();
}

}  // namespace emulated
