// In place of cuBLASLt, for tests: the same functions on the emulator's memory, by plain loops.
// It believes nothing: types, sizes, steps, batches, alignments, the workspace and what each
// attribute is are checked, and that a choice is used for the very product that it was made for.
#include "kernels/cuda/nvidia/cublaslt.h"

#include <atomic>
#include <cmath>
#include <cstring>

#include "kernels/dtype.h"
#include "memory.h"

using rushlight::bfloat16;
using rushlight::float16;
using namespace rushlight::gpu::cublaslt;
using emulated::holds;
using emulated::wrong;

namespace rushlight::gpu::cublaslt {
struct HandleBody {};
struct ProductBody {
  Compute compute;
  Element scale;
  int turn_a = 0, turn_b = 0;
  unsigned epilogue = kNothing;
  void *vector = nullptr, *kept = nullptr;
  std::int64_t kept_step = 0;
};
struct LayoutBody {
  Element type;
  std::uint64_t rows, columns;
  std::int64_t step;
  int batch = 1;
  std::int64_t batch_step = 0;
};
struct SearchBody {
  std::uint64_t workspace = 0;
  unsigned reductions = 7;
  unsigned alignments[4] = {256, 256, 256, 256};
};
}  // namespace rushlight::gpu::cublaslt

namespace {

constexpr std::size_t kNeeded = 1000;  // bytes of workspace that every product asks for
std::atomic<int> products{0}, refused{0}, biased{0}, summed{0}, computed_in{0};
std::atomic<int> activated{0}, sloped{0};
std::atomic<bool> refuses{false};

std::size_t bytes_of(Element t) {
  return t == Element::float64 ? 8 : t == Element::float32 ? 4 : 2;
}

// Writes `value` to `to` where the caller's size is its own.
template <class T>
Status set(T& to, const void* value, std::size_t bytes) {
  if (bytes != sizeof(T)) {
    wrong("an attribute of %zu bytes was given as %zu", sizeof(T), bytes);
    return kInvalidValue;
  }
  std::memcpy(&to, value, bytes);
  return kSuccess;
}

double value_at(const void* p, Element t, std::int64_t i) {
  switch (t) {
    case Element::float64: return static_cast<const double*>(p)[i];
    case Element::float16: return double(rushlight::load(static_cast<const float16*>(p) + i));
    case Element::bfloat16: return double(rushlight::load(static_cast<const bfloat16*>(p) + i));
    default: return double(static_cast<const float*>(p)[i]);
  }
}
void put(void* p, Element t, std::int64_t i, double v) {
  switch (t) {
    case Element::float64: static_cast<double*>(p)[i] = v; break;
    case Element::float16: rushlight::store(static_cast<float16*>(p) + i, float(v)); break;
    case Element::bfloat16: rushlight::store(static_cast<bfloat16*>(p) + i, float(v)); break;
    default: static_cast<float*>(p)[i] = float(v);
  }
}

// What a choice depends on, as one number that it carries.
std::uint64_t identity(const ProductBody& p, std::initializer_list<Layout> layouts) {
  std::uint64_t h = std::uint64_t(p.compute) * 31 + std::uint64_t(p.turn_a * 2 + p.turn_b) * 7 +
                    std::uint64_t(p.epilogue) + std::uint64_t(p.kept_step) * 1000003;
  for (const Layout l : layouts)
    for (const std::uint64_t fact :
         {std::uint64_t(l->type), l->rows, l->columns, std::uint64_t(l->step),
          std::uint64_t(l->batch), std::uint64_t(l->batch_step)})
      h = (h ^ fact) * 1099511628211ull;
  return h;
}

bool layout_is_sound(const char* what, const LayoutBody& l, Element type) {
  if (l.type != type) return wrong("%s is of another type than the result", what);
  if (l.rows == 0 || l.columns == 0) return wrong("%s is empty", what);
  if (l.step < std::int64_t(l.rows))
    return wrong("%s: a step of %lld in columns of %llu", what, static_cast<long long>(l.step),
                 static_cast<unsigned long long>(l.rows));
  return l.batch > 0 || wrong("%s has no batch", what);
}

bool shapes_fit(const ProductBody& p, const LayoutBody& a, const LayoutBody& b, const LayoutBody& c,
                const LayoutBody& d) {
  const bool wide = d.type == Element::float64;
  const bool narrow =
      p.scale == Element::float32 &&
      (p.compute == Compute::float32 || (p.compute == Compute::tf32 && d.type == Element::float32));
  if (wide ? p.compute != Compute::float64 || p.scale != Element::float64 : !narrow)
    return wrong("it cannot compute in these types");
  if (!layout_is_sound("a", a, d.type) || !layout_is_sound("b", b, d.type) ||
      !layout_is_sound("c", c, d.type) || !layout_is_sound("d", d, d.type))
    return false;
  const auto m = p.turn_a ? a.columns : a.rows, k = p.turn_a ? a.rows : a.columns;
  const auto n = p.turn_b ? b.rows : b.columns, depth = p.turn_b ? b.columns : b.rows;
  if (m != d.rows || n != d.columns || k != depth || c.rows != d.rows || c.columns != d.columns)
    return wrong("%llu x %llu times %llu x %llu is not %llu x %llu", (unsigned long long)m,
                 (unsigned long long)k, (unsigned long long)depth, (unsigned long long)n,
                 (unsigned long long)d.rows, (unsigned long long)d.columns);
  if (a.batch != d.batch || b.batch != d.batch || c.batch != d.batch)
    return wrong("batches of %d, %d, %d and %d", a.batch, b.batch, c.batch, d.batch);
  const auto whole = std::int64_t(d.step) * std::int64_t(d.columns - 1) + std::int64_t(d.rows);
  return d.batch == 1 || d.batch_step >= whole || wrong("matrices of the result overlap");
}

bool lies_inside(const char* what, const void* p, const LayoutBody& l) {
  const auto last = std::uint64_t(l.batch - 1) * std::uint64_t(l.batch_step) +
                    (l.columns - 1) * std::uint64_t(l.step) + l.rows;
  return holds(what, p, last * bytes_of(l.type));
}

// What an epilogue asks for.
struct Extras {
  bool bias, sums, relu, gelu, relu_slope, gelu_slope, kept;
  explicit Extras(const ProductBody& p)
      : bias(p.epilogue & kBias),
        sums(p.epilogue & kSumsOfB),
        relu(p.epilogue & kRelu),
        gelu(p.epilogue & kGelu),
        relu_slope(p.epilogue & kReluSlope),
        gelu_slope(p.epilogue & kGeluSlope),
        kept(p.epilogue & kWithKept) {}

