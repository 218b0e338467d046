// NCCL: the engine of a process group on real GPUs. Calls are enqueued on a stream of its own,
// after what the current stream has been given; the host waits for none. A thread watches over what
// is under way: past its time-out, or after an error, it aborts the communicator, so that what
// waits on a stream goes on, and every later call fails with the reason.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "distributed/errors.h"
#include "kernels/collectives.h"

namespace rushlight::distributed {

class Nccl {
  struct State;

 public:
  // The calls between begin() and end(), or one call: they end together.
  class Part {
   public:
    Part(std::shared_ptr<State> state, bool blocks);
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    // What the current stream is given from now on comes after the calls; the host waits only for a
    // barrier.
    void wait();
    bool is_done();
    // What has gone wrong; empty while nothing has.
    std::string error();

   private:
    friend class Nccl;
    std::shared_ptr<State> state_;
    void* event_ = nullptr;  // after the calls; null until they are enqueued
    bool blocks_;
    Deadline deadline_;
  };

  static std::string new_id();  // what one member makes and all join with
  Nccl(int device, const std::string& id, int rank, int size, Milliseconds timeout);
  ~Nccl();
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  std::shared_ptr<Part> submit(const MemberCall& call, bool blocks);
  // Calls in between are one piece of work: sends and receives that wait for each other.
  void begin();
  void end();
  void abort(const std::string& reason);
  std::string broken();
  void close();

 private:
  void enqueue(const std::vector<MemberCall>& calls, const std::shared_ptr<Part>& part);
  static void watch(const std::shared_ptr<State>& state);
  std::shared_ptr<State> state_;
  std::vector<MemberCall> held_;
  std::shared_ptr<Part> together_;  // of the calls since begin()
};

}  // namespace rushlight::distributed
