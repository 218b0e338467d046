// QR and its Q by Householder reflections: LAPACK, in the order that is quickest.
#pragma once
#include "triangles.h"

namespace rushlight {

// QR: R and, below it, the vectors of min(rows, columns) Householder reflections 1 - tau v v^H.
template <class T>
void factor_qr(const Columns<T>& a, T* tau);

// Those vectors become the first columns of the product of the first k reflections.
template <class T>
void form_q(const Columns<T>& a, int k, const T* tau);

}  // namespace rushlight
