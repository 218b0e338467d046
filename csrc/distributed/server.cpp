// One thread, one epoll: requests in, replies out, nothing that blocks. A request that waits is
// kept with its connection and tried again when what it lacks is there.
#include "distributed/server.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <set>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernels/signals.h"

namespace rushlight::distributed {

// A client that does not read its replies is not read from, either.
constexpr std::size_t kUnreadReplies = std::size_t(1) << 20;

static std::mutex ports_mutex;
static std::multiset<int>& ports() {
  static auto& found = *new std::multiset<int>;
  return found;
}

bool Server::serves(int port) {
  const std::lock_guard lock(ports_mutex);
  return ports().contains(port);
}

Server::Server(Socket listening)
    : listening_(std::move(listening)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      port_(port_of(listening_.fd())),
      process_(getpid()) {
  int listens = 0;
  socklen_t size = sizeof listens;
  getsockopt(listening_.fd(), SOL_SOCKET, SO_ACCEPTCONN, &listens, &size);
  if (port_ < 0 || !listens) fail<ValueError>("the descriptor is not a listening TCP socket");
  if (!epoll_ || !stop_) fail<NetworkError>("no descriptors are left for the store's server");
  fcntl(listening_.fd(), F_SETFL, fcntl(listening_.fd(), F_GETFL) | O_NONBLOCK);
  for (const Socket* each : {&listening_, &stop_}) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = each->fd()}};
    epoll_ctl(epoll_.fd(), EPOLL_CTL_ADD, each->fd(), &event);
  }
  try {
    const SignalsBlocked blocked;
    thread_ = std::thread(&Server::run, this);
  } catch (const std::system_error& e) {
    fail<NetworkError>("no thread for the store's server: ", e.what());
  }
  const std::lock_guard lock(ports_mutex);
  ports().insert(port_);
}

Server::~Server() {
  if (getpid() != process_) {
    thread_.detach();
    return;
  }
  const std::uint64_t one = 1;
  (void)!write(stop_.fd(), &one, sizeof one);
  thread_.join();
  const std::lock_guard lock(ports_mutex);
  ports().erase(ports().find(port_));
}

std::shared_ptr<Server> Server::shared(const std::string& host, int port) {
  static std::mutex mutex;
  static auto& servers = *new std::map<int, std::weak_ptr<Server>>;
  const std::lock_guard lock(mutex);
  if (auto there = servers[port].lock(); there && there->process_ == getpid()) return there;
  auto made = std::make_shared<Server>(host, port);
  servers[made->port()] = made;
  return made;
}

void Server::run() {
  std::array<epoll_event, 64> events;
  for (;;) {
    // Without descriptors left, connections wait a moment: accepting would spin.
    const int n = epoll_wait(epoll_.fd(), events.data(), int(events.size()), accepting_ ? -1 : 100);
    if (n < 0 && errno != EINTR) return;
    if (!accepting_) {
      epoll_event event{.events = EPOLLIN, .data = {.fd = listening_.fd()}};
      epoll_ctl(epoll_.fd(), EPOLL_CTL_ADD, listening_.fd(), &event);
      accepting_ = true;
    }
    for (int i = 0; i < n; ++i) {
      const int fd = events[std::size_t(i)].data.fd;
      if (fd == stop_.fd()) return;
      if (fd == listening_.fd()) {
        accept_all();
      } else if (const auto at = connections_.find(fd); at != connections_.end()) {
        serve(*at->second);
      }
      while (!gone_.empty()) {  // its end may wake clients that are gone too
        const int last = gone_.back();
        gone_.pop_back();
        drop(last);
      }
    }
  }
}

void Server::accept_all() try {
  for (;;) {
    Socket s(accept4(listening_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!s) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        epoll_ctl(epoll_.fd(), EPOLL_CTL_DEL, listening_.fd(), nullptr);
        accepting_ = false;
      }
      if (errno != EINTR && errno != ECONNABORTED) return;
      continue;
    }
    const int on = 1, fd = s.fd();
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    auto c = std::make_unique<Connection>();
    c->socket = std::move(s);
    c->out = kHello;
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    if (epoll_ctl(epoll_.fd(), EPOLL_CTL_ADD, fd, &event) != 0) continue;
    c->events = EPOLLIN;
    flush(*(connections_[fd] = std::move(c)));
  }
} catch (const std::bad_alloc&) {
  // One connection less.
}

// A connection that does not keep to the rules, or whose bytes find no memory, is closed.
void Server::serve(Connection& c) {
  const int fd = c.socket.fd();
  try {
    flush(c);
    if (!read_some(c)) return gone_.push_back(fd);
    while (!c.lost && c.unread() < kUnreadReplies && take_message(c)) {
    }
    if (c.lost) return gone_.push_back(fd);
    c.in.erase(0, std::exchange(c.taken, 0));
    watch(c);
  } catch (const std::exception&) {
    gone_.push_back(fd);
  }
}

