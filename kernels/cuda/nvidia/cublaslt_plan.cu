// The descriptors of a product. cuBLASLt's matrices are stored by columns: our rows are its
// columns, so its a is our right operand, and d the transposed result.
#include "cublaslt_plan.h"

namespace rushlight::gpu::cublaslt {
namespace {

constexpr std::uint64_t kWorkspace = 32 << 20;  // what Hopper's kernels are written for

Element element_of(DType d) {
  return d == DType::float64    ? Element::float64
         : d == DType::float16  ? Element::float16
         : d == DType::bfloat16 ? Element::bfloat16
                                : Element::float32;
}

// A matrix whose lines are its columns.
Layout make_layout(const Functions& f, const Facts& facts, Index length, Index lines, Index step,
                   Index batch_step) {
  Layout layout;
  check(f,
        f.create_layout(&layout, element_of(DType(facts.dtype)), std::uint64_t(length),
                        std::uint64_t(lines), step),
        "cublasLtMatrixLayoutCreate");
  if (facts.batch > 1) {
    const int batch = int(facts.batch);
    check(f, f.set_layout(layout, OfLayout::batch, &batch, sizeof batch), "batch");
    check(f, f.set_layout(layout, OfLayout::batch_step, &batch_step, 8), "batch offset");
  }
  return layout;
}

Search make_search(const Functions& f, const Facts& facts) {
  Search search;
  check(f, f.create_search(&search), "cublasLtMatmulPreferenceCreate");
  const auto set = [&](OfSearch what, auto value) {
    check(f, f.set_search(search, what, &value, sizeof value),
          "cublasLtMatmulPreferenceSetAttribute");
  };
  set(OfSearch::workspace, kWorkspace);
  if (is_reduced(DType(facts.dtype))) set(OfSearch::reductions, unsigned(kFloatSums));
  set(OfSearch::alignment_a, unsigned(facts.right_alignment));
  set(OfSearch::alignment_b, unsigned(facts.left_alignment));
  set(OfSearch::alignment_c, unsigned(facts.out_alignment));
  set(OfSearch::alignment_d, unsigned(facts.out_alignment));
  return search;
}

}  // namespace

const LibraryKind& Functions::kind() {
  static constexpr LibraryKind kind = {
      .title = "cuBLASLt",
      .name = "cublasLt",
      .soname = "libcublasLt.so.13",
      .variable = "RUSHLIGHT_CUBLASLT_LIBRARY",
      .package = "nvidia-cublas",
      .needs = {},
      .floor = 130000,
      .version = [](void* f) { return int(reinterpret_cast<std::size_t (*)()>(f)()); },
      .names = names,
      .count = sizeof names / sizeof names[0],
  };
  return kind;
}

void check(const Functions& f, Status status, const char* call) {
  if (status != kSuccess) fail_call(Functions::kind(), "CUDA", f.status_name(status), call);
}

unsigned epilogue_of(const More& more) {
  const bool relu = more.activation == Activation::relu, gelu = more.activation == Activation::gelu;
  unsigned mask = more.kept ? unsigned(kWithKept) : 0;
  switch (more.besides) {
    case Besides::nothing: return kNothing;
    case Besides::row_sums: return kSumsOfB;
    case Besides::bias:
      if (relu) mask |= kRelu;
      if (gelu) mask |= kGelu;
      return mask | kBias;
    case Besides::slope: return mask | unsigned(relu ? kReluSlope : kGeluSlope);
  }
  return kNothing;
}

void set_operands(const Functions& f, Product product, const More& more) {
  const auto set = [&](OfProduct what, const void* at) {
    check(f, f.set_product(product, what, &at, sizeof at), "cublasLtMatmulDescSetAttribute");
  };
  if (more.vector) set(OfProduct::vector, more.vector->data);
  if (more.kept) set(OfProduct::kept, more.kept->data);
}

Plan make_plan(const Functions& f, Handle handle, const Facts& facts, const More& more) {
  Plan p;
  const bool wide = DType(facts.dtype) == DType::float64;
  check(f,
        f.create_product(&p.product,
                         wide         ? Compute::float64
                         : facts.tf32 ? Compute::tf32
                                      : Compute::float32,
                         wide ? Element::float64 : Element::float32),
        "cublasLtMatmulDescCreate");
  const auto set = [&](OfProduct what, auto value) {
    check(f, f.set_product(p.product, what, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute");
  };
  set(OfProduct::turn_a, int(facts.right_turned));
  set(OfProduct::turn_b, int(facts.left_turned));
  set(OfProduct::epilogue, unsigned(facts.epilogue));
  if (more.kept) set(OfProduct::kept_step, std::int64_t(facts.kept_step));
  set_operands(f, p.product, more);
  const Index m = facts.rows, n = facts.columns, k = facts.depth;
  p.a = make_layout(f, facts, facts.right_turned ? k : n, facts.right_turned ? n : k,
                    facts.right_step, facts.right_batch);
  p.b = make_layout(f, facts, facts.left_turned ? m : k, facts.left_turned ? k : m, facts.left_step,
                    facts.left_batch);
  p.d = make_layout(f, facts, n, m, facts.out_step, facts.out_batch);
  const Search search = make_search(f, facts);
  int found = 0;
  const Status status =
      f.search(handle, p.product, p.a, p.b, p.d, p.d, search, 1, &p.answer, &found);
  f.destroy_search(search);
  // It has no epilogues for some types, and may call that a wrong value.
  if (status != kNotSupported && !(facts.epilogue != kNothing && status == kInvalidValue))
    check(f, status, "cublasLtMatmulAlgoGetHeuristic");
  p.exists = status == kSuccess && found > 0 && p.answer.status == kSuccess;
  return p;
}

void destroy(const Functions& f, const Plan& plan) {
  f.destroy_product(plan.product);
  for (const Layout layout : {plan.a, plan.b, plan.d}) f.destroy_layout(layout);
}

}  // namespace rushlight::gpu::cublaslt
