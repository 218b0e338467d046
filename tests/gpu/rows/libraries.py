"""NVIDIA's libraries, and our own kernels that serve without them."""

import os

import rushlight as torch
import rushlight.nn.functional as F
from tests.gpu.rows import row, same, same_gradients

NVIDIA = "kernels/cuda/nvidia/"


def version(title):
    """Of a library of NVIDIA's, as text: its version and path, or why it is absent."""
    for name, number, details in torch._C._cuda_libraries():
        if name == title:
            text = f"{number // 10000}.{number // 100 % 100}.{number % 100}" if number else "absent"
            return f"{title} {text}: {details.splitlines()[0]}"
    return f"{title} is not looked for here"


def products():
    x, y, batch = torch.randn(65, 130), torch.randn(130, 33), torch.randn(5, 17, 9)
    same(lambda x, y: [x @ y, y.t() @ x.t(), x @ y[:, 0], x[:, ::2] @ y[::2]], x, y)
    same(lambda b: [b @ b.mT, torch.baddbmm(b @ b.mT, b, b.mT, beta=0.5)], batch)
    same(lambda x, y: x @ y, x.double(), y.double(), rtol=1e-9, atol=1e-9)
    for dtype in (torch.float16, torch.bfloat16):
        same(lambda x, y: (x @ y).float(), x.to(dtype), y.to(dtype), rtol=0.03, atol=0.3)
    same_gradients(F.linear, x, torch.randn(33, 130), torch.randn(33))


def convolutions():
    x, w, b = torch.randn(3, 4, 11, 13), torch.randn(6, 4, 3, 3), torch.randn(6)
    same_gradients(lambda x, w, b: F.conv2d(x, w, b, stride=2, padding=1), x, w, b)
    same_gradients(lambda x, w: F.conv2d(x, w[:, :2], groups=2, dilation=2), x, w)
    same_gradients(lambda x, w: F.conv_transpose2d(x, w.transpose(0, 1), stride=2), x, w)
    same_gradients(F.conv1d, torch.randn(2, 4, 21), torch.randn(3, 4, 5))
    same_gradients(F.conv3d, torch.randn(1, 2, 5, 6, 7), torch.randn(3, 2, 2, 3, 3))
    same(lambda x, w: F.conv2d(x, w).float(), x.bfloat16(), w.bfloat16(), rtol=0.03, atol=0.3)


def factors():
    a = torch.randn(40, 40)
    positive, many = a @ a.t() + 40 * torch.eye(40), torch.randn(7, 9, 9)
    same(lambda a: [torch.linalg.solve(a, a[:, :3]), torch.linalg.inv(a)], positive, rtol=1e-3)
    same(lambda a: [torch.linalg.cholesky(a), torch.linalg.eigvalsh(a)], positive, rtol=1e-3)
    same(lambda a: [torch.linalg.svdvals(a), torch.linalg.qr(a)[1].abs()], a, rtol=1e-3)
    same(lambda a: [torch.linalg.det(a), torch.linalg.svdvals(a)], many, rtol=1e-3, atol=1e-3)
    same_gradients(lambda a: torch.linalg.solve(a, a[:, :3]), positive)


@row("matmul, our kernel", "kernels/cuda/linalg/matmul.cu")
def _():
    os.environ["RUSHLIGHT_CUBLASLT_LIBRARY"] = "none"
    products()


@row("matmul, cuBLASLt", f"{NVIDIA}cublaslt.cpp, {NVIDIA}cublaslt_plan.cpp")
def _():
    products()
    return version("cuBLASLt")


@row("convolution, our kernel", "kernels/cuda/conv.cu")
def _():
    os.environ["RUSHLIGHT_CUDNN_LIBRARY"] = "none"
    convolutions()


@row("convolution, cuDNN", f"{NVIDIA}cudnn.cpp")
def _():
    torch.backends.cudnn.allow_tf32 = False
    convolutions()
    return version("cuDNN")


@row("linalg, by the host", "kernels/cuda/linalg/linalg.cu")
def _():
    os.environ["RUSHLIGHT_CUSOLVER_LIBRARY"] = "none"
    factors()


@row("linalg, cuSOLVER and cuBLAS", f"{NVIDIA}cusolver.cpp, {NVIDIA}cublas.cpp")
def _():
    factors()
    return f"{version('cuSOLVER')}; {version('cuBLAS')}"
