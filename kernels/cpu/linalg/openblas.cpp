// Loads libscipy_openblas.so by absolute path, so that another package's copy is never mistaken for
// ours. Note: the thread count must be 1 in the environment while it loads, or its
// constructor starts a pool of its own beside ours.
#include "openblas.h"

#include <cstdlib>
#include <dlfcn.h>
#include <optional>

#include "lapack.h"

namespace rushlight {
namespace {

struct Library {
  Blas<float> single;
  Blas<double> twice;
  Lapack<float> lapack_single;
  Lapack<double> lapack_twice;
  Lapack<std::complex<float>> lapack_complex;
  Lapack<std::complex<double>> lapack_complex_twice;
  std::string description;
};

template <class F>
void find(void* library, const char* name, F*& f) {
  f = reinterpret_cast<F*>(dlsym(library, name));
}

// "scipy_sgetrf_" and so on; `letter` is that of T.
template <class T>
void find_all(void* library, char letter, Lapack<T>& to) {
  to.complete = true;
  const auto one = [&](const char* name, auto*& f) {
    find(library, (std::string("scipy_") + letter + name + "_").c_str(), f);
    to.complete &= f != nullptr;
  };
  one("getrf", to.getrf);
  one("potrf", to.potrf);
  one("trsm", to.trsm);
  one("geqrf", to.geqrf);
  one(kIsComplex<T> ? "ungqr" : "orgqr", to.orgqr);
  one("geqrt", to.geqrt);
  one("larft", to.larft);
  one("larfb", to.larfb);
  one(kIsComplex<T> ? "heevd" : "syevd", to.eigh);
  one("gesdd", to.gesdd);
  one("geev", to.geev);
  one("gelsy", to.gelsy);
  one("sytrf", to.sytrf);
  one("sytrs", to.sytrs);
  one(kIsComplex<T> ? "hetrf" : "sytrf", to.hetrf);
  one(kIsComplex<T> ? "hetrs" : "sytrs", to.hetrs);
}

Library load() {
  Library found;
  Dl_info self;
  if (!dladdr(reinterpret_cast<void*>(&blas_description), &self) || !self.dli_fname) {
    found.description = "built-in (own library not located)";
    return found;
  }
  const std::string here = self.dli_fname;
  const std::string path = here.substr(0, here.find_last_of('/') + 1) + "libscipy_openblas.so";
  const char* name = "OPENBLAS_NUM_THREADS";
  const char* value = std::getenv(name);
  const std::optional<std::string> before =
      value ? std::optional<std::string>(value) : std::nullopt;
  setenv(name, "1", 1);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (before)
    setenv(name, before->c_str(), 1);
  else
    unsetenv(name);
  if (!library) {
    found.description = std::string("built-in (") + dlerror() + ")";
    return found;
  }
  find(library, "scipy_cblas_sgemm", found.single.gemm);
  find(library, "scipy_cblas_dgemm", found.twice.gemm);
  find(library, "scipy_cblas_sgemv", found.single.gemv);
  find(library, "scipy_cblas_dgemv", found.twice.gemv);
  find_all(library, 's', found.lapack_single);
  find_all(library, 'd', found.lapack_twice);
  find_all(library, 'c', found.lapack_complex);
  find_all(library, 'z', found.lapack_complex_twice);
  const char* (*config)() = nullptr;
  find(library, "scipy_openblas_get_config", config);
  found.description = config ? config() : "OpenBLAS";
  return found;
}

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

}  // namespace

template <>
const Blas<float>& blas<float>() {
  return library().single;
}
template <>
const Blas<double>& blas<double>() {
  return library().twice;
}
template <>
const Lapack<float>& lapack<float>() {
  return library().lapack_single;
}
template <>
const Lapack<double>& lapack<double>() {
  return library().lapack_twice;
}
template <>
const Lapack<std::complex<float>>& lapack<std::complex<float>>() {
  return library().lapack_complex;
}
template <>
const Lapack<std::complex<double>>& lapack<std::complex<double>>() {
  return library().lapack_complex_twice;
}
const std::string& blas_description() { return library().description; }

}  // namespace rushlight
