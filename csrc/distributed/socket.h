// Socket: a TCP connection whose every wait has a deadline; listening sockets, and which process
// has a port already.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "distributed/errors.h"

namespace rushlight::distributed {

// Owns a descriptor.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  Socket& operator=(Socket&& o) noexcept {
    std::swap(fd_, o.fd_);
    return *this;
  }
  ~Socket();
  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

  // Both look at signals while they wait; NetworkError at the deadline or where the other side has
  // gone. After an error the connection is of no use.
  void write_all(std::string_view bytes, Deadline deadline) const;
  void read_all(char* bytes, std::size_t count, Deadline deadline) const;
  // Waits for bytes to read; false at the deadline.
  bool wait_readable(Deadline deadline) const;

 private:
  int fd_ = -1;
};

// Tries all addresses of the name, again and again until the deadline.
Socket connect_to(const std::string& host, int port, Milliseconds timeout);
// Port 0 is any free one. Loopback addresses are listened at alone, other names at all interfaces.
Socket listen_at(const std::string& host, int port);
int port_of(int fd);
// The near end of a connection: where peers that reach the other end reach this host.
std::string near_address(const Socket& socket);

}  // namespace rushlight::distributed
