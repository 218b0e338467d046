// What one core multiplies and adds in registers, in GFLOP/s of float32: the limit of a product.
#include <cstdio>
#include <ctime>

namespace {

#if defined(__AVX512F__)
constexpr int kBytes = 64;
#else
constexpr int kBytes = 32;
#endif
using Vector __attribute__((vector_size(kBytes))) = float;
constexpr int kSums = 10, kLanes = kBytes / 4, kTimes = 1'000'000, kRounds = 40;

double seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

double round_of_sums() {
  const Vector x = Vector{} + 0.5f, y = Vector{} + 0.9f;
  Vector sums[kSums] = {};
  const double start = seconds();
  for (int i = 0; i < kTimes; ++i)
#pragma GCC unroll 16
    for (Vector& sum : sums) {
      sum = sum * x + y;
      asm volatile("" : "+v"(sum));  // which keeps each sum in its register
    }
  return seconds() - start;
}

}  // namespace

int main() {
  double best = 1e9;
  for (int i = 0; i < kRounds; ++i) {
    const double now = round_of_sums();
    best = now < best ? now : best;
  }
  std::printf("%f\n", 2.0 * kSums * kLanes * kTimes / best / 1e9);
}
