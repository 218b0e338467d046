// The part of a graph that leads to some nodes.
#pragma once
#include <vector>

#include "autograd/node.h"

namespace rushlight {

// Nodes from which one of `targets` can be reached: the only ones worth running for autograd.grad.
// `ends` are those targets from which no other one is reached.
void mark_needed(const std::vector<Ref<Node>>& roots, const NodeSet& targets, NodeSet& needed,
                 std::vector<Node*>& ends);

}  // namespace rushlight
