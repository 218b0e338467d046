// Eigenvalues, singular values and least squares by LAPACK: each function is called twice, first to
// ask how much memory it works in. Of complex numbers it also works in real ones. Of numbers that
// are not finite it might run forever: it is not called, and the answer is what torch's library
// finds.
#include "spectra.h"

#include <cmath>
#include <vector>

#include "batches.h"
#include "lapack.h"

namespace rushlight {
namespace {

template <class T>
Columns<T> matrix_or_none(const View& v, std::int64_t i) {
  return v.data ? matrix<T>(v, i) : Columns<T>{nullptr, 1, 1, 1};
}
template <class T>
std::vector<T> room(std::size_t count) {
  return std::vector<T>(count + 1);
}

// call(work, size) with as much as it asks for.
template <class T, class F>
void in_enough_room(F&& call) {
  const int ask = -1;
  T answer = 1;
  call(&answer, &ask);
  const int size = work_size(answer);
  call(room<T>(std::size_t(size)).data(), &size);
}

enum class Numbers { finite, infinite, none };

// What is among those of a, or of one of its triangles.
template <class T>
Numbers worst_of(const Columns<T>& a, bool above = true, bool below = true) {
  Numbers found = Numbers::finite;
  for (int c = 0; c < a.columns; ++c)
    for (int r = above ? 0 : c, past = below ? a.rows : std::min(c + 1, a.rows); r < past; ++r) {
      const Real<T> x = std::real(*a.at(r, c)), y = std::imag(*a.at(r, c));
      if (std::isnan(x) || std::isnan(y)) return Numbers::none;
      if (std::isinf(x) || std::isinf(y)) found = Numbers::infinite;
    }
  return found;
}
template <class T>
void fill_with_nan(const Columns<T>& a) {
  if (a.data) std::fill_n(a.data, std::int64_t(a.rows) * a.columns, T(NAN));
}

// What gesdd works in, of real numbers, beside complex ones.
std::size_t reals_of_svd(std::size_t k, std::size_t longest, bool vectors) {
  return vectors ? std::max(5 * k * k + 5 * k, 2 * longest * k + 2 * k * k + k) : 7 * k;
}

}  // namespace

void find_eigh(const View& a, const View& values, bool vectors, bool upper, const View& info) {
  each(a, [&]<class T>(T, std::int64_t i) {
    const Columns<T> m = matrix<T>(a, i);
    const int lead = m.lead;
    const char *job = vectors ? "V" : "N", *triangle = upper ? "U" : "L";
    auto* w = row<Real<T>>(values, i);
    int* result = info.as<int>() + i;
    if (m.rows > 1 && worst_of(m, upper, !upper) != Numbers::finite) {
      if (m.rows > 2) {
        *result = m.rows - (vectors ? 1 : 2);
      } else {
        fill_with_nan(m);
        std::fill_n(w, 2, Real<T>(NAN));
      }
      return;
    }
    const auto call = [&](T* work, const int* size, [[maybe_unused]] Real<T>* reals,
                          [[maybe_unused]] const int* real_size, int* integers,
                          const int* integer_size) {
      if constexpr (kIsComplex<T>)
        lapack<T>().eigh(job, triangle, &m.rows, m.data, &lead, w, work, size, reals, real_size,
                         integers, integer_size, result, 1, 1);
      else
        lapack<T>().eigh(job, triangle, &m.rows, m.data, &lead, w, work, size, integers,
                         integer_size, result, 1, 1);
    };
    const int ask = -1;
    T answer = 1;
    Real<T> reals = 1;
    int integers = 1;
    call(&answer, &ask, &reals, &ask, &integers, &ask);
    const int size = work_size(answer), real_size = work_size(reals);
    call(room<T>(std::size_t(size)).data(), &size, room<Real<T>>(std::size_t(real_size)).data(),
         &real_size, room<int>(std::size_t(integers)).data(), &integers);
  });
}

void find_svd(const View& a, const View& u, const View& s, const View& vt, const View& info) {
  each(a, [&]<class T>(T, std::int64_t i) {
    const Columns<T> m = matrix<T>(a, i);
    const int k = std::min(m.rows, m.columns), lead = m.lead;
    const char* job = !u.data ? "N" : u.sizes[2] == k && vt.sizes[1] == k ? "S" : "A";
    const Columns<T> left = matrix_or_none<T>(u, i), right = matrix_or_none<T>(vt, i);
    const int lead_u = left.lead, lead_v = right.lead;
    int* result = info.as<int>() + i;
    if (const Numbers worst = worst_of(m); worst != Numbers::finite) {
      if (worst == Numbers::none) *result = -4;
      std::fill_n(row<Real<T>>(s, i), k, Real<T>(NAN));
      fill_with_nan(left);
      fill_with_nan(right);
      return;
    }
    auto integers = room<int>(std::size_t(k) * 8);
    auto reals = room<Real<T>>(
        kIsComplex<T> ? reals_of_svd(std::size_t(k), std::size_t(std::max(m.rows, m.columns)),
                                     u.data != nullptr)
                      : 0);
    in_enough_room<T>([&](T* work, const int* size) {
      if constexpr (kIsComplex<T>)
        lapack<T>().gesdd(job, &m.rows, &m.columns, m.data, &lead, row<Real<T>>(s, i), left.data,
                          &lead_u, right.data, &lead_v, work, size, reals.data(), integers.data(),
                          result, 1);
      else
        lapack<T>().gesdd(job, &m.rows, &m.columns, m.data, &lead, row<T>(s, i), left.data, &lead_u,
                          right.data, &lead_v, work, size, integers.data(), result, 1);
    });
  });
}

void find_lstsq(const View& a, const View& b, double rcond, const View& rank) {
  each(a, [&]<class T>(T, std::int64_t i) {
    const Columns<T> m = matrix<T>(a, i), x = matrix<T>(b, i);
    const int lead = m.lead, lead_x = x.lead;
    const Real<T> smallest = Real<T>(rcond);
    auto pivots = room<int>(std::size_t(m.columns));  // 0: any column may be exchanged
    auto reals = room<Real<T>>(kIsComplex<T> ? std::size_t(m.columns) * 2 : 0);
    int found = 0, info;
    in_enough_room<T>([&](T* work, const int* size) {
      if constexpr (kIsComplex<T>)
        lapack<T>().gelsy(&m.rows, &m.columns, &x.columns, m.data, &lead, x.data, &lead_x,
                          pivots.data(), &smallest, &found, work, size, reals.data(), &info);
      else
        lapack<T>().gelsy(&m.rows, &m.columns, &x.columns, m.data, &lead, x.data, &lead_x,
                          pivots.data(), &smallest, &found, work, size, &info);
    });
    rank.as<std::int64_t>()[i] = found;
  });
}

void find_eig(const View& a, const View& values, const View& vectors, const View& info) {
  each(a, [&]<class T>(T, std::int64_t i) {
    const Columns<T> m = matrix<T>(a, i), v = matrix_or_none<T>(vectors, i);
    const int lead = m.lead, one = 1, lead_v = v.lead;
    const char* job = vectors.data ? "V" : "N";
    T* w = row<T>(values, i);
    int* result = info.as<int>() + i;
    auto reals = room<Real<T>>(kIsComplex<T> ? std::size_t(m.rows) * 2 : 0);
    in_enough_room<T>([&](T* work, const int* size) {
      if constexpr (kIsComplex<T>)
        lapack<T>().geev("N", job, &m.rows, m.data, &lead, w, nullptr, &one, v.data, &lead_v, work,
                         size, reals.data(), result, 1, 1);
      else
        lapack<T>().geev("N", job, &m.rows, m.data, &lead, w, w + m.rows, nullptr, &one, v.data,
                         &lead_v, work, size, result, 1, 1);
    });
  });
}

}  // namespace rushlight
