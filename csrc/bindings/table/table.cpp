// What the table of operations says of itself: read by tests, tools/ and the coverage page, never
// by a call.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/module.h"
#include "signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

std::vector<std::string> words_of(As as) {
  std::vector<std::string> words;
  for (const Visibility& v : kVisibilities)
    if (has(as, v.as)) words.emplace_back(v.name);
  return words;
}

const char* word_of(Cast cast) {
  return cast == Cast::lower ? "lower" : cast == Cast::full ? "full" : "none";
}

py::list rows() {
  using namespace py::literals;
  py::list all;
  for (const PublishedRow& row : published_rows()) {
    std::vector<std::string> texts, stubs;
    for (const Signature* s : row.signatures) {
      texts.push_back(s->text);
      if (s->types) stubs.push_back(stub_of_signature(*s));
    }
    if (!row.stub.empty()) stubs.push_back(row.stub);
    std::vector<std::string> aliases;
    for (const auto& [existing, name] : published_aliases())
      if (existing == row.name || existing == row.name + "_") aliases.emplace_back(name);
    all.append(
        py::dict("name"_a = row.name, "signatures"_a = texts, "stubs"_a = stubs,
                 "visible"_a = words_of(row.row.as), "in_place"_a = words_of(row.row.in_place),
                 "autocast"_a =
                     py::make_tuple(word_of(row.row.autocast.cpu), word_of(row.row.autocast.cuda)),
                 "copy"_a = row.row.copy, "exact"_a = row.row.exact,
                 "differentiable"_a = row.row.differentiable, "waits"_a = row.row.waits,
                 "stored"_a = row.row.stored, "complex"_a = row.row.complex,
                 "module"_a = row.module, "aliases"_a = aliases));
  }
  return all;
}

}  // namespace

void bind_table(py::module_& m) { m.def("_rows", rows, "Each row of the table of operations."); }

}  // namespace rushlight::python
