// A node called by itself, as a function of gradients.
#include "autograd/running.h"
#include "autograd/saved_hooks.h"

namespace rushlight {

std::uint32_t kind_of_output(const Node& node, std::uint32_t output) {
  if (node.inputs == 0) {
    const Body* leaf = static_cast<const AccumulateGrad&>(node).leaf;
    return leaf ? kind_of(*leaf) : 0;
  }
  if (output >= node.outputs) return 0;
  const std::uint32_t own = node.many_outputs ? node.many_outputs[output].kind : 0;
  return own ? own : output < node.alike ? node.kind : 0;
}

std::vector<Tensor> call_node(Node& node, std::vector<Tensor> grads) {
  std::vector<Tensor> out(node.inputs);
  bool any = false;
  for (std::size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i]) continue;
    any = true;
    // What the node computes with has no look at the sizes of a gradient.
    if (kind_of(*grads[i].body()) != kind_of_output(node, std::uint32_t(i)))
      fail<RuntimeError>(node.title(), " was called with a gradient that its output ", i,
                         " cannot have\n", describe("it is", grads[i]),
                         "; a gradient has the shape, dtype and device of the output");
  }
  if (!any) return out;
  const AllInputs all;
  const ShownScope shown;
  const RunningNode running(node);
  Gradients made = node.backward(grads);
  if (Node* first = node.first_half()) return call_node(*first, {made[0]});
  for (std::size_t i = 0; i < out.size(); ++i)
    if (node.has_input(i)) out[i] = std::move(made[i]);
  return out;
}

}  // namespace rushlight
