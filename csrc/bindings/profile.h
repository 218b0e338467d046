// What a profiler sees: calls from Python and nodes of backward passes, with their times. Note:
// while it is off nothing is tested; turning it on puts other entry points in
// the slots of those that are watched, turning it off puts the old ones back.
#pragma once
#include <span>

#include "bindings/table/overrides.h"
#include "bindings/tensor/python_tensor.h"

namespace rushlight::python {

// One call, from its construction to end(). The recording may be stopped meanwhile.
class Span {
 public:
  Span(const char* name, PyObject* self, PyObject* const* args, Py_ssize_t n);
  ~Span();
  Span(const Span&) = delete;
  PyObject* end(PyObject* result);  // gives it back; null is an error in flight

 private:
  void close(PyObject* result) noexcept;
  std::uint64_t recording_ = 0;  // 0: none, or closed
  std::size_t event_ = 0;
  PyObject* self_;
  PyObject* const* args_;
  Py_ssize_t n_;
};

// A slot of a watched entry point: put(true) is called when the first observer is switched
// on, a profiler or __torch_function__ (table/overrides.h).
void add_watched(void (*put)(bool watched));
enum class Watcher : unsigned char { profiler = 1, overrides = 2 };
void watch(Watcher which, bool on);

// Of operator slots: the same function, dispatched to a class or with a Span around it.
template <auto F>
struct WatchedSlot;
template <class... A, PyObject* (*F)(A...)>
struct WatchedSlot<F> {
  static inline const char *name, *method, *reflected;  // in a profile; of Tensor's methods
  static PyObject* call(A... a) {
    PyObject* const args[] = {a...};
    constexpr Py_ssize_t operands = sizeof...(A) < 2 ? sizeof...(A) : 2;  // no modulus of pow
    if (overriding && is_taken_over(nullptr, args, operands))
      return hand_over_operator(method, reflected, args, operands);
    if (!name) return F(a...);  // not in a profile
    Span span(name, nullptr, args, sizeof...(A));
    return span.end(F(a...));
  }
};

// Exchanges an entry of Tensor and its subclasses wherever it is `from`.
template <class Methods, class Slot>
void put_slot(Slot Methods::* field, Slot from, Slot to);
// Tensor and all its subclasses; each call of `visit` gets one.
void for_each_tensor_type(void* context, void (*visit)(void* context, PyHeapTypeObject& type));

// The same for what Tensor.__add__ and its like call.
void put_wrapped(void* from, void* to);

template <class Methods>
Methods& methods_of(PyHeapTypeObject& type) {
  if constexpr (std::is_same_v<Methods, PyNumberMethods>)
    return type.as_number;
  else if constexpr (std::is_same_v<Methods, PySequenceMethods>)
    return type.as_sequence;
  else if constexpr (std::is_same_v<Methods, PyTypeObject>)
    return type.ht_type;
  else
    return type.as_mapping;
}
template <class Methods, class Slot>
void put_slot(Slot Methods::* field, Slot from, Slot to) {
  struct Change {
    Slot Methods::* field;
    Slot from, to;
  } change{field, from, to};
  for_each_tensor_type(&change, [](void* context, PyHeapTypeObject& type) {
    const auto& c = *static_cast<Change*>(context);
    Slot& place = methods_of<Methods>(type).*c.field;
    if (place == c.from) place = c.to;
  });
  put_wrapped(reinterpret_cast<void*>(from), reinterpret_cast<void*>(to));
}
template <auto Field, auto F>
void watch_slot(const char* name, const char* method, const char* reflected) {
  WatchedSlot<F>::name = name;
  WatchedSlot<F>::method = method;
  WatchedSlot<F>::reflected = reflected;
  add_watched([](bool watched) {
    if (watched)
      put_slot(Field, F, &WatchedSlot<F>::call);
    else
      put_slot(Field, &WatchedSlot<F>::call, F);
  });
}

// The trampolines of functions and methods: signature.cpp.
void watch_entries(bool watched);
void watch_operators();  // operators.cpp
void watch_indexing();  // indexing.cpp
void watch_getters(std::span<PyGetSetDef> definitions);  // tensor_getters.cpp

}  // namespace rushlight::python
