// TCP with deadlines: every descriptor is non-blocking, every wait a poll() of a tenth of a second
// at most, between which signals are looked at.
#include "distributed/socket.h"

#include <arpa/inet.h>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sstream>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace rushlight::distributed {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses addresses_of(const std::string& host, int port, int* error) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  *error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  return {found, &freeaddrinfo};
}

// Waits for an event; false at the deadline.
bool wait_for(int fd, short event, Deadline deadline) {
  for (;;) {
    pollfd one{fd, event, 0};
    const auto left =
        std::chrono::duration_cast<Milliseconds>(next_look(deadline) - Clock::now()).count();
    const int ready = poll(&one, 1, int(std::max<std::int64_t>(left, 0)));
    if (ready > 0) return true;
    look_at_signals();
    if (Clock::now() >= deadline) return false;
  }
}

// Whether a connection came about before the deadline; errno says why not.
bool connect_one(const Socket& s, const addrinfo& to, Deadline deadline) {
  if (connect(s.fd(), to.ai_addr, to.ai_addrlen) == 0) return true;
  if (errno != EINPROGRESS) return false;
  if (!wait_for(s.fd(), POLLOUT, deadline)) return errno = ETIMEDOUT, false;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(s.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
  return errno = error, error == 0;
}

void sleep_until_look(Milliseconds time, Deadline deadline) {
  std::this_thread::sleep_until(std::min(deadline, Clock::now() + time));
  look_at_signals();
}

// "process 4711 (python train.py) ", or nothing where that cannot be seen.
std::string listening_process(int port) {
  std::string inode, line, word;
  for (const char* file : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream table(file);
    while (inode.empty() && std::getline(table, line)) {
      std::istringstream words(line);
      std::string fields[10];
      for (std::string& field : fields) words >> field;
      const auto colon = fields[1].rfind(':');
      if (fields[3] != "0A" || colon == std::string::npos) continue;  // 0A: listening
      if (std::strtol(fields[1].c_str() + colon + 1, nullptr, 16) == port) inode = fields[9];
    }
  }
  if (inode.empty()) return {};
  const std::string wanted = "socket:[" + inode + "]";
  const std::unique_ptr<DIR, int (*)(DIR*)> processes(opendir("/proc"), &closedir);
  while (const dirent* process = processes ? readdir(processes.get()) : nullptr) {
    if (!std::isdigit(static_cast<unsigned char>(process->d_name[0]))) continue;
    const std::string home = std::string("/proc/") + process->d_name;
    const std::unique_ptr<DIR, int (*)(DIR*)> files(opendir((home + "/fd").c_str()), &closedir);
    while (const dirent* file = files ? readdir(files.get()) : nullptr) {
      char target[64] = {};
      if (readlink((home + "/fd/" + file->d_name).c_str(), target, sizeof target - 1) < 0) continue;
      if (wanted != target) continue;
      std::ifstream command_file(home + "/cmdline");
      std::string command, part;
      while (command.size() < 80 && std::getline(command_file, part, '\0')) command += part + " ";
      return text("process ", process->d_name, " (", command.substr(0, command.size() - 1), ")");
    }
  }
  return {};
}

[[noreturn]] void fail_listen(int port, int error) {
  const char* word = error == EADDRINUSE ? "EADDRINUSE" : error == EACCES ? "EACCES" : "?";
  std::string more;
  if (error == EADDRINUSE) {
    const std::string process = listening_process(port);
    more = text("\nport ", port, " is in use", process.empty() ? "" : " by ", process,
                "\nanother run may still be there; choose another port (MASTER_PORT), or 0 for a "
                "free one");
  }
  fail<NetworkError>("The server socket has failed to listen on any local network address. port: ",
                     port, ", useIpv6: false, code: ", -error, ", name: ", word,
                     ", message: ", std::strerror(error), more);
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

}  // namespace

Socket::~Socket() {
  if (fd_ >= 0) close(fd_);
}

bool Socket::wait_readable(Deadline deadline) const { return wait_for(fd_, POLLIN, deadline); }

void Socket::write_all(std::string_view bytes, Deadline deadline) const {
  while (!bytes.empty()) {
    const ssize_t n = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n > 0)
      bytes.remove_prefix(std::size_t(n));
    else if (n < 0 && errno != EAGAIN && errno != EINTR)
      fail<NetworkError>(std::strerror(errno), "\nthe store went away: rank 0 has ended?");
    else if (!wait_for(fd_, POLLOUT, deadline))
      fail<NetworkError>("the store takes no more bytes: is its process stopped?");
  }
}

