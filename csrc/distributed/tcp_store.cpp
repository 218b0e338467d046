// The client's side of a request. Note: after an error in the middle of a message the connection is
// closed, and the next request opens another; a wait that ends early is taken back in order.
#include "distributed/tcp_store.h"

#include <unistd.h>

namespace rushlight::distributed {

// What a request that does not wait may take at least, however short the store's time-out is.
constexpr Milliseconds kAnswer(5000);

TCPStore::TCPStore(std::string host, const TCPStoreOptions& options)
    : host_(std::move(host)), port_(options.port) {
  set_timeout(options.timeout);
  if (port_ < 0 || port_ > 65535) fail<ValueError>("TCPStore(): port ", port_, " is not a port");
  if (options.is_master) {
    if (options.listen_fd >= 0)
      server_ = std::make_shared<Server>(Socket(dup(options.listen_fd)));
    else if (options.multi_tenant && port_)
      server_ = Server::shared(host_, port_);
    else
      server_ = std::make_shared<Server>(host_, port_);
    port_ = server_->port();
  } else if (port_ == 0) {
    fail<ValueError>("TCPStore(): port 0 is any free one, which only is_master=True can take");
  }
  connect(options.timeout);
  call({.command = Command::join}, options.timeout);
  if (options.wait_for_workers && options.world_size > 0 && options.is_master)
    wait_for_workers(options);
}

void TCPStore::wait_for_workers(const TCPStoreOptions& options) {
  try {
    call({.command = Command::joined, .number = options.world_size}, options.timeout);
  } catch (const StoreError&) {
    const auto here = call({.command = Command::joined}, kAnswer).number;
    fail<StoreError>("Timed out after ", options.timeout.count() / 1000 + 1,
                     " seconds waiting for clients. ", here, "/", options.world_size,
                     " clients joined.");
  }
}

std::shared_ptr<Store> TCPStore::clone() {
  return std::make_shared<TCPStore>(
      host_, TCPStoreOptions{.port = port_, .timeout = timeout(), .wait_for_workers = false});
}

void TCPStore::connect(Milliseconds timeout) {
  const Deadline deadline = after(std::max(timeout, kAnswer));
  Socket made = connect_to(host_, port_, timeout);
  made.write_all(kHello, deadline);
  std::string greeting(kHello.size(), '\0');
  // Something else that listens may say nothing at all.
  made.read_all(greeting.data(), greeting.size(), std::min(deadline, after(kAnswer)));
  if (greeting != kHello)
    fail<NetworkError>("what listens at ", host_, ":", port_,
                       " is not a TCPStore of rushlight: choose another port (MASTER_PORT)");
  socket_ = std::move(made);
  process_ = getpid();
}

Reply TCPStore::read_reply(Deadline deadline) {
  std::string bytes(4, '\0');
  socket_.read_all(bytes.data(), 4, deadline);
  const std::uint32_t length = length_at(bytes.data());
  if (length > kLongestMessage) fail<NetworkError>("the store answers ", length, " bytes");
  bytes.resize(length);
  socket_.read_all(bytes.data(), length, deadline);
  std::optional<Reply> reply = decode_reply(bytes);
  if (!reply) fail<NetworkError>("what listens at ", host_, ":", port_, " is no store");
  return std::move(*reply);
}

Reply TCPStore::call(const Request& request, Milliseconds timeout) {
  const std::string message = encode(request);
  const InterruptibleMutex::Held lock(mutex_, after(std::max(timeout, kAnswer)));
  if (process_ != getpid()) socket_ = Socket();  // closes the child's copy alone
  if (!socket_) connect(timeout);
  Socket* broken = &socket_;  // until the reply is read as a whole
  struct Closing {
    Socket*& socket;
    ~Closing() {
      if (socket) *socket = Socket();
    }
  } closing{broken};
  const bool waits = request.command == Command::get || request.command == Command::wait ||
                     request.command == Command::joined || request.command == Command::queue_pop;
  const Deadline deadline = after(waits ? timeout : std::max(timeout, kAnswer));
  socket_.write_all(message, std::max(deadline, after(kAnswer)));
  bool in_time = !waits;
  std::exception_ptr signal;
  try {
    if (waits) in_time = socket_.wait_readable(deadline);
  } catch (...) {
    signal = std::current_exception();
  }
  if (in_time) {
    Reply reply = read_reply(std::max(deadline, after(kAnswer)));
    broken = nullptr;
    return reply;
  }
  socket_.write_all(encode(Request{.command = Command::cancel}), after(kAnswer));
  Reply reply = read_reply(after(kAnswer));
  broken = nullptr;
  if (signal) std::rethrow_exception(signal);
  if (reply.is == Reply::Is::cancelled) fail_timeout(request, timeout);
  return reply;  // it came just in time
}

std::string TCPStore::near_address() {
  const InterruptibleMutex::Held lock(mutex_, after(kAnswer));
  if (!socket_) connect(kAnswer);
  return distributed::near_address(socket_);
}

}  // namespace rushlight::distributed
