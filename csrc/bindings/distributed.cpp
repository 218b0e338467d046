// torch.distributed's stores as Python classes, in _C._distributed. Every method gives up the
// interpreter's lock; waits take it for a moment to look at signals.
#include "bindings/distributed.h"

#include <cmath>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/gil.h"
#include "bindings/module.h"
#include "distributed/file_store.h"
#include "distributed/tcp_store.h"

namespace py = pybind11;

namespace rushlight::python {

distributed::Milliseconds milliseconds(py::handle o) {
  double seconds = 0;
  if (PyFloat_Check(o.ptr()))
    seconds = PyFloat_AS_DOUBLE(o.ptr());
  else if (py::hasattr(o, "total_seconds"))
    seconds = py::cast<double>(o.attr("total_seconds")());
  else
    fail<TypeError>("a timeout must be datetime.timedelta, not ", Py_TYPE(o.ptr())->tp_name,
                    "\ntimeout=datetime.timedelta(seconds=30)");
  if (std::isnan(seconds)) fail<ValueError>("a timeout must be a number of seconds, not nan");
  return distributed::Milliseconds(std::int64_t(std::clamp(seconds * 1000, -1e15, 1e15)));
}

namespace {

using namespace rushlight::distributed;
using StorePtr = std::shared_ptr<Store>;
using Free = py::call_guard<GilReleased>;

py::object timedelta(Milliseconds time) {
  const auto type = py::module_::import("datetime").attr("timedelta");
  return type(py::arg("milliseconds") = time.count());
}

// str as UTF-8, or bytes: pybind11 takes both for std::string.
py::bytes get(Store& s, const std::string& key) {
  std::string value;
  {
    const GilReleased free;
    value = s.get(key);
  }
  return value;
}

py::list multi_get(Store& s, const Store::Keys& keys) {
  Store::Keys values;
  {
    const GilReleased free;
    values = s.multi_get(keys);
  }
  py::list out;
  for (const std::string& each : values) out.append(py::bytes(each));
  return out;
}

void wait(Store& s, const Store::Keys& keys, py::handle timeout) {
  const Milliseconds time = timeout.is_none() ? s.timeout() : milliseconds(timeout);
  const GilReleased free;
  s.wait(keys, time);
}

void barrier(Store& s, const std::string& key, std::int64_t world_size, py::handle timeout) {
  const Milliseconds time = timeout.is_none() ? s.timeout() : milliseconds(timeout);
  const GilReleased free;
  s.barrier(key, world_size, time);
}

std::shared_ptr<TCPStore> make_tcp_store(std::string host, int port,
                                         std::optional<std::int64_t> world_size, bool is_master,
                                         py::handle timeout, bool wait_for_workers,
                                         bool multi_tenant, std::optional<int> master_listen_fd,
                                         bool /*use_libuv: ours is its own*/) {
  TCPStoreOptions options{.port = port,
                          .world_size = world_size.value_or(-1),
                          .is_master = is_master,
                          .wait_for_workers = wait_for_workers,
                          .multi_tenant = multi_tenant,
                          .listen_fd = master_listen_fd.value_or(-1)};
  if (!timeout.is_none()) options.timeout = milliseconds(timeout);
  const GilReleased free;
  return std::make_shared<TCPStore>(std::move(host), options);
}

PyObject *dist_error, *store_error, *network_error, *backend_error, *queue_empty_error;

void make_error(py::module_& m, PyObject*& type, const char* name, PyObject* base,
                const char* doc) {
  const std::string full = std::string("rushlight.distributed.") + name;
  type = PyErr_NewExceptionWithDoc(full.c_str(), doc, base, nullptr);
  m.attr(name) = py::handle(type);
}

void bind_dist_errors(py::module_& m) {
  make_error(m, dist_error, "DistError", PyExc_RuntimeError, "An error of torch.distributed.");
  make_error(m, backend_error, "DistBackendError", dist_error,
             "A collective failed in its engine, or on another rank.");
  make_error(m, network_error, "DistNetworkError", dist_error,
             "A connection to the store cannot be made, or broke.");
  make_error(m, store_error, "DistStoreError", dist_error,
             "A key was not there within the time-out, or the store cannot be used.");
  make_error(m, queue_empty_error, "QueueEmptyError", store_error,
             "queue_pop(block=False) of an empty queue.");
  py::register_local_exception_translator([](std::exception_ptr p) {
    try {
      if (p) std::rethrow_exception(p);
    } catch (const QueueEmptyError& e) {
      PyErr_SetString(queue_empty_error, e.what());
    } catch (const StoreError& e) {
      PyErr_SetString(store_error, e.what());
    } catch (const NetworkError& e) {
      PyErr_SetString(network_error, e.what());
    } catch (const BackendError& e) {
      PyErr_SetString(backend_error, e.what());
    } catch (const DistError& e) {
      PyErr_SetString(dist_error, e.what());
    }
  });
}

void bind_store(py::module_& m) {
  py::class_<Store, StorePtr>(m, "Store", R"(Keys and values that processes find each other by.

TCPStore, FileStore and HashStore keep them, PrefixStore is a part of another one. Keys are str,
values str or bytes; get() returns bytes. A wait that lasts longer than the time-out raises
DistStoreError.

    >>> store = torch.distributed.HashStore()
    >>> store.set("color", "green")
    >>> store.get("color")
    b'green'
)")
      .def("clone", &Store::clone, Free(),
           "The same keys through another object; a TCPStore has a connection of its own, so that "
           "threads do not wait for each other.")
      .def("set", &Store::set, py::arg("key"), py::arg("value"), Free(), "Sets a value.")
      .def("get", &get, py::arg("key"), "The value of a key; waits until it is there.")
      .def("add", &Store::add, py::arg("key"), py::arg("amount"), Free(),
           R"(Adds to a counter, which is 0 before the first time; returns its new value.

    >>> store = torch.distributed.HashStore()
    >>> store.add("count", 2), store.add("count", 3), store.get("count")
    (2, 5, b'5')
)")
      .def(
          "compare_set",
          [](Store& s, const std::string& key, const std::string& expected,
             const std::string& desired) {
            std::string value;
            {
              const GilReleased free;
              value = s.compare_set(key, expected, desired);
            }
            return py::bytes(value);
          },
          py::arg("key"), py::arg("expected_value"), py::arg("desired_value"),
          "Sets a value if the present one is as expected; \"\" expects that there is none. "
          "Returns "
          "the value that is there afterwards.")
      .def("check", &Store::check, py::arg("keys"), Free(), "Whether all keys are there.")
      .def("wait", &wait, py::arg("keys"), py::arg("timeout") = py::none(),
           "Waits until all keys are there.")
      .def("delete_key", &Store::delete_key, py::arg("key"), Free(),
           "Removes a key; True if it was there.")
      .def("num_keys", &Store::num_keys, Free(), "How many keys there are.")
      .def("append", &Store::append, py::arg("key"), py::arg("value"), Free(),
           "Adds to the end of a value.")
      .def("multi_get", &multi_get, py::arg("keys"),
           "The values of several keys; waits until all are there.")
      .def("multi_set", &Store::multi_set, py::arg("keys"), py::arg("values"), Free(),
           "Sets several values.")
      .def("queue_push", &Store::queue_push, py::arg("key"), py::arg("value"), Free(),
           "Adds a value to a queue.")
      .def(
          "queue_pop",
          [](Store& s, const std::string& key, bool block) {
            std::string value;
            {
              const GilReleased free;
              value = s.queue_pop(key, block);
            }
            return py::bytes(value);
          },
          py::arg("key"), py::arg("block") = true,
          "Takes the first value of a queue; waits for one, or with block=False raises "
          "QueueEmptyError.")
      .def("queue_len", &Store::queue_len, py::arg("key"), Free(),
           "How many values are in a queue.")
      .def("list_keys", &Store::list_keys, Free(), "All keys, in no order.")
      .def("has_extended_api", &Store::has_extended_api, "Whether it has queues.")
      .def("barrier", &barrier, py::arg("key"), py::arg("world_size"),
           py::arg("timeout") = py::none(), "Waits until `world_size` processes have called it.")
      .def(
          "set_timeout", [](Store& s, py::handle timeout) { s.set_timeout(milliseconds(timeout)); },
          py::arg("timeout"), "How long waits last at most.")
      .def_property_readonly(
          "timeout", [](const Store& s) { return timedelta(s.timeout()); },
          "How long waits last at most, a timedelta.")
      .def("_leave_will", &Store::leave_will, py::arg("key"), py::arg("value"), Free(),
           "The server of a TCPStore sets the value when this connection ends.");
}

void bind_stores(py::module_& m) {
  py::class_<HashStore, Store, std::shared_ptr<HashStore>>(
      m, "HashStore", R"(A store within one process, for its threads.

    >>> torch.distributed.HashStore().check(["color"])
    False
)")
      .def(py::init<>());
  py::class_<PrefixStore, Store, std::shared_ptr<PrefixStore>>(
      m, "PrefixStore", R"(Another store's keys that begin with "prefix/".

Args:
    prefix: the text that is put before each key.
    store: the store.

    >>> store = torch.distributed.HashStore()
    >>> torch.distributed.PrefixStore("a", store).set("b", "c")
    >>> store.get("a/b")
    b'c'
)")
      .def(py::init<std::string, StorePtr>(), py::arg("prefix"), py::arg("store").none(true))
      .def_property_readonly("underlying_store", &PrefixStore::underlying, "The store.")
      .def_property_readonly(
          "_underlying_non_prefix_store",
          [](const PrefixStore& s) {
            StorePtr inner = s.underlying();
            while (const auto more = std::dynamic_pointer_cast<PrefixStore>(inner))
              inner = more->underlying();
            return inner;
          },
          "The store that is no PrefixStore.");
  py::class_<FileStore, Store, std::shared_ptr<FileStore>>(
      m, "FileStore", R"(A store in a file that all processes reach; it has no queues.

Args:
    file_name: the file, which is made if it is not there.
    world_size: the last of so many processes removes the file; -1: it stays.

    >>> torch.distributed.FileStore("/tmp/store", 2)  # doctest: +SKIP
)")
      .def(py::init<std::string, std::int64_t>(), py::arg("file_name"), py::arg("world_size") = -1,
           Free())
      .def_property_readonly("path", &FileStore::path, "The file.");
  py::class_<TCPStore, Store, std::shared_ptr<TCPStore>>(
      m, "TCPStore", R"(A store that one process serves and others reach over TCP.

Args:
    host_name: the address of the process that serves it.
    port: its port; 0 takes a free one, where is_master is True.
    world_size: how many clients the server waits for; None for none.
    is_master: this process serves it, too.
    timeout: how long waits last at most, a timedelta.
    wait_for_workers: whether the server waits for the clients.
    multi_tenant: use the server that this process has at the port already.
    master_listen_fd: a socket that listens already.
    use_libuv: accepted; the server is a thread of its own in either case.

Raises:
    DistNetworkError: there is no server within the time-out, or its port is in use.
    DistStoreError: clients are missing after the time-out.

    >>> store = torch.distributed.TCPStore("127.0.0.1", 0, is_master=True)
    >>> store.set("color", "green")
    >>> torch.distributed.TCPStore("127.0.0.1", store.port).get("color")
    b'green'
)")
      .def(py::init(&make_tcp_store), py::arg("host_name"), py::arg("port"),
           py::arg("world_size") = py::none(), py::arg("is_master") = false,
           py::arg("timeout") = py::none(), py::arg("wait_for_workers") = true,
           py::arg("multi_tenant") = false, py::arg("master_listen_fd") = py::none(),
           py::arg("use_libuv") = true)
      .def_property_readonly("host", &TCPStore::host, "The address of the server.")
      .def_property_readonly("port", &TCPStore::port, "The port of the server.")
      .def_property_readonly(
          "libuvBackend", [](const TCPStore&) { return false; },
          "False: the server is a thread of its own.")
      .def_property_readonly("_is_server", &TCPStore::is_server, "Whether this process serves it.")
      .def("_near_address", &TCPStore::near_address, Free(),
           "The address of this host on the way to the server.")
      .def("__repr__", [](const TCPStore& s) {
        return text("TCPStore(", s.host(), ", ", s.port(),
                    s.is_server() ? ", is_master=True)" : ")");
      });
}

}  // namespace

void bind_distributed(py::module_& core) {
  py::module_ m = core.def_submodule("_distributed");
  bind_dist_errors(m);
  bind_store(m);
  bind_stores(m);
  bind_engine(m);
  for (const char* name : {"Store", "HashStore", "PrefixStore", "FileStore", "TCPStore"})
    m.attr(name).attr("__module__") = "rushlight.distributed";
}

}  // namespace rushlight::python
