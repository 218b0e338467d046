// Bessel functions and Airy's function.
#pragma once
#include "../math/bessel.h"
#include "declare.h"

namespace rushlight {

struct I1;

struct I0 {
  static constexpr auto signature = "i0(input)";
  static constexpr auto doc =
      "The modified Bessel function of the first kind of order 0.\n"
      ">>> torch.i0(torch.tensor([0., 1.]))\n"
      "tensor([1.0000, 1.2661])";
  static constexpr auto aliases = "special.i0";
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x) { return bessel_i<0, false>(x); }
  static bool is_near(double x) { return abs(x) <= 8; }
  static double forward_near(double x) { return bessel_i_of_near<0, false>(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x) { return g * call<I1>(x); }
};

struct I1 {
  static constexpr auto signature = "special_i1(input)";
  static constexpr auto doc =
      "The modified Bessel function of the first kind of order 1.\n"
      ">>> torch.special.i1(torch.tensor([0., 1.]))\n"
      "tensor([0.0000, 0.5652])";
  static constexpr unsigned visible = Visible::special;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {Save::input | Save::output};
  template <class T> HOST_DEVICE static T forward(T x) { return bessel_i<1, false>(x); }
  static bool is_near(double x) { return abs(x) <= 8; }
  static double forward_near(double x) { return bessel_i_of_near<1, false>(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x, T y) {
    const T ratio = where(x == T(0), T(0.5), y / where(x == T(0), T(1), x));
    return g * (call<I0>(x) - ratio);
  }
};

struct I1e;

struct I0e {
  static constexpr auto signature = "special_i0e(input)";
  static constexpr auto doc =
      "exp(-|x|) * i0(x)\n"
      ">>> torch.special.i0e(torch.tensor([0., 1.]))\n"
      "tensor([1.0000, 0.4658])";
  static constexpr auto node = "SpecialI0EBackward0";
  static constexpr unsigned visible = Visible::special;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {Save::input | Save::output};
  template <class T> HOST_DEVICE static T forward(T x) { return bessel_i<0, true>(x); }
  static bool is_near(double x) { return abs(x) <= 8; }
  static double forward_near(double x) { return bessel_i_of_near<0, true>(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x, T y) {
    const T sign = where(x > T(0), T(1), where(x < T(0), T(-1), T(0)));
    return g * (call<I1e>(x) - sign * y);
  }
};

struct I1e {
  static constexpr auto signature = "special_i1e(input)";
  static constexpr auto doc =
      "exp(-|x|) * i1(x)\n"
      ">>> torch.special.i1e(torch.tensor([0., 1.]))\n"
      "tensor([0.0000, 0.2079])";
  static constexpr auto node = "SpecialI1EBackward0";
  static constexpr unsigned visible = Visible::special;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {Save::input | Save::output};
  template <class T> HOST_DEVICE static T forward(T x) { return bessel_i<1, true>(x); }
  static bool is_near(double x) { return abs(x) <= 8; }
  static double forward_near(double x) { return bessel_i_of_near<1, true>(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x, T y) {
    const T sign = where(x > T(0), T(1), where(x < T(0), T(-1), T(0)));
    const T ratio = where(x == T(0), T(0.5), y / where(x == T(0), T(1), x));
    return g * (call<I0e>(x) - sign * y - ratio);
  }
};

struct BesselJ0 {
  static constexpr auto signature = "special_bessel_j0(input)";
  static constexpr auto doc =
      "The Bessel function of the first kind of order 0.\n"
      ">>> torch.special.bessel_j0(torch.tensor([1., 2.]))\n"
      "tensor([0.7652, 0.2239])";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x) { return bessel<0, Kind::first>(x); }
  static bool is_near(double x) { return abs(x) <= kNearAngle; }
  static double forward_near(double x) { return bessel_of_near<0, Kind::first>(x); }
};

struct BesselJ1 {
  static constexpr auto signature = "special_bessel_j1(input)";
  static constexpr auto doc =
      "The Bessel function of the first kind of order 1.\n"
      ">>> torch.special.bessel_j1(torch.tensor([1., 2.]))\n"
      "tensor([0.4401, 0.5767])";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x) { return bessel<1, Kind::first>(x); }
  static bool is_near(double x) { return abs(x) <= kNearAngle; }
  static double forward_near(double x) { return bessel_of_near<1, Kind::first>(x); }
};

struct BesselY0 {
  static constexpr auto signature = "special_bessel_y0(input)";
  static constexpr auto doc =
      "The Bessel function of the second kind of order 0.\n"
      ">>> torch.special.bessel_y0(torch.tensor([1., 2.]))\n"
      "tensor([0.0883, 0.5104])";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr Domain domain = {0.1, 4};
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x) { return bessel<0, Kind::second>(x); }
  static bool is_near(double x) { return abs(x) <= kNearAngle; }
  static double forward_near(double x) { return bessel_of_near<0, Kind::second>(x); }
};

struct BesselY1 {
  static constexpr auto signature = "special_bessel_y1(input)";
  static constexpr auto doc =
      "The Bessel function of the second kind of order 1.\n"
      ">>> torch.special.bessel_y1(torch.tensor([1., 2.]))\n"
      "tensor([-0.7812, -0.1070])";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr Domain domain = {0.1, 4};
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x) { return bessel<1, Kind::second>(x); }
  static bool is_near(double x) { return abs(x) <= kNearAngle; }
  static double forward_near(double x) { return bessel_of_near<1, Kind::second>(x); }
};

