// TCPStore: the client of a Server, and in one process the server too.
#pragma once
#include "distributed/interruptible_mutex.h"
#include "distributed/server.h"
#include "distributed/store.h"

namespace rushlight::distributed {

struct TCPStoreOptions {
  int port = 0;
  std::int64_t world_size = -1;  // below 1: no client is waited for
  bool is_master = false;
  Milliseconds timeout{300'000};
  bool wait_for_workers = true;
  bool multi_tenant = false;  // shares the server that this process has at the port
  int listen_fd = -1;         // a socket that already listens
};

class TCPStore : public Store {
 public:
  TCPStore(std::string host, const TCPStoreOptions& options);
  Reply call(const Request& request, Milliseconds timeout) override;
  std::shared_ptr<Store> clone() override;  // with a connection of its own
  const std::string& host() const { return host_; }
  int port() const { return port_; }
  bool is_server() const { return bool(server_); }
  std::string near_address();

 private:
  void connect(Milliseconds timeout);
  Reply read_reply(Deadline deadline);
  void wait_for_workers(const TCPStoreOptions& options);

  std::string host_;
  int port_;
  std::shared_ptr<Server> server_;
  InterruptibleMutex mutex_;  // one request at a time; guards what follows
  Socket socket_;
  pid_t process_ = 0;  // whose connection it is: a forked child opens its own
};

}  // namespace rushlight::distributed
