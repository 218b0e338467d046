// Anomaly detection: while it is on, the Python stack of the forward call is kept for each node,
// and a backward that fails or returns NaN prints it. Note: the stacks are kept in a table beside
// the graph, so that nodes are no larger and, off, cost one test of a flag.
#pragma once
#include <atomic>
#include <string>

#include "autograd/node.h"

namespace rushlight {

// A line of the user's program, and the node whose backward was running there, if one was.
struct Origin : Shared {
  virtual ~Origin() = default;
  virtual std::string traceback() const = 0;
  std::string parent;  // the title of that node
  Ref<Origin> of_parent;
};
inline void destroy(Origin* o) { delete o; }

struct Anomaly {
  std::atomic<bool> enabled = false, check_nan = true;
  std::atomic<bool> remembers = false;  // the table may have an entry
  Ref<Origin> (*here)() = nullptr;  // set by the bindings: the Python stack of now
  void (*warn)(const std::string& text) noexcept = nullptr;
};
inline Anomaly anomaly;

// The profiler's view of a backward pass: begin() gives what end() gets.
struct StepWatch {
  void* (*begin)(const Node& node) = nullptr;
  void (*end)(void* span) noexcept = nullptr;
};
inline StepWatch step_watch;
inline std::atomic<bool> steps_watched = false;  // by anomaly detection or by step_watch

void remember_origin(const Node& node);
void forget_origin(const Node& node) noexcept;

// Runs one step of a backward pass with its node as the parent of those that it makes. Warns with
// the traceback of the forward call if the step throws.
class WatchedStep {
 public:
  explicit WatchedStep(const Node& node);
  ~WatchedStep();
  WatchedStep(const WatchedStep&) = delete;
  void warn() const noexcept;

 private:
  const Node& node_;
  const Node* outer_;
};

bool has_nan(const Tensor& t);  // defined in csrc/ops/gradients.cpp
// RuntimeError in torch's words where a gradient that `node` has returned holds NaN.
void refuse_nan(const Node& node, Gradients& gradients);

}  // namespace rushlight
