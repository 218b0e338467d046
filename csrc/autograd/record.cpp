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

// What torch says after the first sentence.
static std::string reason_of(Unrecorded kind) {
  switch (kind) {
    case Unrecorded::part:
      return "This view is the output of a function that returns multiple views. Such functions do "
             "not allow the output views to be modified inplace. You should replace the inplace "
             "operation by an out-of-place one.";
    case Unrecorded::function:
      return "This view was created inside a custom Function (or because an input was returned "
             "as-is) and the autograd logic to handle view+inplace would override the custom "
             "backward associated with the custom Function, leading to incorrect gradients. This "
             "behavior is forbidden. You can fix this by cloning the output of the custom "
             "Function.";
    default:
      return text(
          "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify "
          "your code by moving both the view and the inplace either both inside the ",
          kind == Unrecorded::inference ? "inference_mode" : "no_grad",
          " block (if you don't want the inplace to be tracked) or both outside (if you want the "
          "inplace to be tracked).");
  }
}

void fail_view_written(const Body& view, bool through_base) {
  const Unrecorded kind = view.unrecorded;
  const bool by_mode = kind == Unrecorded::no_grad || kind == Unrecorded::inference;
  const char* const how = through_base
                              ? "its base or another view of its base has been modified inplace"
                              : "is being modified inplace";
  const char* const made = kind == Unrecorded::inference ? "in inference mode" : "in no_grad mode";
  const char* const now =
      kind == Unrecorded::inference ? " in normal mode" : " with grad mode enabled";
  const Node* node = view.node && view.node->inputs ? view.node : nullptr;
  const std::string first =
      node ? text("Output ", view.output, " of ", operation(*node), " is a view ",
                  by_mode ? text("of a view which was created ", made, " and ", how, now)
                          : text("and ", how))
           : text("A view was created ", made, " and ", how, now);
  fail<RuntimeError>(first, ". ", reason_of(kind), "\nthe view has shape ", view.shape.view(),
                     kind == Unrecorded::part
                         ? ": take it with narrow() or an index to write through it, or work on a "
                           "clone()"
                         : ": work on a clone() of it");
}

void Saved::hook(SavedHooks& hooks) {
  if (!tensor_)
    fail<RuntimeError>("Calling register_hooks on a saved tensor with value None is forbidden");
  if (tensor_->version() != version_ && is_placeholder(tensor_)) {
    if (!is_recomputed(tensor_))
      fail<RuntimeError>(
          "Calling register_hooks on a saved tensor whose hooks have already been set.");
    tensor_ = unpacked(tensor_, nullptr);
    version_ = tensor_->version();
  }
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
