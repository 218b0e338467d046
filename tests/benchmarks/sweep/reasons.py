"""Entries where torch is quicker for a reason that stays: by operations, direction and layouts."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    names: tuple
    backward: bool
    text: str
    layouts: tuple = ()  # none: all

    def holds(self, key):
        op, _, layout, _, backward = key
        return (
            op in self.names
            and backward == self.backward
            and (not self.layouts or layout in self.layouts)
        )


REASONS = (
    Reason(
        ("view", "x[:, None]", "unsqueeze", "transpose", "Flatten", "permute and copy"),
        True,
        "torch's gradient is a view of the one that `backward` was given: who writes to one "
        "changes the other. Ours is a copy, which is all of the time.",
    ),
    Reason(
        ("linalg.qr", "linalg.svd", "linalg.eigh", "linalg.inv"),
        False,
        "LAPACK as OpenBLAS has it, against Intel's. QR of 100 x 100 and more goes by blocks of "
        "reflections whose factorisation calls itself on halves (100 x 100, float64: 271 to 219 "
        "us, Intel's 205; 2000 x 100: 8.9 to 3.3 ms, Intel's 3.2). Smaller matrices, as the stacks "
        "of 10,000 elements have, and what reduces to a bidiagonal or tridiagonal matrix, "
        "multiply by one vector after another.",
    ),
    Reason(
        ("topk",),
        False,
        "Ties come out in torch's order, so by its algorithm, libstdc++'s `nth_element`: half the "
        "time. Elements are read as keys before it, so that one text serves all dtypes.",
    ),
    Reason(
        ("sort", "argsort"),
        False,
        "Rows that are all the same: the processor has learned torch's branches after the first. "
        "Ours has none, and takes as long as for rows that differ, where it is the quicker.",
        ("broadcast",),
    ),
    Reason(
        ("erf", "erfc", "erfinv"),
        False,
        "Vector instructions, of which this processor starts two in a cycle: float64 erf has 76 "
        "for 8 elements and takes 39 cycles, erfc 130 and 66, erfinv 63 and 51 (it waits for its "
        "longest chain). Intel's library takes 27, 34 and 37, as it selects coefficients from "
        "tables by permutations, which a formula that all processors and the gradient share "
        "cannot say. Without its branch near 0, and with fused corrections, erfc would take a "
        "third less, but be wrong by hundreds of units where there is no fused multiplication.",
    ),
    Reason(
        ("linalg.svd", "linalg.solve"),
        True,
        "The same LAPACK: the gradient itself is a few products.",
    ),
    Reason(
        ("matmul by a transposed", "bmm", "stack by matrix", "tall by thin", "Linear"),
        False,
        "Products: both libraries do 0.8 to 0.95 of what a core multiplies in registers "
        "(matrices of 128: 131 GFLOP/s and Intel's 143, of 1000: 155 and 151, where registers do "
        "160 to 175; tiles of 6 rows by four vectors since 30 November). What is left is the time "
        "in which operands are copied in the order of a tile, a tenth at 128.",
    ),
    Reason(
        ("Conv2d 1x1", "Conv2d dilated", "Conv3d"),
        False,
        "One register tile serves all shapes, at 0.75 to 0.85 of what a core multiplies; PyTorch's "
        "library makes the code of each shape when it first sees it, for images whose channels lie "
        "innermost at 0.9. (Of planes one after another most take 0.3 to 0.8 of its time.)",
    ),
    Reason(
        ("Conv3d",),
        True,
        "As above: of channels innermost.",
        ("transposed",),
    ),
    Reason(
        ("addcmul", "div"),
        False,
        "An operand that lies across the others is brought into their order, 64 rows at a time, "
        "at the speed of the second cache (5.5 of 9 us in `x.T + y`, 100 x 100 of float64), so "
        "that a larger one does not wait for a line of memory for each element. PyTorch reads it "
        "element by element, which as long as all of it lies in that cache takes no longer.",
        ("transposed",),
    ),
    Reason(
        ("logit",),
        False,
        "Two divisions for each element, of which one is log's: the processor divides 8 numbers of "
        "float64 in 16 cycles, and both take 12 of 20 us. The logarithm of Intel's library has a "
        "table in place of its own.",
    ),
    Reason(
        ("elu", "cosine_similarity"),
        False,
        "bfloat16: expm1 to the last bit also near 0; a similarity is seven passes, as PyTorch's, "
        "whose sums of bfloat16 are a fifth quicker.",
        ("contiguous", "transposed", "broadcast"),
    ),
    Reason(
        ("grid_sample",),
        False,
        "A strided image is copied to a dense one before it is sampled, a third of the time: taps "
        "are offsets of 32 bits in a dense plane, four for each position and all channels.",
        ("strided",),
    ),
    Reason(
        ("sum", "mean", "amax", "amin", "sum over rows", "mean over rows", "item"),
        False,
        "A thousand rows that are one, in the nearest cache: what a row takes before its first and "
        "after its last vector, 8 ns of 50, of which PyTorch has less. Of rows that differ memory "
        "is all of the time.",
        ("broadcast",),
    ),
    Reason(
        ("cumsum", "cumprod"),
        False,
        "Each sum waits for the one before, so PyTorch's takes no longer where elements lie apart. "
        "Ours walks several lines at once, 0.63 ns an element in place of 0.80, and then waits for "
        "the second cache: 0.93 and 0.84 (100 x 100 of float64, Zen 4).",
        ("strided",),
    ),
    Reason(
        ("SGD step", "SGD momentum"),
        False,
        "A strided parameter is copied to a dense one and back: two thirds of the time.",
        ("strided",),
    ),
    Reason(
        ("Conv2d 3x3", "Conv2d 1x1"),
        False,
        "bfloat16 on Zen 4, 16 channels: bringing pixels and results into the order of the "
        "processor's products of pairs takes a fifth of the time, those products two thirds; "
        "PyTorch's library makes code that reads them where they lie.",
    ),
    Reason(
        ("scatter_add",),
        False,
        "bfloat16: a position, a sum and a rounding for each element, one after another as two may "
        "be added to the same place: 1.7 ns each, PyTorch's 1.4. Of a million elements both wait "
        "for memory (0.95 to 1.35 in a process each, by turns).",
    ),
    Reason(
        (
            "maximum",
            "minimum",
            "eq",
            "roll",
            "prod",
            "flip",
            "cat over columns",
            "add row",
            "addcmul",
            "permute and copy",
            "index_select",
            "AdaptiveAvgPool2d",
            "rsqrt",
            "equal",
            "mul",
            "mul_",
            "add",
            "sub",
            "clamp",
        ),
        False,
        "A million elements that are read and written once: both libraries wait for the third "
        "cache or for memory, whose speed differs by a fifth from run to run on this virtual "
        "machine. In a process each, by turns, these take 0.7 to 1.2 of PyTorch's time; of 10,000 "
        "strided ones, in the second cache, 1.0 to 1.07.",
    ),
    Reason(
        ("cumsum", "cumprod"),
        False,
        "As the strided ones: 8.8 ns a line of 100 for both (1.04 in a process each).",
        ("transposed",),
    ),
)


def reason_of(key):
    """What explains this entry, or None."""
    return next((reason for reason in REASONS if reason.holds(key)), None)
