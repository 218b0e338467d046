// The error function's kin, gamma functions and other functions of torch.special; most are computed
// in double.
#pragma once
#include "../math/beta_slope.h"
#include "../math/gamma.h"
#include "../math/normal.h"
#include "declare.h"

namespace rushlight {

struct Erfc {
  static constexpr auto signature = "erfc(input)";
  static constexpr auto doc =
      "1 - erf(x), exact for large x.\n"
      ">>> torch.erfc(torch.tensor([0.5, 1.]))\n"
      "tensor([0.4795, 0.1573])";
  static constexpr auto aliases = "special.erfc";
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x) { return erfc(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x) {
    return g * (T(-1.12837916709551257390) * exp(-(x * x)));
  }
};

struct Erfinv {
  static constexpr auto signature = "erfinv(input)";
  static constexpr auto doc =
      "The inverse of erf.\n"
      ">>> torch.erfinv(torch.tensor([0., 0.5]))\n"
      "tensor([0.0000, 0.4769])";
  static constexpr auto autocast = Casts::float32_on_gpu;
  static constexpr auto aliases = "special.erfinv";
  static constexpr unsigned in_place = Visible::method;
  static constexpr Saves save = {Save::output};
  static constexpr Domain domain = {-0.9, 0.9};
  template <class T> HOST_DEVICE static T forward(T x) { return erfinv(x); }
  // the most usual elements, in the CPU's vectors
  template <class T> static bool is_near(T x) { return erfinv_is_near(x); }
  template <class T> static T forward_near(T x) { return erfinv_of_near(x); }
  template <class T> HOST_DEVICE static T backward(T g, T y) {
    return g * (T(0.886226925452758013649) * exp(y * y));
  }
};

struct Erfcx {
  static constexpr auto signature = "special_erfcx(input)";
  static constexpr auto doc =
      "exp(x^2) * erfc(x), where neither overflows nor vanishes.\n"
      ">>> torch.special.erfcx(torch.tensor([0., 1.]))\n"
      "tensor([1.0000, 0.4276])";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {Save::input | Save::output};
  template <class T> HOST_DEVICE static T forward(T x) { return erfcx(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x, T y) {
    return g * (T(2) * x * y - T(1.12837916709551257390));
  }
};

struct Ndtr {
  static constexpr auto signature = "special_ndtr(input)";
  static constexpr auto doc =
      "The share of a standard normal distribution that lies below x.\n"
      ">>> torch.special.ndtr(torch.tensor([0., 1.]))\n"
      "tensor([0.5000, 0.8413])";
  static constexpr unsigned visible = Visible::special;
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x) { return ndtr(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x) {
    return g * (T(0.398942280401432677940) * exp(T(-0.5) * x * x));
  }
};

struct LogNdtr {
  static constexpr auto signature = "special_log_ndtr(input)";
  static constexpr auto doc =
      "log(ndtr(x)), precise where that is small.\n"
      ">>> torch.special.log_ndtr(torch.tensor([0., -40.]))\n"
      "tensor([-6.9315e-01, -8.0461e+02])";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x) { return log_ndtr(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x) {
    return g * T(0.797884560802865355880) / call<Erfcx>(x * T(-0.707106781186547524401));
  }
};

struct Ndtri {
  static constexpr auto signature = "special_ndtri(input)";
  static constexpr auto doc =
      "The inverse of ndtr(): the x below which a share p of a normal distribution lies.\n"
      ">>> torch.special.ndtri(torch.tensor([0.5, 0.975]))\n"
      "tensor([0.0000, 1.9600])";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Domain domain = {0.05, 0.95};
  static constexpr Saves save = {Save::output};
  template <class T> HOST_DEVICE static T forward(T x) { return ndtri(x); }
  static bool is_near(double x) { return abs(x - 0.5) < 0.499; }
  static double forward_near(double x) { return ndtri_of_near(x); }
  template <class T> HOST_DEVICE static T backward(T g, T y) {
    return g * (T(2.50662827463100050242) * exp(T(0.5) * y * y));
  }
};

struct Sinc {
  static constexpr auto signature = "sinc(input)";
  static constexpr auto doc =
      "sin(pi x) / (pi x), and 1 at 0.\n"
      ">>> torch.sinc(torch.tensor([0., 0.5]))\n"
      "tensor([1.0000, 0.6366])";
  static constexpr auto aliases = "special.sinc";
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {Save::input | Save::output};
  template <class T> HOST_DEVICE static T forward(T x) { return sinc(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x, T y) {
    return g * where(x == T(0), T(0), (cos_pi(x) - y) / where(x == T(0), T(1), x));
  }
};

struct Ldexp {
  static constexpr auto signature = "ldexp(input, other)";
  static constexpr auto doc =
      R"(input * 2^other

Args:
    other: the exponent of 2.

>>> torch.ldexp(torch.tensor([1.5]), torch.tensor([2]))
tensor([6.]))";
  static constexpr bool tensors_only = true;
  static constexpr unsigned in_place = Visible::function | Visible::method;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {Save::other, Save::output};
  template <class T> HOST_DEVICE static T forward(T a, T b) {
    return a * exp2(trunc(b)) * exp2(where(b - b == T(0), b - trunc(b), T(0)));
  }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T b, T y) {
    return {call<Ldexp>(g, b), g * y * T(0.693147180559945309417)};
  }
};

struct FrexpExponent {
  static constexpr auto signature = "frexp_exponent(input)";
  static constexpr auto doc = "The n with |x| / 2^n in [0.5, 1), as a float.";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x) { return binary_exponent(x); }
};