// False where the client has gone.
bool Server::read_some(Connection& c) {
  char bytes[1 << 16];
  for (int i = 0; i < 16 && c.unread() < kUnreadReplies; ++i) {
    const ssize_t n = recv(c.socket.fd(), bytes, sizeof bytes, 0);
    if (n > 0)
      c.in.append(bytes, std::size_t(n));
    else
      return n < 0 && (errno == EAGAIN || errno == EINTR);
    if (std::size_t(n) < sizeof bytes) return true;
  }
  return true;
}

// Answers the first message that is there as a whole; false where there is none.
bool Server::take_message(Connection& c) {
  if (!c.greeted) {
    const std::size_t n = std::min(c.in.size(), kHello.size());
    if (c.in.compare(0, n, kHello, 0, n) != 0) fail<NetworkError>("not a client of this store");
    if (n < kHello.size()) return false;
    c.taken = n;
    c.greeted = true;
  }
  const std::string_view rest = std::string_view(c.in).substr(c.taken);
  if (rest.size() < 4) return false;
  const std::size_t length = length_at(rest.data());
  if (length > kLongestMessage) fail<NetworkError>("a message of ", length, " bytes");
  if (rest.size() < 4 + length) return false;
  const std::optional<Request> request = decode_request(rest.substr(4, length));
  if (!request) fail<NetworkError>("not a request");
  c.taken += 4 + length;
  answer(c, *request);
  return true;
}

void Server::answer(Connection& c, const Request& request) {
  if (request.command == Command::cancel) {
    // One that has been answered meanwhile needs no other answer.
    if (!c.waiting) return;
    stop_waiting(c);
    return reply(c, {.is = Reply::Is::cancelled});
  }
  if (c.waiting) fail<NetworkError>("a request while another one waits");
  if (request.command == Command::will) c.will = request;
  std::string missing;
  if (std::optional<Reply> found = table_.apply(request, &missing)) {
    reply(c, *found);
    if (request.command != Command::will) wake(StoreTable::awaited(request));
  } else {
    c.waiting = request;
    wait(c, std::move(missing));
  }
}

void Server::wait(Connection& c, std::string missing) {
  waiting_[missing].push_back(c.socket.fd());
  c.missing = std::move(missing);
}

void Server::stop_waiting(Connection& c) {
  if (!c.waiting) return;
  c.waiting.reset();
  const auto at = waiting_.find(c.missing);
  if (at == waiting_.end()) return;
  std::erase(at->second, c.socket.fd());
  if (at->second.empty()) waiting_.erase(at);
}

// Tries again the requests that wait for one of these names.
void Server::wake(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto at = waiting_.find(name);
    if (at == waiting_.end()) continue;
    std::vector<int> waiters = std::move(at->second);
    waiting_.erase(at);
    for (const int fd : waiters) {
      const auto there = connections_.find(fd);
      if (there == connections_.end() || !there->second->waiting) continue;
      Connection& c = *there->second;
      std::string missing;
      const std::optional<Reply> found = table_.apply(*c.waiting, &missing);
      if (!found) {
        wait(c, std::move(missing));
        continue;
      }
      c.waiting.reset();
      reply(c, *found);
      watch(c);
    }
  }
}

void Server::reply(Connection& c, const Reply& reply) {
  c.out += encode(reply);
  flush(c);
}

void Server::flush(Connection& c) {
  while (c.unread()) {
    const ssize_t n = send(c.socket.fd(), c.out.data() + c.sent, c.unread(), MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    c.lost = n <= 0;  // what else it has asked for is no longer wanted
    if (c.lost) break;
    c.sent += std::size_t(n);
  }
  c.out.clear();
  c.sent = 0;
}

void Server::watch(Connection& c) {
  const std::uint32_t events =
      (c.unread() < kUnreadReplies ? EPOLLIN : 0u) | (c.unread() ? EPOLLOUT : 0u);
  if (events == c.events) return;
  c.events = events;
  epoll_event event{.events = events, .data = {.fd = c.socket.fd()}};
  epoll_ctl(epoll_.fd(), EPOLL_CTL_MOD, c.socket.fd(), &event);
}

void Server::drop(int fd) {
  const auto at = connections_.find(fd);
  if (at == connections_.end()) return;
  stop_waiting(*at->second);
  std::optional<Request> will = std::move(at->second->will);
  connections_.erase(at);
  if (!will) return;
  will->command = Command::set;
  std::string missing;
  table_.apply(*will, &missing);
  wake(StoreTable::awaited(*will));
}

}  // namespace rushlight::distributed