struct ModifiedBesselI0 {
  static constexpr auto signature = "special_modified_bessel_i0(input)";
  static constexpr auto doc =
      "The modified Bessel function of the first kind of order 0.\n"
      ">>> torch.special.modified_bessel_i0(torch.tensor([1., 2.]))\n"
      "tensor([1.2661, 2.2796])";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x) { return bessel_i<0, false>(x); }
  static bool is_near(double x) { return abs(x) <= 8; }
  static double forward_near(double x) { return bessel_i_of_near<0, false>(x); }
};

struct ModifiedBesselI1 {
  static constexpr auto signature = "special_modified_bessel_i1(input)";
  static constexpr auto doc =
      "The modified Bessel function of the first kind of order 1.\n"
      ">>> torch.special.modified_bessel_i1(torch.tensor([1., 2.]))\n"
      "tensor([0.5652, 1.5906])";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x) { return bessel_i<1, false>(x); }
  static bool is_near(double x) { return abs(x) <= 8; }
  static double forward_near(double x) { return bessel_i_of_near<1, false>(x); }
};

struct ModifiedBesselK0 {
  static constexpr auto signature = "special_modified_bessel_k0(input)";
  static constexpr auto doc =
      "The modified Bessel function of the second kind of order 0.\n"
      ">>> torch.special.modified_bessel_k0(torch.tensor([1., 2.]))\n"
      "tensor([0.4210, 0.1139])";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Domain domain = {0.1, 4};
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x) { return bessel_k<0, false>(x); }
};

struct ModifiedBesselK1 {
  static constexpr auto signature = "special_modified_bessel_k1(input)";
  static constexpr auto doc =
      "The modified Bessel function of the second kind of order 1.\n"
      ">>> torch.special.modified_bessel_k1(torch.tensor([1., 2.]))\n"
      "tensor([0.6019, 0.1399])";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Domain domain = {0.1, 4};
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x) { return bessel_k<1, false>(x); }
};

struct ScaledModifiedBesselK0 {
  static constexpr auto signature = "special_scaled_modified_bessel_k0(x)";
  static constexpr auto doc =
      "exp(x) * modified_bessel_k0(x)\n"
      ">>> torch.special.scaled_modified_bessel_k0(torch.tensor([1., 2.]))\n"
      "tensor([1.1445, 0.8416])";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Domain domain = {0.1, 4};
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x) { return bessel_k<0, true>(x); }
};

struct ScaledModifiedBesselK1 {
  static constexpr auto signature = "special_scaled_modified_bessel_k1(x)";
  static constexpr auto doc =
      "exp(x) * modified_bessel_k1(x)\n"
      ">>> torch.special.scaled_modified_bessel_k1(torch.tensor([1., 2.]))\n"
      "tensor([1.6362, 1.0335])";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr bool clones = true;
  static constexpr Domain domain = {0.1, 4};
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x) { return bessel_k<1, true>(x); }
};

struct SphericalBesselJ0 {
  static constexpr auto signature = "special_spherical_bessel_j0(x)";
  static constexpr auto doc =
      "The spherical Bessel function of order 0: sin(x) / x, and 1 at 0.\n"
      ">>> torch.special.spherical_bessel_j0(torch.tensor([1., 2.]))\n"
      "tensor([0.8415, 0.4546])";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x) { return spherical_bessel_j0(x); }
  static bool is_near(double x) { return abs(x) <= kNearAngle; }
  static double forward_near(double x) { return spherical_bessel_j0_of_near(x); }
};

struct AiryAi {
  static constexpr auto signature = "special_airy_ai(x)";
  static constexpr auto doc =
      "Airy's function Ai.\n"
      ">>> torch.special.airy_ai(torch.tensor([1., 2.]))\n"
      "tensor([0.1353, 0.0349])";
  static constexpr auto takes = Takes::wide;
  static constexpr unsigned visible = Visible::special;
  static constexpr bool constant = true;
  static constexpr bool in_double = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x) { return airy_ai(x); }
  static bool is_near(double x) { return abs(x) <= kNearAiry; }
  static double forward_near(double x) { return airy_ai_of_near(x); }
};

using BesselOps = OpList<I0, I1, I0e, I1e, BesselJ0, BesselJ1, BesselY0, BesselY1, ModifiedBesselI0,
                         ModifiedBesselI1, ModifiedBesselK0, ModifiedBesselK1,
                         ScaledModifiedBesselK0, ScaledModifiedBesselK1, SphericalBesselJ0, AiryAi>;

}  // namespace rushlight
