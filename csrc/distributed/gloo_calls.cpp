// The mangled names below are those of xoscar 0.3 to 0.12.2. A std::shared_ptr<gloo::Context>
// const& is given as {pointer, null}: a pointer that owns nothing, as Python keeps the context
// alive.
#include "distributed/gloo_calls.h"

#include <dlfcn.h>
#include <typeinfo>
#include <vector>

#include "core/error.h"

namespace gloo {
class Context {};  // only its name counts: types are known by name there
}  // namespace gloo

namespace rushlight::distributed {
namespace {

struct SharedContext {
  void* pointer;
  void* control_block;  // null: no reference is counted
};
using Context = const SharedContext&;

struct Functions {
  void (*all_reduce)(Context, long, long, std::size_t, int, int, int, unsigned);
  void (*reduce)(Context, long, long, std::size_t, int, int, int, unsigned);
  void (*all_gather)(Context, long, long, std::size_t, int, unsigned);
  void (*all_to_all)(Context, long, long, std::size_t, int, unsigned);
  void (*broadcast)(Context, long, long, std::size_t, int, int, unsigned);
  void (*gather)(Context, long, long, std::size_t, int, int, unsigned);
  void (*scatter)(Context, std::vector<long>, long, std::size_t, int, int, unsigned);
  void (*send)(Context, long, std::size_t, int, int, unsigned);
  void (*receive)(Context, long, std::size_t, int, int, unsigned);
  void (*barrier)(Context, unsigned);
};
Functions functions;

template <class F>
void find(void* library, F*& function, const std::string& name) {
  void* found = dlsym(library, ("_ZN6xoscar" + name).c_str());
  if (!found)
    fail<RuntimeError>("this xoscar has no function ", name,
                       " in its module of Gloo: rushlight needs another release of it, 0.11 or "
                       "later");
  function = reinterpret_cast<F*>(found);
}

constexpr int kRing = 1, kBcube = 2;  // AllreduceAlgorithm
constexpr std::size_t kFasterByBcube = std::size_t(1) << 20;

}  // namespace

const void* context_typeid() { return &typeid(gloo::Context); }

void load_gloo(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (!library) fail<RuntimeError>("not loaded: ", path);
  const std::string shared = "RKSt10shared_ptrIN4gloo7ContextEE", dtype = "NS_14glooDataType_tE";
  find(library, functions.all_reduce,
       "17allreduce_wrapperE" + shared + "llm" + dtype +
           "NS_8ReduceOpENS1_6detail20AllreduceOptionsImpl9AlgorithmEj");
  find(library, functions.reduce, "14reduce_wrapperE" + shared + "llm" + dtype + "NS_8ReduceOpEij");
  find(library, functions.all_gather, "17allgather_wrapperE" + shared + "llm" + dtype + "j");
  find(library, functions.all_to_all, "18all_to_all_wrapperE" + shared + "llm" + dtype + "j");
  find(library, functions.broadcast, "17broadcast_wrapperE" + shared + "llm" + dtype + "ij");
  find(library, functions.gather, "14gather_wrapperE" + shared + "llm" + dtype + "ij");
  find(library, functions.scatter,
       "15scatter_wrapperE" + shared + "St6vectorIlSaIlEElm" + dtype + "ij");
  find(library, functions.send, "12send_wrapperE" + shared + "lm" + dtype + "ij");
  find(library, functions.receive, "12recv_wrapperE" + shared + "lm" + dtype + "ij");
  find(library, functions.barrier, "7barrierE" + shared + "j");
}

void call_gloo(void* pointer, const GlooCall& o) {
  const SharedContext context{pointer, nullptr};
  const long in = reinterpret_cast<long>(o.in), out = reinterpret_cast<long>(o.out);
  using Call = GlooCall::Call;
  switch (o.call) {
    case Call::all_reduce: {
      const int how = o.count * o.item_size > kFasterByBcube ? kRing : kBcube;
      return functions.all_reduce(context, in, out, o.count, o.kind, o.reduction, how, o.tag);
    }
    case Call::reduce:
      return functions.reduce(context, in, out, o.count, o.kind, o.reduction, o.peer, o.tag);
    case Call::all_gather: return functions.all_gather(context, in, out, o.count, o.kind, o.tag);
    case Call::all_to_all:
      return functions.all_to_all(context, in, out, o.count * std::size_t(o.size), o.kind, o.tag);
    case Call::broadcast:
      return functions.broadcast(context, in, out, o.count, o.kind, o.peer, o.tag);
    case Call::gather: return functions.gather(context, in, out, o.count, o.kind, o.peer, o.tag);
    case Call::scatter: {
      std::vector<long> parts;
      for (int r = 0; o.in && r < o.size; ++r)
        parts.push_back(in + long(o.count * o.item_size) * r);
      return functions.scatter(context, std::move(parts), out, o.count, o.kind, o.peer, o.tag);
    }
    case Call::send: return functions.send(context, in, o.count, o.kind, o.peer, o.tag);
    case Call::receive: return functions.receive(context, out, o.count, o.kind, o.peer, o.tag);
    case Call::barrier: return functions.barrier(context, o.tag);
  }
}

}  // namespace rushlight::distributed