  bool is_sound(const LayoutBody& d) const {
    if (relu + gelu + relu_slope + gelu_slope > 1) return wrong("two activations");
    if ((relu_slope || gelu_slope) && (!kept || bias || sums))
      return wrong("a slope goes with what was kept, and nothing else");
    if (kept && !(relu || gelu || relu_slope || gelu_slope)) return wrong("nothing would be kept");
    if ((sums || kept) && d.batch > 1) return wrong("that is for one matrix, not a batch");
    return true;
  }
  double applied(const ProductBody& p, Element type, double v, std::int64_t x,
                 std::int64_t y) const {
    const std::int64_t at = y * p.kept_step + x;
    if (relu || relu_slope) {
      auto* byte = static_cast<unsigned char*>(p.kept) + at / 8;
      const auto bit = static_cast<unsigned char>(1u << at % 8);
      if (relu_slope) return *byte & bit ? v : 0;
      if (kept) *byte = static_cast<unsigned char>(v > 0 ? *byte | bit : *byte & ~bit);
      return v < 0 ? 0 : v;  // NaN stays
    }
    if (gelu) {
      if (kept) put(p.kept, type, at, v);
      return v * (0.5 + 0.5 * std::tanh(inner(v)));
    }
    if (gelu_slope) {
      const double z = value_at(p.kept, type, at), t = std::tanh(inner(z));
      return v * (0.5 + 0.5 * t + 0.5 * z * (1 - t * t) * kGeluScale * (1 + 3 * 0.044715 * z * z));
    }
    return v;
  }