struct FrexpMantissa {
  static constexpr auto signature = "frexp_mantissa(input)";
  static constexpr auto doc = "x / 2^n with the n that brings it to [0.5, 1).";
  static constexpr auto takes = Takes::floating;
  static constexpr auto node = "FrexpBackward0";
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x) { return binary_fraction(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x) {
    return call<Ldexp>(g, -call<FrexpExponent>(x));
  }
};

struct Lgamma {
  static constexpr auto signature = "lgamma(input)";
  static constexpr auto doc =
      "The logarithm of the size of gamma(x).\n"
      ">>> torch.lgamma(torch.tensor([0.5, 4.]))\n"
      "tensor([0.5724, 1.7918])";
  static constexpr auto aliases = "special.gammaln";
  static constexpr unsigned in_place = Visible::method;
  static constexpr bool in_double = true;
  static constexpr Saves save = {Save::input};
  static constexpr Domain domain = {0.3, 4};
  template <class T> HOST_DEVICE static T forward(T x) { return lgamma(x); }
  // the same in the CPU's vectors
  static double forward_not_negative(double x) { return lgamma_not_negative(x) + 0.0; }  // not -0
  static double forward_reflected(double x, double y) { return lgamma_negative(x, y); }
  static bool has_lost_digits(double x, double y) {
    return abs(y) < (x <= kLgammaReflected ? 1 : 0.05);
  }
  static double slope_not_negative(double x) { return digamma_not_negative(x); }
  static double slope_reflected(double x, double y) { return digamma_reflected(x, y); }
  template <class T> HOST_DEVICE static T backward(T g, T x) { return g * digamma(x); }
};

struct Digamma {
  static constexpr auto signature = "digamma(input)";
  static constexpr auto doc =
      "The derivative of lgamma.\n"
      ">>> torch.digamma(torch.tensor([0.5, 1.]))\n"
      "tensor([-1.9635, -0.5772])";
  static constexpr auto aliases = "special.digamma special.psi";
  static constexpr unsigned in_place = Visible::method;
  static constexpr bool in_double = true;
  static constexpr Saves save = {Save::input};
  static constexpr Domain domain = {0.3, 4};
  template <class T> HOST_DEVICE static T forward(T x) { return digamma(x); }
  // the same in the CPU's vectors
  static double forward_not_negative(double x) { return digamma_not_negative(x); }
  static double forward_reflected(double x, double y) { return digamma_reflected(x, y); }
  template <class T> HOST_DEVICE static T backward(T g, T x) { return g * polygamma(T(1), x); }
};

