// Matrix products by cuBLASLt. Its matrices are stored by columns: our rows are its columns, so it
// computes the transposed result, out^T = right^T left^T, which moves nothing: its a is our
// right operand. What a search has chosen for a shape is kept, for kPlans shapes of each device.
#include <mutex>
#include <optional>

#include "cublaslt_plan.h"
#include "kernels/cuda/families.h"
#include "kernels/cuda/runtime/devices.h"
#include "plans.h"
#include "products.h"

namespace rushlight::gpu {
namespace {

using namespace cublaslt;

// A batch of matrices as cuBLASLt can read it: lines of dense elements, `step` from one to the
// next.
struct Operand {
  void* data;
  Index step, batch_step;
  bool transposed;  // the lines are our columns, not our rows
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
View transposed(View v) {
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

struct PerDevice {
  std::mutex mutex;
  cublasLtHandle_t handle = nullptr;
  bool is_served = false;
  Plans<Problem, Plan> plans;
};

void forget(const Functions& f, PerDevice& here) {
  for (auto& [problem, plan] : here.plans) destroy(f, plan);
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
                         double beta, const View* bias) {
  const Functions* f = functions<Functions>();
  if (!f || !fits_int(left) || !fits_int(right)) return false;
  const auto to = operand_of(out);
  if (!to) return false;
  if (to->transposed)  // its transposed product has the lines where they are wanted
    return !bias &&
           multiply_by_library(transposed(right), transposed(left), transposed(out), alpha, beta);
  if (bias && bias->numel > 1 && bias->strides[0] != 1) return false;
  PerDevice& here = per_device<PerDevice>(current().device);
  const std::lock_guard lock(here.mutex);
  if (!prepare(*f, here)) return false;
  const Readable l(left), r(right);
  const Problem problem = {
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
      .left_transposed = l.operand.transposed,
      .right_transposed = r.operand.transposed,
      .dtype = Index(out.dtype),
      .tf32 = out.dtype == DType::float32 && switches().tf32_products,
      .has_bias = bias != nullptr,
      .left_alignment = alignment_of(l.operand.data),
      .right_alignment = alignment_of(r.operand.data),
      .out_alignment = alignment_of(out.data),
      .bias_alignment = bias ? alignment_of(bias->data) : 0,
  };
  const auto key = key_of(problem);
  auto found = here.plans.find(key);
  if (found == here.plans.end()) {
    if (here.plans.size() >= kPlans) forget(*f, here);
    found = here.plans.emplace(key, make_plan(*f, here.handle, problem, bias)).first;
  }
  const Plan& plan = found->second;
  if (!plan.exists) return false;
  set_bias(*f, plan.product, bias);
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
