// The functions of xoscar's compiled module that we call: found by name in the loaded library, with
// no header of Gloo or xoscar. Called without the interpreter's lock, which the module's own
// Python functions would hold while they wait.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace rushlight::distributed {

// What a call does, in the module's own numbers.
struct GlooCall {
  enum class Call : std::uint8_t {
    all_reduce,
    reduce,
    all_gather,
    all_to_all,
    broadcast,
    gather,
    scatter,
    send,
    receive,
    barrier,
  };
  Call call = Call::barrier;
  void* in = nullptr;
  void* out = nullptr;
  std::size_t count = 0;  // of the elements that one rank gives
  std::size_t item_size = 1;
  int kind = 1;  // glooUint8
  int reduction = 0;
  int peer = 0;  // root, source or destination
  int size = 1;  // of the group
  std::uint32_t tag = 0;
};

// Finds the functions in the library of this path, which Python has loaded; RuntimeError where one
// has another name.
void load_gloo(const std::string& path);
// The typeid by which the module gives its context to others.
const void* context_typeid();
// Throws what the module throws.
void call_gloo(void* context, const GlooCall& operation);

}  // namespace rushlight::distributed
