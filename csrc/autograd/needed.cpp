// The part of a graph that leads to some nodes.
#include "autograd/needed.h"

namespace rushlight {

void mark_needed(const std::vector<Ref<Node>>& roots, const NodeSet& targets, NodeSet& needed,
                 std::vector<Node*>& ends) {
  struct Visit {
    Node* node;
    std::size_t next;
  };
  NodeSet seen;
  std::vector<Visit> stack;
  for (const Ref<Node>& root : roots) {
    if (!seen.insert(root.get()).second) continue;
    stack.push_back({root.get(), 0});
    while (!stack.empty()) {
      Visit& v = stack.back();
      if (v.next < v.node->inputs) {
        Node* child = v.node->next(v.next++).node.get();
        if (child && seen.insert(child).second) stack.push_back({child, 0});
        continue;
      }
      bool leads_on = false;
      for (std::size_t i = 0; i < v.node->inputs && !leads_on; ++i) {
        Node* child = v.node->next(i).node.get();
        leads_on = child && needed.contains(child);
      }
      const bool wanted = targets.contains(v.node);
      if (wanted && !leads_on) ends.push_back(v.node);
      if (wanted || leads_on) needed.insert(v.node);
      stack.pop_back();
    }
  }
}

}  // namespace rushlight
