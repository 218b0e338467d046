// The words of errors about saved tensors, and the names of those that are shown.
#include "autograd/anomaly.h"
#include "autograd/showing.h"

namespace rushlight {

// "MulBackward0" -> "Mul", as torch shortens it here.
static std::string_view operation(const Node& node) {
  const std::string_view name = node.title();
  return name.substr(0, name.rfind("Backward"));
}

void Saved::fail_modified(const Tensor& t, std::uint32_t version, const Node* maker) {
  const Node* node = t->node && t->node->inputs ? t->node : maker;
  fail<RuntimeError>(
      "one of the variables needed for gradient computation has been modified by an inplace "
      "operation: [torch.",
      t.device().is_cuda() ? "cuda." : "", scalar_name(t.dtype()), "Tensor ", t.sizes(), "]",
      node ? text(", which is output ", t->output, " of ", operation(*node), ",") : "",
      " is at version ", t->version(), "; expected version ", version, " instead. Hint: ",
      anomaly.enabled
          ? "the backtrace further above shows the operation that failed to compute its gradient. "
            "The variable in question was changed in there or anywhere later. Good luck!\n"
          : "enable anomaly detection to find the operation that failed to compute its "
            "gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False).\n",
      "an operation kept this tensor for its gradient, and it was written to before backward(): "
      "write to a clone(), or use the operation without the trailing underscore");
}

void fail_part_written(const Body& part, bool through_base) {
  const std::string how = through_base
                              ? "its base or another view of its base has been modified inplace"
                              : "is being modified inplace";
  const Node* node = part.node && part.node->inputs ? part.node : nullptr;
  fail<RuntimeError>(
      node ? text("Output ", part.output, " of ", operation(*node), " is a view and ", how, ".")
           : text("A view was created in no_grad mode and ", how, " with grad mode enabled."),
      " This view is the output of a function that returns multiple views. Such functions do not "
      "allow the output views to be modified inplace. You should replace the inplace operation by "
      "an out-of-place one.\n",
      "the view has shape ", part.shape.view(),
      ": take it with narrow() or an index to write through it, or work on a clone()");
}

void Saved::hook(SavedHooks& hooks) {
  if (!tensor_)
    fail<RuntimeError>("Calling register_hooks on a saved tensor with value None is forbidden");
  if (tensor_->version() != version_ && is_placeholder(tensor_))
    fail<RuntimeError>(
        "Calling register_hooks on a saved tensor whose hooks have already been set.");
  get();  // written to since?
  SavedHooks* const outer = std::exchange(saved_hooks, &hooks);
  note_saved(tensor_, version_, nullptr);
  saved_hooks = outer;
  pack_saved();
}

void fail_second_backward() {
  fail<RuntimeError>(
      "Trying to backward through the graph a second time (or directly access saved tensors after "
      "they have already been freed). Saved intermediate values of the graph are freed when you "
      "call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
      "through the graph a second time or if you need to access saved tensors after calling "
      "backward.");
}

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    names.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

}  // namespace rushlight
