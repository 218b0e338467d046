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
struct cublasLtContext {};
struct cublasLtMatmulDescOpaque_t {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  int transposes_a = 0, transposes_b = 0;
  unsigned epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void* bias = nullptr;
};
struct cublasLtMatrixLayoutOpaque_t {
  cudaDataType_t type;
  std::uint64_t rows, columns;
  std::int64_t step;
  int batch = 1;
  std::int64_t batch_step = 0;
};
struct cublasLtMatmulPreferenceOpaque_t {
  std::uint64_t workspace = 0;
  unsigned reductions = 7;
  unsigned alignments[4] = {256, 256, 256, 256};
};
}  // namespace rushlight::gpu::cublaslt

namespace {

constexpr std::size_t kNeeded = 1000;  // bytes of workspace that every product needs
std::atomic<int> products{0}, refused{0}, biased{0}, computed_in{0};
std::atomic<bool> refuses{false};

std::size_t bytes_of(cudaDataType_t t) { return t == CUDA_R_64F ? 8 : t == CUDA_R_32F ? 4 : 2; }

// Writes `value` to `to` where the caller's size is its own.
template <class T>
cublasStatus_t set(T& to, const void* value, std::size_t bytes) {
  if (bytes != sizeof(T)) {
    wrong("an attribute of %zu bytes was given as %zu", sizeof(T), bytes);
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  std::memcpy(&to, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

double value_at(const void* p, cudaDataType_t t, std::int64_t i) {
  switch (t) {
    case CUDA_R_64F: return static_cast<const double*>(p)[i];
    case CUDA_R_16F: return double(rushlight::load(static_cast<const float16*>(p) + i));
    case CUDA_R_16BF: return double(rushlight::load(static_cast<const bfloat16*>(p) + i));
    default: return double(static_cast<const float*>(p)[i]);
  }
}
void put(void* p, cudaDataType_t t, std::int64_t i, double v) {
  switch (t) {
    case CUDA_R_64F: static_cast<double*>(p)[i] = v; break;
    case CUDA_R_16F: rushlight::store(static_cast<float16*>(p) + i, float(v)); break;
    case CUDA_R_16BF: rushlight::store(static_cast<bfloat16*>(p) + i, float(v)); break;
    default: static_cast<float*>(p)[i] = float(v);
  }
}

// What a choice depends on, as one number that it carries.
std::uint64_t identity(const cublasLtMatmulDescOpaque_t& p,
                       std::initializer_list<cublasLtMatrixLayout_t> layouts) {
  std::uint64_t h = std::uint64_t(p.compute) * 31 +
                    std::uint64_t(p.transposes_a * 2 + p.transposes_b) * 7 +
                    std::uint64_t(p.epilogue);
  for (const cublasLtMatrixLayout_t l : layouts)
    for (const std::uint64_t fact :
         {std::uint64_t(l->type), l->rows, l->columns, std::uint64_t(l->step),
          std::uint64_t(l->batch), std::uint64_t(l->batch_step)})
      h = (h ^ fact) * 1099511628211ull;
  return h;
}

bool layout_is_sound(const char* what, const cublasLtMatrixLayoutOpaque_t& l, cudaDataType_t type) {
  if (l.type != type) return wrong("%s is of another type than the result", what);
  if (l.rows == 0 || l.columns == 0) return wrong("%s is empty", what);
  if (l.step < std::int64_t(l.rows))
    return wrong("%s: a step of %lld in columns of %llu", what, static_cast<long long>(l.step),
                 static_cast<unsigned long long>(l.rows));
  return l.batch > 0 || wrong("%s has no batch", what);
}

bool shapes_fit(const cublasLtMatmulDescOpaque_t& p, const cublasLtMatrixLayoutOpaque_t& a,
                const cublasLtMatrixLayoutOpaque_t& b, const cublasLtMatrixLayoutOpaque_t& c,
                const cublasLtMatrixLayoutOpaque_t& d) {
  const bool wide = d.type == CUDA_R_64F;
  const bool narrow = p.scale == CUDA_R_32F &&
                      (p.compute == CUBLAS_COMPUTE_32F ||
                       (p.compute == CUBLAS_COMPUTE_32F_FAST_TF32 && d.type == CUDA_R_32F));
  if (wide ? p.compute != CUBLAS_COMPUTE_64F || p.scale != CUDA_R_64F : !narrow)
    return wrong("it cannot compute in these types");
  if (!layout_is_sound("a", a, d.type) || !layout_is_sound("b", b, d.type) ||
      !layout_is_sound("c", c, d.type) || !layout_is_sound("d", d, d.type))
    return false;
  const auto m = p.transposes_a ? a.columns : a.rows, k = p.transposes_a ? a.rows : a.columns;
  const auto n = p.transposes_b ? b.rows : b.columns, depth = p.transposes_b ? b.columns : b.rows;
  if (m != d.rows || n != d.columns || k != depth || c.rows != d.rows || c.columns != d.columns)
    return wrong("%llu x %llu times %llu x %llu is not %llu x %llu", (unsigned long long)m,
                 (unsigned long long)k, (unsigned long long)depth, (unsigned long long)n,
                 (unsigned long long)d.rows, (unsigned long long)d.columns);
  if (a.batch != d.batch || b.batch != d.batch || c.batch != d.batch)
    return wrong("batches of %d, %d, %d and %d", a.batch, b.batch, c.batch, d.batch);
  const auto whole = std::int64_t(d.step) * std::int64_t(d.columns - 1) + std::int64_t(d.rows);
  return d.batch == 1 || d.batch_step >= whole || wrong("matrices of the result overlap");
}

bool lies_inside(const char* what, const void* p, const cublasLtMatrixLayoutOpaque_t& l) {
  const auto last = std::uint64_t(l.batch - 1) * std::uint64_t(l.batch_step) +
                    (l.columns - 1) * std::uint64_t(l.step) + l.rows;
  return holds(what, p, last * bytes_of(l.type));
}

// d = by * a * b + more * c, and what the epilogue says.
void compute(const cublasLtMatmulDescOpaque_t& p, double by, const void* a,
             const cublasLtMatrixLayoutOpaque_t& al, const void* b,
             const cublasLtMatrixLayoutOpaque_t& bl, double more, const void* c,
             const cublasLtMatrixLayoutOpaque_t& cl, void* d,
             const cublasLtMatrixLayoutOpaque_t& dl) {
  const auto depth = std::int64_t(p.transposes_a ? al.rows : al.columns);
  for (std::int64_t i = 0; i < dl.batch; ++i)
    for (std::int64_t y = 0; y < std::int64_t(dl.columns); ++y)
      for (std::int64_t x = 0; x < std::int64_t(dl.rows); ++x) {
        double sum = 0;
        for (std::int64_t k = 0; k < depth; ++k) {
          const auto at = i * al.batch_step + (p.transposes_a ? x * al.step + k : k * al.step + x);
          const auto bt = i * bl.batch_step + (p.transposes_b ? k * bl.step + y : y * bl.step + k);
          sum += value_at(a, dl.type, at) * value_at(b, dl.type, bt);
        }
        const auto to = i * dl.batch_step + y * dl.step + x;
        double v = by * sum;
        if (more != 0) v += more * value_at(c, dl.type, i * cl.batch_step + y * cl.step + x);
        if (p.epilogue == CUBLASLT_EPILOGUE_BIAS) v += value_at(p.bias, dl.type, x);
        put(d, dl.type, to, v);
      }
}

}  // namespace

extern "C" {

// For tests: how many products there were, how many shapes it had nothing for, how many products
// had a bias, and what the last one was computed in.
int emulated_products() { return products; }
int emulated_refused() { return refused; }
int emulated_biased() { return biased; }
int emulated_compute() { return computed_in; }
void emulated_refuse(int yes) { refuses = yes != 0; }

std::size_t cublasLtGetVersion() {
  const char* text = std::getenv("RUSHLIGHT_EMULATED_LIBRARY_VERSION");
  return text ? std::size_t(std::atoll(text)) : 130200;
}
const char* cublasLtGetStatusName(cublasStatus_t s) {
  return s == CUBLAS_STATUS_INVALID_VALUE ? "CUBLAS_STATUS_INVALID_VALUE"
                                          : "CUBLAS_STATUS_NOT_SUPPORTED";
}
cublasStatus_t cublasLtCreate(cublasLtHandle_t* h) {
  *h = new cublasLtContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* p, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  *p = new cublasLtMatmulDescOpaque_t{compute, scale};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t p) {
  delete p;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t p,
                                              cublasLtMatmulDescAttributes_t what, const void* v,
                                              std::size_t bytes) {
  switch (what) {
    case CUBLASLT_MATMUL_DESC_TRANSA: return set(p->transposes_a, v, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB: return set(p->transposes_b, v, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return set(p->epilogue, v, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return set(p->bias, v, bytes);
  }
  wrong("there is no attribute %d of a product", int(what));
  return CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* l, cudaDataType_t type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t step) {
  *l = new cublasLtMatrixLayoutOpaque_t{type, rows, columns, step};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t l) {
  delete l;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t l,
                                                cublasLtMatrixLayoutAttribute_t what, const void* v,
                                                std::size_t bytes) {
  switch (what) {
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return set(l->batch, v, bytes);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return set(l->batch_step, v, bytes);
  }
  wrong("there is no attribute %d of a layout", int(what));
  return CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* s) {
  *s = new cublasLtMatmulPreferenceOpaque_t;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t s) {
  delete s;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t s,
                                                    cublasLtMatmulPreferenceAttributes_t what,
                                                    const void* v, std::size_t bytes) {
  switch (what) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES: return set(s->workspace, v, bytes);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK: return set(s->reductions, v, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return set(s->alignments[int(what) - int(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES)], v,
                 bytes);
  }
  wrong("there is no attribute %d of a search", int(what));
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t p,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t s, int wanted,
                                              cublasLtMatmulHeuristicResult_t* answers,
                                              int* found) {
  *found = 0;
  if (!handle || wanted < 1 || !shapes_fit(*p, *a, *b, *c, *d)) return CUBLAS_STATUS_INVALID_VALUE;
  if (refuses || s->workspace < kNeeded) {
    ++refused;
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (d->type != CUDA_R_32F && d->type != CUDA_R_64F && s->reductions & ~2u) {
    wrong("sums of 16-bit products may be kept in 16 bits");
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  answers[0] = {};
  answers[0].algorithm.words[0] = identity(*p, {a, b, c, d});
  for (int i = 0; i < 4; ++i) answers[0].algorithm.words[1 + i] = s->alignments[i];
  answers[0].workspace = kNeeded;
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t p, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t al, const void* b,
                              cublasLtMatrixLayout_t bl, const void* beta, const void* c,
                              cublasLtMatrixLayout_t cl, void* d, cublasLtMatrixLayout_t dl,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              std::size_t bytes, cudaStream_t stream) {
  if (!handle || !shapes_fit(*p, *al, *bl, *cl, *dl)) return CUBLAS_STATUS_INVALID_VALUE;
  if (!algorithm || algorithm->words[0] != identity(*p, {al, bl, cl, dl})) {
    wrong("the choice was made for another product");
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const void* operands[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i)
    if (reinterpret_cast<std::uintptr_t>(operands[i]) % algorithm->words[1 + i]) {
      wrong("operand %d is not aligned to %d bytes", i, int(algorithm->words[1 + i]));
      return CUBLAS_STATUS_INVALID_VALUE;
    }
  if (!lies_inside("a", a, *al) || !lies_inside("b", b, *bl) || !lies_inside("d", d, *dl) ||
      bytes < kNeeded || !holds("the workspace", workspace, bytes))
    return CUBLAS_STATUS_INVALID_VALUE;
  const bool has_bias = p->epilogue == CUBLASLT_EPILOGUE_BIAS;
  if (!has_bias && p->epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
    wrong("there is no epilogue %u", p->epilogue);
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (has_bias && !holds("the bias", p->bias, dl->rows * bytes_of(dl->type)))
    return CUBLAS_STATUS_INVALID_VALUE;
  const double by = value_at(alpha, p->scale, 0), more = value_at(beta, p->scale, 0);
  ++products;
  biased += has_bias;
  computed_in = int(p->compute);
  emulated::give(stream, [=, product = *p, al = *al, bl = *bl, cl = *cl, dl = *dl] {
    std::memset(workspace, 0xff, bytes);
    compute(product, by, a, al, b, bl, more, c, cl, d, dl);
  });
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
