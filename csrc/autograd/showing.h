// showing(): a lambda for record() whose node shows what it keeps under torch's names, as
// grad_fn._saved_self. Note: what is kept is not captured, but given to the lambda as references,
// after the gradient and the node; as many of them as it takes, so what is only shown comes last.
//   record("MvBackward0", out,
//          showing("self vec", [](Tensor g, Node& self, const Saved& m, const Saved& v) { ... },
//                  Saved(self), Saved(vec)), self, vec)
// A type of another file is shown by a value_of() of its own.
#pragma once
#include <tuple>

#include "autograd/record.h"

namespace rushlight {

std::vector<std::string> names_in(std::string_view text);  // with spaces between; - is no name

// A result of several that are views of a buffer, or the like: kept without a version.
inline SavedValue value_of(const Tensor& t, Node&) { return t; }
inline SavedValue value_of(const Saved& s, Node& node) { return s.get(&node); }
inline SavedValue value_of(const SavedOutput& s, Node& node) { return s.get(node); }
inline SavedValue value_of(const std::vector<Saved>& list, Node& node) {
  std::vector<Tensor> all;
  for (const Saved& s : list) all.push_back(s.get(&node));
  return all;
}
inline SavedValue value_of(const Shape& sizes, Node&) {
  return std::vector<std::int64_t>(sizes.begin(), sizes.end());
}
// One number for each of the last `count` dimensions of three.
struct OfDimensions {
  std::int64_t of[3];
  int count;
};
inline OfDimensions of_dimensions(const std::int64_t (&of)[3], int count) {
  return {{of[0], of[1], of[2]}, count};
}
inline SavedValue value_of(const OfDimensions& d, Node&) {
  return std::vector<std::int64_t>(d.of + 3 - d.count, d.of + 3);
}
inline SavedValue value_of(const std::vector<std::int64_t>& sizes, Node&) { return sizes; }
inline SavedValue value_of(const char* text, Node&) { return std::string(text); }
template <class T>
  requires std::is_constructible_v<Scalar, T>
SavedValue value_of(T number, Node&) {
  return Scalar(number);
}
template <class T>
SavedValue value_of(const std::optional<T>& value, Node& node) {
  return value ? value_of(*value, node) : SavedValue();
}

inline Saved* slot_of(Saved& s, Node&) { return &s; }
inline Saved* slot_of(SavedOutput& s, Node&) { return &s.slot(); }
template <class T>
Saved* slot_of(const T&, Node&) {
  return nullptr;
}

// Whether a pass frees it: numbers and sizes stay, as in torch.
template <class T>
inline constexpr bool kIsFreed = !std::is_trivially_destructible_v<T>;
template <>
inline constexpr bool kIsFreed<std::vector<std::int64_t>> = false;

template <class F, class... K>
struct Shown {
  const char* names;  // of what is kept, with spaces between
  F f;
  std::tuple<K...> kept;
};
template <class F, class... K>
Shown<std::decay_t<F>, std::decay_t<K>...> showing(const char* names, F&& f, K&&... kept) {
  return {names, std::forward<F>(f), {std::forward<K>(kept)...}};
}

template <class F, class... K>
struct NodeOf<Shown<F, K...>> {
  struct type final : Node {
    const char* names;
    std::optional<F> f;
    std::tuple<K...> kept;
    type(const char* name, Shown<F, K...> shown)
        : Node(name), names(shown.names), f(std::move(shown.f)), kept(std::move(shown.kept)) {}

    Gradients backward(std::span<Tensor> grads) override {
      if (released) fail_second_backward();
      if constexpr (taken<std::span<Tensor>>() >= 0)
        return call(grads, First<taken<std::span<Tensor>>()>());
      else
        return call(std::move(grads[0]), First<taken<Tensor>()>());
    }
    Gradients backward_rows(std::span<Tensor> grads, std::int64_t rows) override {
      if constexpr (taken<Rows>() >= 0) {
        if (released) fail_second_backward();
        return call(Rows{std::move(grads[0])}, First<taken<Rows>()>());
      } else {
        return Node::backward_rows(grads, rows);
      }
    }
    void release_saved() override {
      if constexpr (kIsFreed<F> || (kIsFreed<K> || ...)) {
        f.reset();
        std::apply([](K&... k) { ((kIsFreed<K> ? void(k = K()) : void()), ...); }, kept);
        recompute = {};
        released = true;
      }
    }
    std::vector<std::string> saved_names() const override { return names_in(names); }
    SavedValue saved_value(std::size_t i) override {
      SavedValue found;
      pick(i, [&]<class T>(T& k) {
        if (kIsFreed<T> && released) fail_second_backward();
        found = value_of(k, *this);
      });
      return found;
    }
    Saved* saved_slot(std::size_t i) override {
      Saved* found = nullptr;
      if (!released) pick(i, [&](auto& k) { found = slot_of(k, *this); });
      return found;
    }

   private:
    template <int N>
    using First = std::make_index_sequence<std::size_t(N)>;
    template <class G, std::size_t... I>
    static constexpr bool takes(std::index_sequence<I...>) {
      return std::is_invocable_v<F&, G, Node&, std::tuple_element_t<I, std::tuple<K...>>&...>;
    }
    // How many of what is kept the lambda takes after a gradient of this type; -1: not this type.
    template <class G, int N = int(sizeof...(K))>
    static constexpr int taken() {
      if constexpr (takes<G>(First<N>()))
        return N;
      else if constexpr (N > 0)
        return taken<G, N - 1>();
      else
        return -1;
    }
    template <class G, std::size_t... I>
    Gradients call(G&& g, std::index_sequence<I...>) {
      return (*f)(std::forward<G>(g), *this, std::get<I>(kept)...);
    }
    template <class V>
    void pick(std::size_t i, V&& visit) {
      std::size_t at = 0;
      std::apply([&](K&... k) { ((at++ == i ? visit(k) : void()), ...); }, kept);
    }
  };
};

}  // namespace rushlight
