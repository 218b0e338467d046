// While a node runs.
#pragma once
#include "autograd/node.h"

namespace rushlight {

// What it saved stays: what it calls may run it again, and so may other threads.
class RunningNode {
 public:
  explicit RunningNode(Node& node) : node_(node) { ++node.running; }
  ~RunningNode() {
    if (--node_.running == 0 && node_.release_waits) {
      node_.release_waits = false;
      node_.release_saved();
    }
  }
  RunningNode(const RunningNode&) = delete;

 private:
  Node& node_;
};

}  // namespace rushlight
