// Lengths into factors, and the tables of their roots.
#include "plan.h"

#include <cmath>

#include "kept.h"
#include "kernels/cpu/interruptible.h"
#include "roots.h"
#include "transform.h"

namespace rushlight::fft {
namespace {

constexpr Index kLong = 1 << 15;  // values that no fast cache holds twice
constexpr int kOdd[] = {13, 11, 7, 5, 3};

// The radices of n, the best for a first pass in front; empty if a prime factor is too large.
std::vector<int> radices_of(Index n) {
  std::vector<int> found;
  int twos = 0;
  for (; n % 2 == 0; n /= 2) ++twos;
  while (twos >= 3 && twos != 4) found.push_back(8), twos -= 3;
  for (; twos >= 2; twos -= 2) found.push_back(4);
  for (const int p : kOdd)
    for (; n % p == 0; n /= p) found.push_back(p);
  if (twos) found.push_back(2);
  return n == 1 ? found : std::vector<int>();
}
bool is_smooth(Index n) { return n == 1 || !radices_of(n).empty(); }

template <class T>
void put(std::vector<T>& table, Index at, Index apart, Root r) {
  table[std::size_t(at)] = T(r.re);
  table[std::size_t(at + apart)] = T(r.im);
}

// Zeros, made in pieces: new memory for a length of millions takes seconds.
template <class T>
std::vector<T> table_of(Index n) {
  std::vector<T> made;
  made.reserve(std::size_t(n));
  serial_for(n, [&](Index, Index end) { made.resize(std::size_t(end)); });
  return made;
}

template <class T>
void plan_passes(Plan<T>& plan) {
  Index left = plan.n, roots = 0;
  for (const int radix : radices_of(plan.n)) {
    left /= radix;
    plan.passes.push_back({radix, left, roots});
    roots += 2 * (radix - 1) * left;
  }
  plan.roots = table_of<T>(roots);
  for (const Pass& p : plan.passes)
    for (int k = 1; k < p.radix; ++k)
      serial_for(p.m, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i)
          put(plan.roots, p.roots + 2 * (k - 1) * p.m + i, p.m, root(i * k, p.m * p.radix));
      });
}

template <class T>
void plan_long(Plan<T>& plan) {
  auto first = Index(std::sqrt(double(plan.n)));
  while (plan.n % first) --first;
  const auto part = [](Index n) {
    auto made = std::make_shared<Plan<T>>();
    made->n = n;
    plan_passes(*made);
    return made;
  };
  plan.columns = part(first);
  plan.rows = part(plan.n / first);
  const Index rows = plan.columns->n, columns = plan.rows->n;
  const Index groups = (columns + kGroup - 1) / kGroup;
  plan.groups = table_of<T>(2 * groups * rows);
  serial_for(groups * rows, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index group = i / rows, row = i % rows;
      put(plan.groups, 2 * i, 1, root(group * kGroup * row % plan.n, plan.n));
    }
  });
  plan.inside = table_of<T>(2 * rows * kGroup);
  serial_for(rows * kGroup, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index row = i / kGroup, column = i % kGroup;
      put(plan.inside, 2 * row * kGroup + column, kGroup, root(row * column % plan.n, plan.n));
    }
  });
}

// The least length of at least n that is fast: few factors other than 2.
Index fast_length(Index n) {
  Index best = 1;
  while (best < n) best *= 2;
  for (const Index odd : {3, 5, 9, 15}) {
    Index length = odd * 16;
    while (length < n) length *= 2;
    best = std::min(best, length);
  }
  return best;
}

template <class T>
void plan_chirp(Plan<T>& plan) {
  const Index n = plan.n, length = fast_length(2 * n - 1);
  plan.inner = plan_of<T>(length);
  plan.capacity = plan.inner->capacity;
  plan.chirp = table_of<T>(2 * n);
  std::vector<T> x = table_of<T>(2 * length), other = table_of<T>(2 * length);
  Index square = 0;  // j^2 modulo 2 n
  serial_for(n, [&](Index begin, Index end) {
    for (Index j = begin; j < end; ++j) {
      const Root r = root(square, 2 * n);
      put(plan.chirp, j, n, r);
      const Root back = {r.re / double(length), -r.im / double(length)};
      put(x, j, length, back);
      if (j) put(x, length - j, length, back);
      square = (square + 2 * j + 1) % (2 * n);
    }
  });
  const Planes<T> made = transform<T>(*plan.inner, 1, {x.data(), x.data() + length},
                                      {other.data(), other.data() + length});
  plan.response = made.re == x.data() ? std::move(x) : std::move(other);
}

template <class T>
std::shared_ptr<const Plan<T>> new_plan(Index n) {
  auto plan = std::make_shared<Plan<T>>();
  plan->n = plan->capacity = n;
  if (!is_smooth(n))
    plan_chirp(*plan);
  else if (n >= kLong)
    plan_long(*plan);
  else
    plan_passes(*plan);
  return plan;
}

}  // namespace

template <class T>
std::size_t Plan<T>::bytes() const {
  return (roots.size() + groups.size() + inside.size() + chirp.size() + response.size()) *
             sizeof(T) +
         passes.size() * sizeof(Pass) + sizeof *this + (columns ? columns->bytes() : 0) +
         (rows ? rows->bytes() : 0);
}

template <class T>
std::shared_ptr<const Plan<T>> plan_of(Index n) {
  static auto& kept = *new Kept<Plan<T>>;
  return kept.get(n, new_plan<T>, [](const Plan<T>& plan) { return plan.bytes(); });
}

template <class T>
std::shared_ptr<const std::vector<T>> half_circle(Index n) {
  static auto& kept = *new Kept<std::vector<T>>;
  const auto compute = [](Index n) {
    auto made = std::make_shared<std::vector<T>>(table_of<T>(2 * (n / 2 + 1)));
    serial_for(n / 2 + 1, [&](Index begin, Index end) {
      for (Index k = begin; k < end; ++k) put(*made, k, n / 2 + 1, root(k, n));
    });
    return made;
  };
  return kept.get(n, compute, [](const std::vector<T>& roots) { return roots.size() * sizeof(T); });
}

template std::shared_ptr<const Plan<float>> plan_of<float>(Index);
template std::shared_ptr<const Plan<double>> plan_of<double>(Index);
template std::shared_ptr<const std::vector<float>> half_circle<float>(Index);
template std::shared_ptr<const std::vector<double>> half_circle<double>(Index);

}  // namespace rushlight::fft
