// The orthogonal polynomials of torch.special.
#pragma once
#include "../math/orthogonal.h"
#include "declare.h"

namespace rushlight {

struct ChebyshevPolynomialT {
  static constexpr auto signature = "special_chebyshev_polynomial_t(x, n)";
  static constexpr auto doc =
      R"(The Chebyshev polynomial of the first kind of degree n at x; 0 where n is below 0.

Args:
    n: the degree, a tensor or a scalar.

>>> torch.special.chebyshev_polynomial_t(torch.tensor([0.25, 0.5]), 3)
tensor([-0.6875, -1.0000]))";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool scalar_first = true;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x, T n) {
    return chebyshev(Chebyshev::t, x, n);
  }
};

struct ChebyshevPolynomialU {
  static constexpr auto signature = "special_chebyshev_polynomial_u(x, n)";
  static constexpr auto doc =
      R"(The Chebyshev polynomial of the second kind of degree n at x; 0 where n is below 0.

Args:
    n: the degree, a tensor or a scalar.

>>> torch.special.chebyshev_polynomial_u(torch.tensor([0.25, 0.5]), 3)
tensor([-0.8750, -1.0000]))";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool scalar_first = true;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x, T n) {
    return chebyshev(Chebyshev::u, x, n);
  }
};

struct ChebyshevPolynomialV {
  static constexpr auto signature = "special_chebyshev_polynomial_v(x, n)";
  static constexpr auto doc =
      R"(The Chebyshev polynomial of the third kind of degree n at x; 0 where n is below 0.

Args:
    n: the degree, a tensor or a scalar.

>>> torch.special.chebyshev_polynomial_v(torch.tensor([0.25, 0.5]), 3)
tensor([-0.1250, -1.0000]))";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool scalar_first = true;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x, T n) {
    return chebyshev(Chebyshev::v, x, n);
  }
};

struct ChebyshevPolynomialW {
  static constexpr auto signature = "special_chebyshev_polynomial_w(x, n)";
  static constexpr auto doc =
      R"(The Chebyshev polynomial of the fourth kind of degree n at x; 0 where n is below 0.

Args:
    n: the degree, a tensor or a scalar.

>>> torch.special.chebyshev_polynomial_w(torch.tensor([0.25, 0.5]), 3)
tensor([-1.6250, -1.0000]))";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool scalar_first = true;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x, T n) {
    return chebyshev(Chebyshev::w, x, n);
  }
};

struct ShiftedChebyshevPolynomialT {
  static constexpr auto signature = "special_shifted_chebyshev_polynomial_t(x, n)";
  static constexpr auto doc =
      R"(chebyshev_polynomial_t(2 x - 1, n)

Args:
    n: the degree, a tensor or a scalar.

>>> torch.special.shifted_chebyshev_polynomial_t(torch.tensor([0.25, 0.5]), 3)
tensor([1., -0.]))";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool scalar_first = true;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x, T n) {
    return chebyshev(Chebyshev::t, 2 * x - 1, n);
  }
};

struct ShiftedChebyshevPolynomialU {
  static constexpr auto signature = "special_shifted_chebyshev_polynomial_u(x, n)";
  static constexpr auto doc =
      R"(chebyshev_polynomial_u(2 x - 1, n)

Args:
    n: the degree, a tensor or a scalar.

>>> torch.special.shifted_chebyshev_polynomial_u(torch.tensor([0.25, 0.5]), 3)
tensor([1., -0.]))";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool scalar_first = true;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x, T n) {
    return chebyshev(Chebyshev::u, 2 * x - 1, n);
  }
};

struct ShiftedChebyshevPolynomialV {
  static constexpr auto signature = "special_shifted_chebyshev_polynomial_v(x, n)";
  static constexpr auto doc =
      R"(chebyshev_polynomial_v(2 x - 1, n)

Args:
    n: the degree, a tensor or a scalar.

>>> torch.special.shifted_chebyshev_polynomial_v(torch.tensor([0.25, 0.5]), 3)
tensor([1., 1.]))";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool scalar_first = true;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x, T n) {
    return chebyshev(Chebyshev::v, 2 * x - 1, n);
  }
};

struct ShiftedChebyshevPolynomialW {
  static constexpr auto signature = "special_shifted_chebyshev_polynomial_w(x, n)";
  static constexpr auto doc =
      R"(chebyshev_polynomial_w(2 x - 1, n)

Args:
    n: the degree, a tensor or a scalar.

>>> torch.special.shifted_chebyshev_polynomial_w(torch.tensor([0.25, 0.5]), 3)
tensor([ 1., -1.]))";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool scalar_first = true;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x, T n) {
    return chebyshev(Chebyshev::w, 2 * x - 1, n);
  }
};

struct HermitePolynomialH {
  static constexpr auto signature = "special_hermite_polynomial_h(x, n)";
  static constexpr auto doc =
      R"(The Hermite polynomial of the physicists of degree n at x; NaN for n above 512.

Args:
    n: the degree, a tensor or a scalar.

>>> torch.special.hermite_polynomial_h(torch.tensor([0.25, 0.5]), 3)
tensor([-2.8750, -5.0000]))";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool scalar_first = true;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x, T n) { return hermite(x, n, false); }
};

struct HermitePolynomialHe {
  static constexpr auto signature = "special_hermite_polynomial_he(x, n)";
  static constexpr auto doc =
      R"(The Hermite polynomial of the probabilists of degree n at x; NaN for n above 512.

Args:
    n: the degree, a tensor or a scalar.

>>> torch.special.hermite_polynomial_he(torch.tensor([0.25, 0.5]), 3)
tensor([-0.7344, -1.3750]))";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool scalar_first = true;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x, T n) { return hermite(x, n, true); }
};

struct LaguerrePolynomialL {
  static constexpr auto signature = "special_laguerre_polynomial_l(x, n)";
  static constexpr auto doc =
      R"(The Laguerre polynomial of degree n at x; NaN for n above 131072.

Args:
    n: the degree, a tensor or a scalar.

>>> torch.special.laguerre_polynomial_l(torch.tensor([0.25, 0.5]), 3)
tensor([ 0.3411, -0.1458]))";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool scalar_first = true;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x, T n) { return laguerre(x, n); }
};

struct LegendrePolynomialP {
  static constexpr auto signature = "special_legendre_polynomial_p(x, n)";
  static constexpr auto doc =
      R"(The Legendre polynomial of degree n at x; NaN for n above 131072.

Args:
    n: the degree, a tensor or a scalar.

>>> torch.special.legendre_polynomial_p(torch.tensor([0.25, 0.5]), 3)
tensor([-0.3359, -0.4375]))";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool scalar_first = true;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x, T n) { return legendre(x, n); }
};

using OrthogonalOps =
    OpList<ChebyshevPolynomialT, ChebyshevPolynomialU, ChebyshevPolynomialV, ChebyshevPolynomialW,
           ShiftedChebyshevPolynomialT, ShiftedChebyshevPolynomialU, ShiftedChebyshevPolynomialV,
           ShiftedChebyshevPolynomialW, HermitePolynomialH, HermitePolynomialHe,
           LaguerrePolynomialL, LegendrePolynomialP>;

}  // namespace rushlight
