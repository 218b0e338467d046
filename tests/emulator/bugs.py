"""Puts bugs into a copy of the kernels, one at a time, and says whether the emulated suite fails.

python -m tests.emulator.bugs [WORDS in file names]     (needs cmake, ninja, and a built core)
"""

import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
COPY = ROOT / "build" / "bugs"
BUILDS = COPY / "build"  # as deep as any build, so that ccache knows its objects
OWN = {"matmul", "conv"}  # kernels that serve only where a library of NVIDIA's is absent
# What is wrong, file, the right text, the wrong text, tests.
BUGS = [
    ("no barrier before the totals of warps are read", "block_scan.h",
     "shared[warp] = v;\n  __syncthreads();\n", "shared[warp] = v;\n", "ops/test_scan.py"),
    ("no barrier before the carry is read", "block_scan.h",
     "shared[lane] = total;\n  }\n  __syncthreads();\n", "shared[lane] = total;\n  }\n",
     "ops/test_scan.py ops/test_long_lines.py"),
    ("a part begins without those before it", "scan",
     "part > 0 ? totals[job - 1] : nothing", "nothing", "ops/test_long_lines.py"),
    ("the last element is left out", "reduce/kernels.h",
     "r < job.reduced.numel;", "r + 1 < job.reduced.numel;", "ops/test_reduce.py"),
    ("half of the block is not joined", "reduce/kernels.h",
     "int half = high / 2; half > 0;", "int half = high / 2; half > 1;", "ops/test_reduce.py"),
    ("a padded row is read as if it were not", "copy",
     "tile[x * (kCopyTile + 1) + k]", "tile[x * kCopyTile + k]",
     "ops/test_sort.py ops/test_pointwise.py"),
    ("a 16-bit float is taken for the other kind", "pointwise/kernels.h",
     "four.of[e] = d == DType::bfloat16 ? load(&b) : load(&h);",
     "four.of[e] = d != DType::bfloat16 ? load(&b) : load(&h);",
     "ops/test_pointwise.py"),
    ("four elements are written where fewer are left", "pointwise/kernels.h",
     "if (e < count) Writer<float>(data, d)", "if (count > 0) Writer<float>(data, d)",
     "ops/test_pointwise.py"),
    ("rows of another plane", "pointwise/kernels.h",
     "y * items.strides[k][1]", "(row + 0 * y) * items.strides[k][1]", "ops/test_broadcast.py"),
    ("tiles are used before they are whole", "matmul",
     "      __syncthreads();\n      for (int k = 0; k < kDepth", "      for (int k = 0; k < kDepth",
     "ops/test_matmul.py"),
    ("the tail of the depth is not zero", "matmul",
     "row + r < m.rows && k0 + k < m.depth;", "row + r < m.rows;", "ops/test_matmul.py"),
    ("a step that is right for dense operands alone", "cublaslt",
     "rows == 1 ? columns : v.strides[1]", "columns", "ops/test_matmul.py"),
    ("an operand is not said to be transposed", "cublaslt_plan",
     "set(CUBLASLT_MATMUL_DESC_TRANSB, int(problem.left_transposed));", "", "ops/test_matmul.py"),
    ("more alignment than there is", "cublaslt",
     "return bits & -bits;", "return 256 + 0 * bits;", "ops/test_matmul.py"),
    ("all matrices of a batch are the first", "cublaslt_plan",
     "const int batch = int(problem.batch);",
     "const int batch = int(problem.batch);\n    batch_step = 0;", "ops/test_matmul.py"),
    ("a plan remembers where its first bias lay", "cublaslt",
     "  set_bias(*f, plan.product, bias);\n", "", "devices/test_libraries.py"),
    ("rows of another column", "softmax",
     "row / s.inner * s.dim * s.inner + row % s.inner", "row / s.inner * s.dim * s.inner + row",
     "ops/test_loss.py"),
    ("a channel of another group", "conv",
     "(to * channels + c % channels)", "(to * channels + c)", "ops/test_conv.py"),
    ("one window, and the stride of another shape", "cudnn",
     "s.result[d] == 1 && room >= s.stride[d] ? room + 1 : s.stride[d]", "s.stride[d]",
     "devices/test_cudnn.py"),
    ("operands in the wrong order", "cudnn",
     "{p.weight, p.result, p.input}, {b.data, a.data}",
     "{p.weight, p.result, p.input}, {a.data, b.data}", "devices/test_cudnn.py"),
    ("an algorithm that differs from run to run", "cudnn",
     "(!problem.repeatable || answers[i].is_deterministic)",
     "(problem.repeatable || answers[i].is_deterministic || true)", "devices/test_cudnn.py"),
    ("groups are forgotten", "cudnn",
     "f.set_groups(p.convolution, int(s.groups))", "f.set_groups(p.convolution, 1)",
     "ops/test_conv.py"),
    ("lines are put together", "sort/pairs",
     "std::uint64_t(order[i] / length)", "std::uint64_t(order[i] / (length + 1))",
     "ops/test_sort.py"),
    ("rows go back where they should not", "linalg",
     "to[back ? there : here]", "to[!back ? there : here]", "ops/test_linalg.py"),
    ("a step of rows where it is one of columns", "cusolver",
     "ld(rows > 1 ? rows : 1)", "ld(columns > 1 ? columns : 1)", "devices/test_cusolver.py"),
    ("a workspace of elements where it is one of bytes", "cusolver",
     "work(Index(workspace) * Index(item_size(a.dtype)), \"svd\")",
     "work(Index(workspace), \"svd\")",
     "ops/test_linalg.py"),
    ("pivots of one matrix for all of a batch", "cusolver",
     "wide.data() + i * pivots.sizes[1]", "wide.data()", "devices/test_cusolver.py"),
    ("a triangle is solved as the other one", "cublas",
     "upper ? CUBLAS_FILL_MODE_UPPER", "!upper ? CUBLAS_FILL_MODE_UPPER", "ops/test_linalg.py"),
    ("pivots of the first matrices of a batch for all", "cublas",
     "pivots.as<int>() + first * n", "pivots.as<int>() + 0 * n", "devices/test_cusolver.py"),
    ("all pointers of a batch are the first", "linalg/linalg",
     "first + i * step", "first + 0 * i * step", "devices/test_cusolver.py"),
    ("devices are called for different sums", "nccl",
     "f.reduce(parts[j * group.count + i].data", "f.reduce(parts[j + i].data",
     "devices/test_nccl.py"),
    ("the root of the group is taken for a device", "nccl",
     "element_of(sources[j].dtype), group.root, member", "element_of(sources[j].dtype), 0, member",
     "devices/test_nccl.py"),
    ("the smallest of all ranks is taken for the largest", "nccl_group",
     "ncclProd, ncclMin, ncclMax}", "ncclProd, ncclMax, ncclMin}", "devices/test_nccl_group.py"),
    ("each rank is sent the part of the first", "nccl_group",
     "static_cast<const char*>(c.in) + at", "static_cast<const char*>(c.in) + 0 * at",
     "devices/test_nccl_group.py"),
    ("negative indices do not count from the end", "index",
     "(value < 0 ? value + size : value)", "value", "ops/test_index.py"),
    ("a bad index is read", "index",
     "if (value < -size || value >= size) {", "if (size < 0) {", "devices/test_provider.py"),
    ("equal positions add up once each", "sort/runs.h",
     "if (runs.continues(first)) continue;", "", "ops/test_long_runs.py"),
    ("the last of equal positions is left out", "sort/runs.h",
     "p < stop && runs.keys[p] == key", "p + 1 < stop && runs.keys[p + 1] == key",
     "ops/test_long_runs.py"),
    ("a piece is another one's", "sort/runs.h",
     "pieces[(p / runs.piece - 1) * columns + column]", "pieces[p / runs.piece - 1]",
     "ops/test_long_runs.py"),
    ("of two columns the first alone counts", "unique",
     "+ ranks[(left + 1) * n + row]", "+ 0", "ops/test_long_runs.py"),
    ("ignored targets weigh", "cross_entropy",
     "t >= 0 ? double(", "t >= -1 ? double(", "ops/test_loss.py"),
    ("a run is one too short", "sort/runs.h",
     "while (beyond - inside > 1)", "while (beyond - inside > 2)", "ops/test_long_runs.py"),
    ("a biased running variance", "cuda/norm.cu",
     "m.squares / double(n - 1)", "m.squares / double(n)", "ops/test_norm.py"),
    ("the tile on the diagonal is left out", "attention",
     "s.causal && query + kTile < s.s ? query + kTile", "s.causal && query < s.s ? query",
     "ops/test_attention.py"),
    ("what was summed before keeps its scale", "attention",
     "t.factor[r] = std::exp(t.top[r] - base);", "t.factor[r] = C(1);", "ops/test_attention.py"),
    ("a mask's gradient of one head alone", "attention",
     "m.shares[1] ? s.heads : head + 1", "head + 1", "ops/test_attention.py"),
    ("one window too few", "pool.h",
     "last < out - 1 ? last : out - 1", "last < out - 1 ? last : out - 2", "ops/test_pool.py"),
    ("an element's further numbers are its neighbour's", "random",
     "item | tried++ << 48", "item + tried++", "ops/test_random_laws.py"),
    ("a number serves twice", "random",
     "      has_left = false;\n      return left;", "      return left;",
     "ops/test_random_laws.py"),
    ("every fill draws the same", "philox.h",
     "s.seed, number++}", "s.seed, number}", "devices/test_provider.py"),
    ("the host reads what is not there yet", "transfer",
     "    copy(c, c.from, stream);\n    return wait_for(stream);",
     "    return copy(c, c.from, stream);", "devices/test_waiting.py"),
    ("a copy does not wait for the other device", "transfer",
     "    order({c.from_index, source}, {c.to_index, stream});\n", "", "devices/test_waiting.py"),
    ("memory goes while another device reads it", "transfer",
     "    order({c.to_index, stream}, {c.from_index, source});\n", "", "devices/test_waiting.py"),
    ("pinned memory is used again while it is read", "pinned",
     "r.events.push_back(event_after(reader));", "(void)reader;", "devices/test_runtime.py"),
    ("memory goes while a recorded stream uses it", "memory",
     "streams.others.push_back(stream);", "(void)stream;", "devices/test_runtime.py"),
    ("a note is read before it is whole", "devices",
     "if (state.load(std::memory_order_acquire) != kNoteWritten)",
     "if (state.load(std::memory_order_acquire) == kNoteFree)", "devices/test_runtime.py"),
    ("a note is said to be whole before it is written", "launch.h",
     "kNoteFree, kNoteClaimed) != kNoteFree) return;",
     "kNoteFree, kNoteWritten) != kNoteFree) return;", "devices/test_runtime.py"),
    ("what fetches a value raises no note", "current.h",
     "  raise_notes();\n  return value;", "  return value;", "devices/test_runtime.py"),
    ("what waits for an event raises no note", "provider",
     "\"Event.synchronize\");\n  raise_notes();", "\"Event.synchronize\");",
     "devices/test_runtime.py"),
    ("what waits for a stream raises no note", "provider",
     "\"Stream.synchronize\");\n  raise_notes();", "\"Stream.synchronize\");",
     "devices/test_runtime.py"),
    ("what waits for a device raises no note", "provider",
     "\"synchronize\");\n  raise_notes();", "\"synchronize\");", "devices/test_runtime.py"),
    ("what copies to the host raises no note", "transfer",
     "\"copy\");\n  raise_notes();", "\"copy\");", "devices/test_waiting.py"),
    ("memory of a call is outside the statistics and the limit", "memory",
     "return allocate(current().device, bytes); }",
     "return take(memory_of(current().device), bytes, current().stream); }",
     "devices/test_runtime.py"),
    ("what is only kept is not given up where memory is short", "memory",
     "      trim(b);\n      block = take(b, bytes, stream);\n", "", "devices/test_runtime.py"),
    ("the quickest algorithm or an error", "cudnn",
     "Index(answer->workspace), std::nothrow)", "Index(answer->workspace), \"convolution\")",
     "devices/test_cudnn.py"),
    ("trials with the largest workspace or none", "cudnn",
     "      most = bytes;\n", "      most = 0;\n", "devices/test_cudnn.py"),
    ("a forked child does not know that it is one", "devices",
     "    pthread_atfork(nullptr, nullptr, [] { forked_child = true; });\n", "",
     "devices/test_runtime.py"),
    ("a forked child gives memory back", "memory",
     "  if (is_forked_child()) return;\n", "", "devices/test_runtime.py"),
    ("a forked child gives pinned memory back", "pinned",
     "  if (is_forked_child()) return;\n", "", "devices/test_runtime.py"),
    ("a forked child gives events back", "provider",
     "  if (is_forked_child()) return;\n", "", "devices/test_runtime.py"),
    ("memory pools of the driver are not looked for", "memory",
     "if (!keeps_memory() || !pools) return;", "if (!keeps_memory()) return;",
     "devices/test_runtime.py"),
    ("memory goes in the order of another stream", "memory",
     "found == b.streams.end() ? nullptr : after_all(b, index, found->second)",
     "after_all(b, index, Streams())",
     "devices/test_waiting.py"),
    ("freed memory stays in the statistics", "memory",
     "count_block(b, std::int64_t(bytes), -1);", "", "devices/test_provider.py"),
]  # fmt: skip
# What no value shows: accesses outside a tensor or outside the block's shared memory. ASan's.
OUTSIDE = [
    ("one element past the end is written", "copy",
     "fill_items(Strided<1> p, S* out, S value) {\n  for (Index i = first_item(); i < p.numel;",
     "fill_items(Strided<1> p, S* out, S value) {\n  for (Index i = first_item(); i <= p.numel;",
     "ops/test_norm.py"),
    ("less shared memory than is used", "matmul",
     "2 * kDepth * (kTile + 1) * sizeof(C), strip", "2 * kDepth * kTile * sizeof(C), strip",
     "ops/test_matmul.py"),
    ("an element is read before it is known to be inside", "block_scan.h",
     "i < end ? load(i) : nothing", "i <= end ? load(i) : nothing", "ops/test_scan.py"),
]  # fmt: skip


