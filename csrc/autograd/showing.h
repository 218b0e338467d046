// showing(): a lambda for record() whose node shows what it keeps under torch's names, as
// grad_fn._saved_self. Note: what is kept is not captured, but given to the lambda as references,
// after the gradient and the node.
//   record("MvBackward0", out,
//          showing("self vec", [](Tensor g, Node& self, const Saved& m, const Saved& v) { ... },
//                  Saved(self), Saved(vec)), self, vec)
#pragma once
#include <tuple>

#include "autograd/record.h"

namespace rushlight {

std::vector<std::string> names_in(std::string_view text);  // with spaces between

inline SavedValue value_of(const Saved& s, Node& node) { return {s.get(&node), {}, {}}; }
inline SavedValue value_of(const SavedOutput& s, Node& node) { return {s.get(node), {}, {}}; }
inline SavedValue value_of(const Shape& sizes, Node&) { return {{}, {}, sizes}; }
template <class T>
SavedValue value_of(T number, Node&) {
  return {{}, Scalar(number), {}};
}
inline Saved* slot_of(Saved& s) { return &s; }
inline Saved* slot_of(SavedOutput& s) { return &s.slot(); }
template <class T>
Saved* slot_of(const T&) {
  return nullptr;
}

template <class F, class... K>
struct Shown {
  const char* names;  // of what is kept, with spaces between
  F f;
  std::tuple<K...> kept;
  template <class G>
    requires std::is_invocable_v<F&, G, Node&, K&...>
  Gradients operator()(G&& g, Node& self) {
    return std::apply([&](K&... k) { return f(std::forward<G>(g), self, k...); }, kept);
  }
};
template <class F, class... K>
Shown<std::decay_t<F>, std::decay_t<K>...> showing(const char* names, F&& f, K&&... kept) {
  return {names, std::forward<F>(f), {std::forward<K>(kept)...}};
}

template <class F, class... K>
struct NodeOf<Shown<F, K...>> {
  struct type final : Closure<Shown<F, K...>> {
    const char* names;
    type(const char* name, Shown<F, K...> shown)
        : Closure<Shown<F, K...>>(name, std::move(shown)), names(this->f->names) {}
    std::vector<std::string> saved_names() const override { return names_in(names); }
    SavedValue saved_value(std::size_t i) override {
      if (!this->f) fail_second_backward();
      SavedValue found;
      pick(i, [&](auto& k) { found = value_of(k, *this); });
      return found;
    }
    Saved* saved_slot(std::size_t i) override {
      Saved* found = nullptr;
      if (this->f) pick(i, [&](auto& k) { found = slot_of(k); });
      return found;
    }

   private:
    template <class V>
    void pick(std::size_t i, V&& visit) {
      std::size_t at = 0;
      std::apply([&](K&... k) { ((at++ == i ? visit(k) : void()), ...); }, this->f->kept);
    }
  };
};

}  // namespace rushlight