void Socket::read_all(char* bytes, std::size_t count, Deadline deadline) const {
  while (count) {
    const ssize_t n = recv(fd_, bytes, count, 0);
    if (n > 0) {
      bytes += n;
      count -= std::size_t(n);
    } else if (n == 0) {
      fail<NetworkError>(
          "Failed to recv, got 0 bytes. Connection was likely closed. Did the remote server "
          "shutdown or crash?\nthe store went away: rank 0 has ended?");
    } else if (errno != EAGAIN && errno != EINTR) {
      fail<NetworkError>(std::strerror(errno), "\nthe store went away: rank 0 has ended?");
    } else if (!wait_for(fd_, POLLIN, deadline)) {
      fail<NetworkError>("the store does not answer: is its process stopped?");
    }
  }
}

Socket connect_to(const std::string& host, int port, Milliseconds timeout) {
  const Deadline deadline = after(timeout);
  Milliseconds pause(10);
  int error = 0;
  for (;;) {
    int unknown = 0;
    const Addresses found = addresses_of(host, port, &unknown);
    for (const addrinfo* to = found.get(); to; to = to->ai_next) {
      Socket s(socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      if (s && connect_one(s, *to, deadline)) {
        const int on = 1;
        setsockopt(s.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        return s;
      }
      error = errno;
    }
    if (Clock::now() >= deadline)
      fail<NetworkError>("The client socket has timed out after ", timeout.count(),
                         "ms while trying to connect to (", host, ", ", port, ").\n",
                         unknown ? gai_strerror(unknown) : std::strerror(error),
                         "; is rank 0 running, and is this its address (MASTER_ADDR) and port?");
    sleep_until_look(pause, deadline);
    pause = std::min(pause * 2, Milliseconds(200));
  }
}

Socket listen_at(const std::string& host, int port) {
  int unknown = 0, error = EADDRNOTAVAIL;
  const bool near = is_loopback(host);
  const Addresses found = addresses_of(near ? host : "::", port, &unknown);
  const Addresses plain = addresses_of("0.0.0.0", port, &unknown);
  for (const addrinfo* list : {found.get(), near ? nullptr : plain.get()})
    for (const addrinfo* at = list; at; at = at->ai_next) {
      Socket s(socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      if (!s) continue;
      const int on = 1, off = 0;
      setsockopt(s.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
      if (at->ai_family == AF_INET6)
        setsockopt(s.fd(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
      if (bind(s.fd(), at->ai_addr, at->ai_addrlen) == 0 && listen(s.fd(), 1024) == 0) return s;
      error = errno;
      if (error == EADDRINUSE) fail_listen(port, error);
    }
  fail_listen(port, error);
}

int port_of(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return -1;
  if (address.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return address.ss_family == AF_INET
             ? ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port)
             : -1;
}

std::string near_address(const Socket& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  char name[NI_MAXHOST] = {};
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (getsockname(socket.fd(), plain, &size) != 0 ||
      getnameinfo(plain, size, name, sizeof name, nullptr, 0, NI_NUMERICHOST) != 0)
    return {};
  const std::string_view found = name;
  return std::string(found.starts_with("::ffff:") ? found.substr(7) : found);
}

}  // namespace rushlight::distributed
