// Matrix products by cuBLASLt. Its matrices are stored by columns: our rows are its columns, so it
// is asked for the transposed result, out^T = right^T left^T, which moves nothing: its a is our
// right operand. What a search has chosen for a shape is kept, for kPlans shapes of each device.
#include <mutex>
#include <optional>

#include "cublaslt.h"
#include "devices.h"
#include "families.h"
#include "plans.h"
#include "products.h"

namespace rushlight::gpu {
namespace cublaslt {

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

}  // namespace cublaslt

namespace {

using namespace cublaslt;

constexpr std::uint64_t kWorkspace = 32 << 20;  // what Hopper's kernels are written for

void check(const Functions& f, Status status, const char* call) {
  if (status != kSuccess) fail_call(Functions::kind(), "CUDA", f.status_name(status), call);
}

// A batch of matrices as cuBLASLt can read it: lines of dense elements, `step` from one to the
// next.
struct Operand {
  void* data;
  Index step, batch_step;
  bool turned;  // the lines are our columns, not our rows
};
bool has_lines(Index lines, Index length, Index step, Index inner) {
  return (length == 1 || inner == 1) && (lines == 1 || step >= length);
}
std::optional<Operand> operand_of(const View& v) {
  const Index rows = v.sizes[1], columns = v.sizes[2], batch = v.sizes[0] == 1 ? 0 : v.strides[0];
  if (has_lines(rows, columns, v.strides[1], v.strides[2]))
    return Operand{v.data, rows == 1 ? columns : v.strides[1], batch, false};
  if (has_lines(columns, rows, v.strides[2], v.strides[1]))
    return Operand{v.data, columns == 1 ? rows : v.strides[2], batch, true};
  return std::nullopt;
}

// The same memory with rows and columns exchanged.
View turned(View v) {
  std::swap(v.sizes[1], v.sizes[2]);
  std::swap(v.strides[1], v.strides[2]);
  return v;
}

// An operand, copied first where it has no lines; a batch that repeats one matrix stays one.
class Readable {
 public:
  explicit Readable(View v) {
    if (const auto direct = operand_of(v)) {
      operand = *direct;
      return;
    }
    const Index batch = v.strides[0] == 0 ? 1 : v.sizes[0];
    v.numel = v.numel / v.sizes[0] * batch;
    v.sizes[0] = batch;
    copy_.emplace(v.numel * Index(item_size(v.dtype)), "matmul");
    operand = {copy_->data(), v.sizes[2], batch == 1 ? 0 : v.sizes[1] * v.sizes[2], false};
    View to = v;
    to.data = operand.data;
    to.strides[2] = 1;
    to.strides[1] = v.sizes[2];
    to.strides[0] = v.sizes[1] * v.sizes[2];
    copy_kernels.copy(to, v);
  }
  Operand operand;

