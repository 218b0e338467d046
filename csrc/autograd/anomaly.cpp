// The table of anomaly detection and the words of its warnings.
#include "autograd/anomaly.h"

#include <mutex>
#include <pthread.h>
#include <unordered_map>

namespace rushlight {
namespace {

struct Origins {
  std::mutex mutex;
  std::unordered_map<const Node*, Ref<Origin>> origins;
};
// Never destroyed: nodes may outlive the statics of this library.
Origins& all_origins() {
  static Origins* const all = [] {  // a fork waits: a child gets the table whole, its lock open
    pthread_atfork([] { all_origins().mutex.lock(); }, [] { all_origins().mutex.unlock(); },
                   [] { all_origins().mutex.unlock(); });
    return new Origins;
  }();
  return *all;
}

thread_local const Node* running [[gnu::tls_model("initial-exec")]] = nullptr;

Ref<Origin> origin_of(const Node& node) {
  Origins& t = all_origins();
  const std::lock_guard lock(t.mutex);
  const auto found = t.origins.find(&node);
  return found == t.origins.end() ? Ref<Origin>() : found->second;
}

}  // namespace

void remember_origin(const Node& node) {
  Ref<Origin> origin = anomaly.here ? anomaly.here() : Ref<Origin>();
  if (!origin) return;
  if (running) {
    origin->parent = running->title();
    origin->of_parent = origin_of(*running);
  }
  Origins& t = all_origins();
  const std::lock_guard lock(t.mutex);
  anomaly.remembers = true;
  std::swap(t.origins[&node], origin);  // what was there goes outside the lock
}

void forget_origin(const Node& node) noexcept {
  Ref<Origin> last;  // let go outside the lock: it may run Python
  Origins& t = all_origins();
  const std::lock_guard lock(t.mutex);
  if (const auto found = t.origins.find(&node); found != t.origins.end()) {
    last = std::move(found->second);
    t.origins.erase(found);
  }
  if (t.origins.empty() && !anomaly.enabled) anomaly.remembers = false;  // costs nothing again
}

WatchedStep::WatchedStep(const Node& node) : node_(node), outer_(running) { running = &node; }
WatchedStep::~WatchedStep() { running = outer_; }

void WatchedStep::warn() const noexcept {
  if (!anomaly.warn) return;
  try {
    Ref<Origin> origin = origin_of(node_);
    if (!origin) {
      anomaly.warn(text("Error detected in ", node_.title(),
                        ". No forward pass information available. Enable detect anomaly during "
                        "forward pass for more information."));
      return;
    }
    anomaly.warn(text("Error detected in ", node_.title(),
                      ". Traceback of forward call that caused the error:\n", origin->traceback()));
    while (!origin->parent.empty()) {
      const std::string parent = origin->parent;
      origin = origin->of_parent;
      if (!origin) {
        anomaly.warn(text("\n\nPrevious calculation was induced by ", parent,
                          ". No forward pass information available. Enable detect anomaly during "
                          "forward pass for more information."));
        return;
      }
      anomaly.warn(text("\n\nPrevious calculation was induced by ", parent,
                        ". Traceback of forward call that induced the previous calculation:\n",
                        origin->traceback()));
    }
  } catch (...) {  // the error being reported matters more
  }
}

void refuse_nan(const Node& node, Gradients& gradients) {
  for (std::size_t i = 0; i < node.inputs; ++i)
    if (gradients[i] && !gradients[i]->sparse && has_nan(gradients[i]))
      fail<RuntimeError>("Function '", node.title(), "' returned nan values in its ", i,
                         "th output.");
}

}  // namespace rushlight
