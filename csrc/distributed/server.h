// Server: the thread that serves a StoreTable over TCP. It needs no lock of Python, so that it
// answers while rank 0 waits. Whatever arrives, it neither ends the process nor waits for a client:
// bytes that are no request end their connection.
#pragma once
#include <memory>
#include <thread>
#include <unordered_map>

#include "distributed/socket.h"
#include "distributed/store_table.h"

namespace rushlight::distributed {

class Server {
 public:
  // Port 0 is any free one.
  Server(const std::string& host, int port) : Server(listen_at(host, port)) {}
  explicit Server(Socket listening);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  int port() const { return port_; }

  // The server of this port in this process, made if there is none.
  static std::shared_ptr<Server> shared(const std::string& host, int port);
  // Whether a server of this process listens at the port.
  static bool serves(int port);

 private:
  struct Connection {
    Socket socket;
    bool greeted = false, lost = false;
    std::string in, out;
    std::size_t taken = 0, sent = 0;  // how much of them is done with
    std::optional<Request> waiting, will;
    std::string missing;  // what `waiting` waits for
    std::size_t unread() const { return out.size() - sent; }
    std::uint32_t events = 0;  // what epoll watches
  };

  void run();
  void accept_all();
  void serve(Connection& c);
  bool read_some(Connection& c);
  bool take_message(Connection& c);
  void answer(Connection& c, const Request& request);
  void wait(Connection& c, std::string missing);
  void stop_waiting(Connection& c);
  void wake(const std::vector<std::string>& names);
  void reply(Connection& c, const Reply& reply);
  void flush(Connection& c);
  void watch(Connection& c);
  void drop(int fd);

  Socket listening_, epoll_, stop_;
  int port_;
  pid_t process_;  // a forked child has no thread to stop
  bool accepting_ = true;
  StoreTable table_;
  std::unordered_map<int, std::unique_ptr<Connection>> connections_;
  std::unordered_map<std::string, std::vector<int>> waiting_;  // name -> waiters
  std::vector<int> gone_;  // dropped when no reference is held
  std::thread thread_;
};

}  // namespace rushlight::distributed
