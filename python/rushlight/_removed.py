"""Functions that torch has removed: a call says what to write instead, as torch's does.

Each is found by its name in torch, and as a method of Tensor.
"""

REMOVED = "eig lstsq matrix_rank solve symeig"
_GONE = "This function was deprecated since version 1.9 and is now removed."
_WORDS = {
    "eig": f"{_GONE} `torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` "
    "rather than real tensors mimicking complex tensors.\nwrite torch.linalg.eigvals(A), or "
    "torch.linalg.eig(A) for the vectors too",
    "lstsq": f"{_GONE} `torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`.\nwrite "
    "torch.linalg.lstsq(A, B).solution for torch.lstsq(B, A)",
    "matrix_rank": f"{_GONE}\nwrite torch.linalg.matrix_rank(A), whose `hermitian` was `symmetric`",
    "solve": f"{_GONE} `torch.solve` is deprecated in favor of `torch.linalg.solve`. "
    "`torch.linalg.solve` has its arguments reversed and does not return the LU factorization.\n"
    "write torch.linalg.solve(A, B) for torch.solve(B, A)",
    "symeig": f"{_GONE} The default behavior has changed from using the upper triangular portion "
    "of the matrix by default to using the lower triangular portion.\nwrite "
    "torch.linalg.eigh(A, UPLO='U'), or torch.linalg.eigvalsh for the values alone",
}


def _refusal(name):
    def refuse(*_args, **_options):
        raise RuntimeError(_WORDS[name])

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = _WORDS[name]
    return refuse


eig, lstsq, matrix_rank, solve, symeig = map(_refusal, REMOVED.split())