 private:
  static constexpr double kGeluScale = 0.7978845608028654;  // sqrt(2 / pi)
  static double inner(double z) { return kGeluScale * (z + 0.044715 * z * z * z); }
};

// Its place, its step, its alignment, and that its memory is there.
bool kept_is_sound(const ProductBody& p, const Extras& extra, const LayoutBody& d) {
  if (!extra.kept) return true;
  const bool bits = extra.relu || extra.relu_slope;
  const std::int64_t unit = bits ? 128 : 8;
  if (p.kept_step % unit || p.kept_step < std::int64_t(d.rows))
    return wrong("what is kept has a step of %lld", static_cast<long long>(p.kept_step));
  if (reinterpret_cast<std::uintptr_t>(p.kept) % 16)
    return wrong("what is kept is not aligned to 16 bytes");
  const auto elements = std::uint64_t(p.kept_step) * d.columns;
  return holds("what is kept", p.kept, bits ? elements / 8 : elements * bytes_of(d.type));
}

// d = by * a * b + more * c, and what the epilogue says.
void compute(const ProductBody& p, double by, const void* a, const LayoutBody& al, const void* b,
             const LayoutBody& bl, double more, const void* c, const LayoutBody& cl, void* d,
             const LayoutBody& dl) {
  const Extras extra(p);
  const auto depth = std::int64_t(p.turn_a ? al.rows : al.columns);
  for (std::int64_t y = 0; extra.sums && y < std::int64_t(dl.columns); ++y) {
    double sum = 0;
    for (std::int64_t k = 0; k < depth; ++k)
      sum += value_at(b, dl.type, p.turn_b ? k * bl.step + y : y * bl.step + k);
    put(p.vector, dl.type, y, sum);
  }
  for (std::int64_t i = 0; i < dl.batch; ++i)
    for (std::int64_t y = 0; y < std::int64_t(dl.columns); ++y)
      for (std::int64_t x = 0; x < std::int64_t(dl.rows); ++x) {
        double sum = 0;
        for (std::int64_t k = 0; k < depth; ++k) {
          const auto at = i * al.batch_step + (p.turn_a ? x * al.step + k : k * al.step + x);
          const auto bt = i * bl.batch_step + (p.turn_b ? k * bl.step + y : y * bl.step + k);
          sum += value_at(a, dl.type, at) * value_at(b, dl.type, bt);
        }
        const auto to = i * dl.batch_step + y * dl.step + x;
        double v = by * sum;
        if (more != 0) v += more * value_at(c, dl.type, i * cl.batch_step + y * cl.step + x);
        if (extra.bias) v += value_at(p.vector, dl.type, x);
        put(d, dl.type, to, extra.applied(p, dl.type, v, x, y));
      }
}

}  // namespace