 private:
  std::optional<Scratch<char>> copy_;
};

Index alignment_of(const void* p) {
  const auto bits = Index(reinterpret_cast<std::uintptr_t>(p) | 256);
  return bits & -bits;
}

// All that a plan depends on, as numbers of one size.
struct Facts {
  Index rows, columns, depth, batch;
  Index left_step, right_step, out_step, left_batch, right_batch, out_batch;
  Index left_turned, right_turned, dtype, tf32, besides;
  Index left_alignment, right_alignment, out_alignment, vector_alignment;
};

struct Plan {
  Product product = nullptr;
  Layout a = nullptr, b = nullptr, d = nullptr;
  Answer answer = {};
  bool exists = false;  // else cuBLASLt has nothing for it
};

struct PerDevice {
  std::mutex mutex;
  Handle handle = nullptr;
  bool is_served = false;
  Plans<Facts, Plan> plans;
};

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

Plan make_plan(const Functions& f, Handle handle, const Facts& facts, const void* vector) {
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
  if (vector) {
    const bool adds = Besides(facts.besides) == Besides::bias;
    set(OfProduct::epilogue, adds ? Epilogue::bias : Epilogue::sums_of_b);
    set(OfProduct::vector, vector);
  }
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
  if (status != kNotSupported && !(vector && status == kInvalidValue))
    check(f, status, "cublasLtMatmulAlgoGetHeuristic");
  p.exists = status == kSuccess && found > 0 && p.answer.status == kSuccess;
  return p;
}

void forget(const Functions& f, PerDevice& here) {
  for (auto& [facts, plan] : here.plans) {
    f.destroy_product(plan.product);
    for (const Layout layout : {plan.a, plan.b, plan.d}) f.destroy_layout(layout);
  }
  here.plans.clear();
}

bool fits_int(const View& v) {
  for (int d = 0; d < 3; ++d)
    if (v.sizes[d] > 0x7fffffff) return false;
  return true;
}

// The device's handle; false where the library is too old for the device.
bool prepare(const Functions& f, PerDevice& here) {
  if (here.handle) return here.is_served;
  check(f, f.create(&here.handle), "cublasLtCreate");
  cudaDeviceProp p;
  gpu::check(cudaGetDeviceProperties(&p, current().device), "matmul");
  here.is_served = p.major < 10 || f.version() >= 130200;
  return here.is_served;
}

}  // namespace

bool multiply_by_library(const View& left, const View& right, const View& out, double alpha,
                         double beta, Besides besides, const View* vector) {
  const Functions* f = functions<Functions>();
  if (!f || !fits_int(left) || !fits_int(right)) return false;
  const auto to = operand_of(out);
  if (!to) return false;
  if (to->turned)  // its transposed product has the lines where they are wanted
    return !vector && multiply_by_library(turned(right), turned(left), turned(out), alpha, beta,
                                          besides, nullptr);
  if (vector && vector->numel > 1 && vector->strides[0] != 1) return false;
  PerDevice& here = per_device<PerDevice>(current().device);
  const std::lock_guard lock(here.mutex);
  if (!prepare(*f, here)) return false;
  const Readable l(left), r(right);
  const Facts facts = {
      .rows = out.sizes[1],
      .columns = out.sizes[2],
      .depth = left.sizes[2],
      .batch = out.sizes[0],
      .left_step = l.operand.step,
      .right_step = r.operand.step,
      .out_step = to->step,
      .left_batch = l.operand.batch_step,
      .right_batch = r.operand.batch_step,
      .out_batch = to->batch_step,
      .left_turned = l.operand.turned,
      .right_turned = r.operand.turned,
      .dtype = Index(out.dtype),
      .tf32 = out.dtype == DType::float32 && switches().tf32_products,
      .besides = Index(besides),
      .left_alignment = alignment_of(l.operand.data),
      .right_alignment = alignment_of(r.operand.data),
      .out_alignment = alignment_of(out.data),
      .vector_alignment = vector ? alignment_of(vector->data) : 0,
  };
  const auto key = numbers_of(facts);
  auto found = here.plans.find(key);
  if (found == here.plans.end()) {
    if (here.plans.size() >= kPlans) forget(*f, here);
    const void* at = vector ? vector->data : nullptr;
    found = here.plans.emplace(key, make_plan(*f, here.handle, facts, at)).first;
  }
  const Plan& plan = found->second;
  if (!plan.exists) return false;
  if (vector)
    check(*f, f->set_product(plan.product, OfProduct::vector, &vector->data, sizeof vector->data),
          "cublasLtMatmulDescSetAttribute");
  const Scratch<char> workspace(Index(plan.answer.workspace), "matmul");
  const float narrow[] = {float(alpha), float(beta)};
  const double wide[] = {alpha, beta};
  const bool is_wide = out.dtype == DType::float64;
  const auto scale = [&](int i) -> const void* {
    return is_wide ? static_cast<const void*>(wide + i) : narrow + i;
  };
  check(*f,
        f->multiply(here.handle, plan.product, scale(0), r.operand.data, plan.a, l.operand.data,
                    plan.b, scale(1), out.data, plan.d, out.data, plan.d, &plan.answer.algorithm,
                    workspace.data(), plan.answer.workspace, current().stream),
        "cublasLtMatmul");
  finish_launch(cudaSuccess, "matmul");
  return true;
}

}  // namespace rushlight::gpu