struct Polygamma {
  static constexpr auto signature = "polygamma_of(input, n=0.0)";
  static constexpr auto doc = "The n-th derivative of digamma.";
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr auto node = "PolygammaBackward0";
  static constexpr bool in_double = true;
  static constexpr Saves save = {Save::input};
  static constexpr Domain domain = {0.3, 4};
  template <class T> HOST_DEVICE static T forward(T x, T n) { return polygamma(n, x); }
  static bool is_near(double x, double n) { return (n == 1) & (x > 0) & (x < 1e300); }
  static double forward_near(double x, double) { return trigamma_positive(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x, T n) {
    return g * polygamma(n + T(1), x);
  }
};

// The logarithm of the gamma function of p variables, and with n its n-th derivative, which is what
// backward calls.
struct Mvlgamma {
  static constexpr auto signature = "mvlgamma_of(input, n=0.0, p=1.0)";
  static constexpr auto doc = "The n-th derivative of mvlgamma.";
  static constexpr auto node = "MvlgammaBackward0";
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr bool in_double = true;
  static constexpr Saves save = {Save::input};
  static constexpr Domain domain = {2, 5};
  template <class T> HOST_DEVICE static T forward(T x, T n, T p) { return sum_of_lgamma(x, n, p); }
  template <class T> HOST_DEVICE static T backward(T g, T x, T n, T p) {
    return g * sum_of_lgamma(x, n + T(1), p);
  }
};

struct Igamma {
  static constexpr auto signature = "igamma(input, other)";
  static constexpr auto doc =
      R"(The regularised lower incomplete gamma function: the share of the gamma distribution
of shape input that lies below other. It has no gradient for input.

Args:
    input: the shape parameter a, positive.
    other: the bound x of the integral, not negative.

>>> torch.igamma(torch.tensor([1.]), torch.tensor([1.]))
tensor([0.6321]))";
  static constexpr auto takes = Takes::floating;
  static constexpr auto aliases = "special.gammainc";
  static constexpr auto no_gradient = "igamma: input";
  static constexpr bool tensors_only = true;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {0, Save::input | Save::other};
  static constexpr Domain domain = {0.3, 4};
  template <class T> HOST_DEVICE static T forward(T a, T x) { return igamma(a, x); }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T a, T x) {
    return {T(0), g * exp((a - T(1)) * log(x) - x - call<Lgamma>(a))};
  }
};

struct Igammac {
  static constexpr auto signature = "igammac(input, other)";
  static constexpr auto doc =
      R"(The regularised upper incomplete gamma function: the share of the gamma distribution
of shape input that lies above other. It has no gradient for input.

Args:
    input: the shape parameter a, positive.
    other: the bound x of the integral, not negative.

>>> torch.igammac(torch.tensor([1.]), torch.tensor([1.]))
tensor([0.3679]))";
  static constexpr auto takes = Takes::floating;
  static constexpr auto aliases = "special.gammaincc";
  static constexpr auto no_gradient = "igammac: input";
  static constexpr bool tensors_only = true;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {0, Save::input | Save::other};
  static constexpr Domain domain = {0.3, 4};
  template <class T> HOST_DEVICE static T forward(T a, T x) { return igammac(a, x); }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T a, T x) {
    return {T(0), -g * exp((a - T(1)) * log(x) - x - call<Lgamma>(a))};
  }
};

struct Zeta {
  static constexpr auto signature = "special_zeta(input, other)";
  static constexpr auto doc =
      R"(Hurwitz's zeta function, the sum of (k + other)^-input over k = 0, 1, ...: infinite
where input is 1 or a term divides by 0, NaN where input is below 1. It has no gradient for input.

Args:
    input: the exponent x, greater than 1.
    other: the first term q.

>>> torch.special.zeta(torch.tensor([2.]), 1)
tensor([1.6449]))";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr auto no_gradient = "zeta";
  static constexpr bool scalar_first = true;
  static constexpr bool in_double = true;
  static constexpr Saves save = {0, Save::input | Save::other};
  static constexpr Domain domain = {1.3, 4};
  template <class T> HOST_DEVICE static T forward(T x, T q) { return zeta(x, q); }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T x, T q) {
    return {T(0), -g * x * call<Zeta>(x + T(1), q)};
  }
};

struct DirichletGrad {
  static constexpr auto signature = "dirichlet_grad(x, alpha, total)";
  static constexpr auto doc = "See math/beta_slope.h.";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x, T alpha, T total) {
    return static_cast<T>(beta_slope(x, alpha, total));
  }
};

using SpecialOps =
    OpList<Erfc, Erfinv, Erfcx, Ndtr, LogNdtr, Ndtri, Sinc, Ldexp, FrexpExponent, FrexpMantissa,
           Lgamma, Digamma, Polygamma, Mvlgamma, Igamma, Igammac, Zeta, DirichletGrad>;

}  // namespace rushlight
