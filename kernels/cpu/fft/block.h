// Between tensors and the planes of a transform: up to kLines<T> lines of a tensor, side by side.
#pragma once
#include "passes.h"

namespace rushlight::fft {

template <class T>
inline constexpr Index kLines = 64 / sizeof(T);  // a vector of the widest kind

// Numbers of several lines in a tensor: value j of line l is at offsets[l] + j * step.
struct Numbers {
  Index count;  // of lines
  const Index* offsets;
  Index step;
};

// to[j * lines + l] := value j, for j < present; 0 for j up to n.
template <class T>
void take(const T* from, const Numbers& at, Index present, Index n, T* to);
// value j := from[j * lines + l] * scale, for j < n.
template <class T>
void put(const T* from, const Numbers& at, Index n, T scale, T* to);
// Both for complex numbers, whose imaginary parts lie beside the real ones.
template <class T>
void take_pairs(const T* from, const Numbers& at, Index present, Index n, Planes<T> to);
template <class T>
void put_pairs(Planes<T> from, const Numbers& at, Index n, T scale_re, T scale_im, T* to);

}  // namespace rushlight::fft
