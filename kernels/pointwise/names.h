// The names of pointwise ops that code outside their own header uses: csrc applies an op by its
// name alone, so that a changed formula compiles its own family again and nothing else.
#pragma once

namespace rushlight {

// activation.h
struct Relu;
struct Hardtanh;
struct LeakyRelu;
struct Elu;
struct Selu;
struct Celu;
struct Gelu;
struct GeluTanh;
struct Silu;
struct Mish;
struct Softplus;
struct Hardsigmoid;
struct Hardswish;
struct Softshrink;
struct Tanhshrink;
struct Threshold;
struct Prelu;
struct Glu;

// arithmetic.h
struct Neg;
struct Reciprocal;
struct Square;
struct Cube;
struct Sqrt;
struct Rsqrt;
struct Add;
struct Sub;
struct Rsub;
struct Mul;
struct Div;
struct DivTrunc;
struct DivFloor;
struct FloorDivide;
struct Remainder;
struct Fmod;
struct Pow;
struct PowScalar;
struct SqrtPower;
struct RsqrtPower;
struct ReciprocalPower;
struct Lerp;
struct Addcmul;
struct Addcdiv;
struct Hypot;

// comparison.h
struct Eq;
struct Ne;
struct Lt;
struct Le;
struct Gt;
struct Ge;
struct Isnan;
struct Isinf;
struct LogicalNot;
struct LogicalAnd;
struct LogicalOr;
struct LogicalXor;
struct BitwiseNot;
struct BitwiseAnd;
struct BitwiseOr;
struct BitwiseXor;
struct LeftShift;
struct RightShift;

// exponential.h
struct Exp;
struct Log;
struct Log2;
struct Log1p;
struct Sigmoid;
struct Sinh;
struct Cosh;
struct Tanh;
struct Logit;

// loss.h
struct MseLoss;
struct L1Loss;
struct SmoothL1Loss;
struct HuberLoss;
struct BinaryCrossEntropy;
struct BceWithLogits;
struct BceWithLogitsWeighted;

// selection.h
struct Abs;
struct Sign;
struct Sgn;
struct Floor;
struct Ceil;
struct Trunc;
struct Round;
struct RoundDecimals;
struct Maximum;
struct Minimum;
struct Clamp;
struct ClampMin;
struct ClampMax;
struct ClampScalars;
struct Heaviside;
struct ClampMinOnly;
struct ClampMinScalar;
struct ClampMaxOnly;
struct ClampMaxScalar;
struct NanToNum;
struct Nextafter;
struct NextafterReduced;
struct Where;
struct MaskedFill;

// special.h
struct FrexpExponent;
struct FrexpMantissa;
struct Digamma;
struct Polygamma;
struct Mvlgamma;
struct DirichletGrad;

// trigonometric.h
struct Sin;
struct Cos;
struct Erf;
struct Atan2;
struct Angle;

}  // namespace rushlight