extern "C" {

// For tests: how many products there were, how many shapes it had nothing for, how many products
// had a bias, sums of rows, an activation or an activation's slope, and what the last one was
// computed in.
int emulated_products() { return products; }
int emulated_refused() { return refused; }
int emulated_biased() { return biased; }
int emulated_summed() { return summed; }
int emulated_activated() { return activated; }
int emulated_sloped() { return sloped; }
int emulated_compute() { return computed_in; }
void emulated_refuse(int yes) { refuses = yes != 0; }

std::size_t cublasLtGetVersion() {
  const char* text = std::getenv("RUSHLIGHT_EMULATED_LIBRARY_VERSION");
  return text ? std::size_t(std::atoll(text)) : 130200;
}
const char* cublasLtGetStatusName(Status s) {
  return s == kInvalidValue ? "CUBLAS_STATUS_INVALID_VALUE" : "CUBLAS_STATUS_NOT_SUPPORTED";
}
Status cublasLtCreate(Handle* h) {
  *h = new HandleBody;
  return kSuccess;
}
Status cublasLtMatmulDescCreate(Product* p, Compute compute, Element scale) {
  *p = new ProductBody{compute, scale};
  return kSuccess;
}
Status cublasLtMatmulDescDestroy(Product p) {
  delete p;
  return kSuccess;
}
Status cublasLtMatmulDescSetAttribute(Product p, OfProduct what, const void* v, std::size_t bytes) {
  switch (what) {
    case OfProduct::turn_a: return set(p->turn_a, v, bytes);
    case OfProduct::turn_b: return set(p->turn_b, v, bytes);
    case OfProduct::epilogue: return set(p->epilogue, v, bytes);
    case OfProduct::vector: return set(p->vector, v, bytes);
    case OfProduct::kept: return set(p->kept, v, bytes);
    case OfProduct::kept_step: return set(p->kept_step, v, bytes);
  }
  wrong("there is no attribute %d of a product", int(what));
  return kInvalidValue;
}
Status cublasLtMatrixLayoutCreate(Layout* l, Element type, std::uint64_t rows,
                                  std::uint64_t columns, std::int64_t step) {
  *l = new LayoutBody{type, rows, columns, step};
  return kSuccess;
}
Status cublasLtMatrixLayoutDestroy(Layout l) {
  delete l;
  return kSuccess;
}
Status cublasLtMatrixLayoutSetAttribute(Layout l, OfLayout what, const void* v, std::size_t bytes) {
  switch (what) {
    case OfLayout::batch: return set(l->batch, v, bytes);
    case OfLayout::batch_step: return set(l->batch_step, v, bytes);
  }
  wrong("there is no attribute %d of a layout", int(what));
  return kInvalidValue;
}
Status cublasLtMatmulPreferenceCreate(Search* s) {
  *s = new SearchBody;
  return kSuccess;
}
Status cublasLtMatmulPreferenceDestroy(Search s) {
  delete s;
  return kSuccess;
}
Status cublasLtMatmulPreferenceSetAttribute(Search s, OfSearch what, const void* v,
                                            std::size_t bytes) {
  switch (what) {
    case OfSearch::workspace: return set(s->workspace, v, bytes);
    case OfSearch::reductions: return set(s->reductions, v, bytes);
    case OfSearch::alignment_a:
    case OfSearch::alignment_b:
    case OfSearch::alignment_c:
    case OfSearch::alignment_d:
      return set(s->alignments[int(what) - int(OfSearch::alignment_a)], v, bytes);
  }
  wrong("there is no attribute %d of a search", int(what));
  return kInvalidValue;
}

Status cublasLtMatmulAlgoGetHeuristic(Handle handle, Product p, Layout a, Layout b, Layout c,
                                      Layout d, Search s, int wanted, Answer* answers, int* found) {
  *found = 0;
  if (!handle || wanted < 1 || !shapes_fit(*p, *a, *b, *c, *d)) return kInvalidValue;
  if (refuses || s->workspace < kNeeded) {
    ++refused;
    return kNotSupported;
  }
  if (d->type != Element::float32 && d->type != Element::float64 && s->reductions & ~2u) {
    wrong("sums of 16-bit products may be kept in 16 bits");
    return kInvalidValue;
  }
  answers[0] = {};
  answers[0].algorithm.words[0] = identity(*p, {a, b, c, d});
  for (int i = 0; i < 4; ++i) answers[0].algorithm.words[1 + i] = s->alignments[i];
  answers[0].workspace = kNeeded;
  *found = 1;
  return kSuccess;
}

Status cublasLtMatmul(Handle handle, Product p, const void* alpha, const void* a, Layout al,
                      const void* b, Layout bl, const void* beta, const void* c, Layout cl, void* d,
                      Layout dl, const Algorithm* algorithm, void* workspace, std::size_t bytes,
                      cudaStream_t stream) {
  if (!handle || !shapes_fit(*p, *al, *bl, *cl, *dl)) return kInvalidValue;
  if (!algorithm || algorithm->words[0] != identity(*p, {al, bl, cl, dl})) {
    wrong("the choice was made for another product");
    return kInvalidValue;
  }
  const void* operands[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i)
    if (reinterpret_cast<std::uintptr_t>(operands[i]) % algorithm->words[1 + i]) {
      wrong("operand %d is not aligned to %d bytes", i, int(algorithm->words[1 + i]));
      return kInvalidValue;
    }
  if (!lies_inside("a", a, *al) || !lies_inside("b", b, *bl) || !lies_inside("d", d, *dl) ||
      bytes < kNeeded || !holds("the workspace", workspace, bytes))
    return kInvalidValue;
  const Extras extra(*p);
  const bool has_bias = extra.bias, sums = extra.sums;
  if (!extra.is_sound(*dl) || !kept_is_sound(*p, extra, *dl)) return kInvalidValue;
  const std::uint64_t length = has_bias ? dl->rows : sums ? dl->columns : 0;
  if (!holds("the epilogue's vector", p->vector, length * bytes_of(dl->type))) return kInvalidValue;
  const double by = value_at(alpha, p->scale, 0), more = value_at(beta, p->scale, 0);
  ++products;
  biased += has_bias;
  summed += sums;
  activated += extra.relu || extra.gelu;
  sloped += extra.relu_slope || extra.gelu_slope;
  computed_in = int(p->compute);
  emulated::give(stream, [=, product = *p, al = *al, bl = *bl, cl = *cl, dl = *dl] {
    std::memset(workspace, 0xff, bytes);
    compute(product, by, a, al, b, bl, more, c, cl, d, dl);
  });
  return kSuccess;
}

}  // extern "C"
