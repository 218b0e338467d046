// Plain loops: integers are rare here. The arithmetic is unsigned, so that overflow wraps around.
#include "conv_integer.h"

#include <algorithm>

#include "../parallel.h"

namespace rushlight::conv {
namespace {

using Index = std::int64_t;
using Word = std::uint64_t;

// Calls f(tap, input position) for the taps of output p of one plane that lie inside the image.
template <class F>
void visit_taps(const ConvShape& s, Index p, F f) {
  const Index q = p % s.result[2], h = p / s.result[2] % s.result[1];
  const Index d = p / s.result[2] / s.result[1];
  Index tap = 0;
  for (Index kd = 0; kd < s.kernel[0]; ++kd)
    for (Index kh = 0; kh < s.kernel[1]; ++kh)
      for (Index kw = 0; kw < s.kernel[2]; ++kw, ++tap) {
        const Index z = d * s.stride[0] + kd * s.dilation[0] - s.padding[0];
        const Index y = h * s.stride[1] + kh * s.dilation[1] - s.padding[1];
        const Index x = q * s.stride[2] + kw * s.dilation[2] - s.padding[2];
        if (z >= 0 && z < s.in[0] && y >= 0 && y < s.in[1] && x >= 0 && x < s.in[2])
          f(tap, (z * s.in[1] + y) * s.in[2] + x);
      }
}

struct Sizes {
  Index c, out, in, result, taps;  // per group; in and result are whole planes
  explicit Sizes(const ConvShape& s)
      : c(s.c / s.groups),
        out(s.out / s.groups),
        in(s.in[0] * s.in[1] * s.in[2]),
        result(s.result[0] * s.result[1] * s.result[2]),
        taps(s.kernel[0] * s.kernel[1] * s.kernel[2]) {}
};

}  // namespace

void integer_forward(const ConvShape& s, const View& input, const View& weight, const View* bias,
                     const View& out) {
  const Sizes z(s);
  const Word *x = input.as<Word>(), *w = weight.as<Word>();
  Word* y = out.as<Word>();
  parallel_for(s.n * s.out, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index n = i / s.out, o = i % s.out, g = o / z.out;
      for (Index p = 0; p < z.result; ++p) {
        Word sum = bias ? bias->as<Word>()[o] : 0;
        visit_taps(s, p, [&](Index tap, Index at) {
          for (Index c = 0; c < z.c; ++c)
            sum += x[(n * s.c + g * z.c + c) * z.in + at] * w[(o * z.c + c) * z.taps + tap];
        });
        y[i * z.result + p] = sum;
      }
      check_interrupt();
    }
  });
}

void integer_grad_input(const ConvShape& s, const View& grad, const View& weight, const View* bias,
                        const View& grad_input) {
  const Sizes z(s);
  const Word *g = grad.as<Word>(), *w = weight.as<Word>();
  Word* out = grad_input.as<Word>();
  parallel_for(s.n * s.c, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index n = i / s.c, channel = i % s.c, group = channel / z.c, c = channel % z.c;
      Word* plane = out + i * z.in;
      std::fill_n(plane, z.in, bias ? bias->as<Word>()[channel] : 0);
      for (Index o = group * z.out; o < (group + 1) * z.out; ++o)
        for (Index p = 0; p < z.result; ++p)
          visit_taps(s, p, [&](Index tap, Index at) {
            plane[at] += g[(n * s.out + o) * z.result + p] * w[(o * z.c + c) * z.taps + tap];
          });
      check_interrupt();
    }
  });
}

}  // namespace rushlight::conv
