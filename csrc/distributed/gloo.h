// Gloo: the engine of one process group. Collectives run one after another on a thread of their
// own, in the order of submit(), which is the same on all ranks; sends and receives on others, as
// many as are under way, as Gloo's send waits for the receiver. Arguments have been checked: Gloo
// does not.
#pragma once
#include <atomic>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "distributed/gloo_calls.h"
#include "distributed/work.h"

namespace rushlight::distributed {

// The TCP connections that this process has, as (descriptor, inode).
using Sockets = std::vector<std::pair<int, unsigned long>>;
Sockets open_connections();

class Gloo {
 public:
  // `before`: the connections that there were before the context was connected.
  Gloo(void* context, const Sockets& before);
  ~Gloo();
  Gloo(const Gloo&) = delete;
  Gloo& operator=(const Gloo&) = delete;

  std::shared_ptr<Work> submit(const GlooCall& operation);
  // Ends all that is under way, here and at the peers, by shutting the connections: a Gloo that
  // failed once is of no more use. The first reason is kept.
  void abort(const std::string& reason);
  // Whether a collective has run for longer: some of Gloo's algorithms have no time-out.
  bool overdue(Milliseconds timeout);
  // The reason of the first failure; empty while there is none.
  std::string broken();
  // Whether all threads have ended before the deadline; only then may the context be freed.
  bool close(Milliseconds timeout);

 private:
  using Job = std::pair<GlooCall, std::shared_ptr<Work>>;
  struct State;  // shared with the threads, which may outlive us where the engine does not return
  static void run(const std::shared_ptr<State>& state);
  static void run_messages(const std::shared_ptr<State>& state);
  static void execute(State& state, const Job& job);
  std::shared_ptr<State> state_;
  pid_t process_;
};

}  // namespace rushlight::distributed
