// Householder reflections by LAPACK, in blocks: one block's factorisation calls itself on halves,
// so that most of its work is products of matrices, where geqrf and orgqr multiply by vectors.
#include "reflections.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lapack.h"

namespace rushlight {
namespace {

// Columns of a block: wide ones pay where many columns are left to multiply.
int block_size(int columns) { return columns < 512 ? 32 : 64; }

// From how many columns on blocks are faster than LAPACK's own order. Halves cost more calls, for
// which OpenBLAS's faster float32 products by vectors make up longer.
template <class T>
constexpr int kFactoredByBlocks = sizeof(Real<T>) == 4 ? 256 : 64;
constexpr int kFormedByBlocks = 40;

}  // namespace

template <class T>
void factor_qr(const Columns<T>& a, T* tau) {
  const int k = std::min(a.rows, a.columns), lead = a.lead;
  int info;
  if (k < kFactoredByBlocks<T>) {
    const int ask = -1;
    T answer = 1;
    lapack<T>().geqrf(&a.rows, &a.columns, a.data, &lead, tau, &answer, &ask, &info);
    const int size = work_size(answer);
    std::vector<T> work(std::size_t(size) + 1);
    lapack<T>().geqrf(&a.rows, &a.columns, a.data, &lead, tau, work.data(), &size, &info);
    return;
  }
  const int nb = block_size(k);
  std::vector<T> factors(std::size_t(nb) * std::size_t(k)), work(std::size_t(nb) * a.columns);
  lapack<T>().geqrt(&a.rows, &a.columns, &nb, a.data, &lead, factors.data(), &nb, work.data(),
                    &info);
  for (int i = 0; i < k; ++i) tau[i] = factors[std::size_t(i) * std::size_t(nb) + i % nb];
}

template <class T>
void form_q(const Columns<T>& a, int k, const T* tau) {
  const int lead = a.lead;
  if (k < kFormedByBlocks) {
    const int ask = -1;
    T answer = 1;
    int info;
    lapack<T>().orgqr(&a.rows, &a.columns, &k, a.data, &lead, tau, &answer, &ask, &info);
    const int size = work_size(answer);
    std::vector<T> work(std::size_t(size) + 1);
    lapack<T>().orgqr(&a.rows, &a.columns, &k, a.data, &lead, tau, work.data(), &size, &info);
    return;
  }
  const auto to_identity = [&](int begin, int end) {
    for (int c = begin; c < end; ++c) {
      std::fill_n(a.at(0, c), a.rows, T(0));
      *a.at(c, c) = 1;
    }
  };
  const int nb = block_size(k);
  std::vector<T> vectors(std::size_t(a.rows) * nb), factor(std::size_t(nb) * nb),
      work(std::size_t(a.columns) * nb);
  to_identity(k, a.columns);
  for (int begin = (k - 1) / nb * nb; begin >= 0; begin -= nb) {
    const int size = std::min(nb, k - begin), rows = a.rows - begin, columns = a.columns - begin;
    for (int c = 0; c < size; ++c)
      std::copy_n(a.at(begin, begin + c), rows, vectors.data() + std::ptrdiff_t(c) * rows);
    to_identity(begin, begin + size);
    lapack<T>().larft("F", "C", &rows, &size, vectors.data(), &rows, tau + begin, factor.data(),
                      &nb, 1, 1);
    lapack<T>().larfb("L", "N", "F", "C", &rows, &columns, &size, vectors.data(), &rows,
                      factor.data(), &nb, a.at(begin, begin), &lead, work.data(), &columns, 1, 1, 1,
                      1);
  }
}

template void factor_qr(const Columns<float>&, float*);
template void factor_qr(const Columns<double>&, double*);
template void factor_qr(const Columns<std::complex<float>>&, std::complex<float>*);
template void factor_qr(const Columns<std::complex<double>>&, std::complex<double>*);
template void form_q(const Columns<float>&, int, const float*);
template void form_q(const Columns<double>&, int, const double*);
template void form_q(const Columns<std::complex<float>>&, int, const std::complex<float>*);
template void form_q(const Columns<std::complex<double>>&, int, const std::complex<double>*);

}  // namespace rushlight