def copy_tree():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        to = COPY / name
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, to)  # newer than any object of an earlier bug


def build(kind):
    return subprocess.run(
        ["cmake", "--build", str(BUILDS / kind), "--target", "rushlight_cuda_emulated"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def environment(kind, own_kernels):
    library = BUILDS / kind / "tests/emulator/librushlight_cuda_emulated.so"
    given = {**os.environ, "RUSHLIGHT_CUDA_LIBRARY": str(library), "RUSHLIGHT_LAUNCH_BLOCKING": "1"}
    if own_kernels:  # tests/conftest.py names the libraries' stand-ins elsewhere
        given |= {"RUSHLIGHT_CUBLASLT_LIBRARY": "none", "RUSHLIGHT_CUDNN_LIBRARY": "none"}
    if kind == "Asan":
        names = [
            subprocess.run(
                ["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
            ).stdout.strip()
            for name in ("libasan.so", "libstdc++.so")
        ]
        given |= {"LD_PRELOAD": " ".join(names), "ASAN_OPTIONS": "detect_leaks=0"}
        given["RUSHLIGHT_NO_CACHE"] = "1"
    return given


def suite_fails(tests, kind, own_kernels):
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    command += [f"tests/{t}" for t in tests.split()]
    return subprocess.run(
        command, cwd=ROOT, env=environment(kind, own_kernels), capture_output=True, check=False
    ).returncode


def configure(kind):
    pybind = subprocess.run(
        [sys.executable, "-m", "pybind11", "--cmakedir"], capture_output=True, text=True, check=True
    ).stdout.strip()
    subprocess.run(
        ["cmake", "-S", str(COPY), "-B", str(BUILDS / kind), "-G", "Ninja",
         f"-DCMAKE_BUILD_TYPE={kind}", "-DRUSHLIGHT_TESTS=ON",
         f"-DPython_EXECUTABLE={sys.executable}", f"-Dpybind11_DIR={pybind}"],
        check=True, capture_output=True,
    )  # fmt: skip


def file_of(stem, tree=COPY):
    names = [stem] if "." in stem else [f"cuda/**/{stem}.cu", f"cuda/**/{stem}.cpp"]
    (file,) = (file for name in names for file in (tree / "kernels").rglob(name))
    return file


def try_all(bugs, kind):
    """How many of them go unnoticed."""
    if not bugs:
        return 0
    configure(kind)
    bad = bool(build(kind).returncode)
    for own in (False, True):
        used = sorted({t for bug in bugs for t in bug[4].split() if (bug[1] in OWN) == own})
        bad = bad or bool(used and suite_fails(" ".join(used), kind, own))
    if bad:
        sys.exit("without a bug put in, the build or its tests fail: nothing can be learnt")
    missed = 0
    for what, stem, right, wrong, tests in bugs:
        file = file_of(stem)
        text = file.read_text()
        assert text.count(right) >= 1, f"{stem}: the text of '{what}' has changed"
        file.write_text(text.replace(right, wrong))
        built = build(kind)
        if built.returncode:
            verdict = "does not compile"
        else:
            verdict = "caught" if suite_fails(tests, kind, stem in OWN) else "MISSED"
        file.write_text(text)
        missed += verdict != "caught"
        print(f"{stem:<16} {what:<52} {verdict}", flush=True)
    return missed


def main():
    words = sys.argv[1:]
    for folder in ("kernels", "tests"):  # a file that is gone from the tree is gone here too
        shutil.rmtree(COPY / folder, ignore_errors=True)
    copy_tree()

    def chosen(bugs):
        return [bug for bug in bugs if not words or any(w in bug[1] for w in words)]

    return try_all(chosen(BUGS), "Dev") + try_all(chosen(OUTSIDE), "Asan")


if __name__ == "__main__":
    sys.exit(main())
