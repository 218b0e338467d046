"""The special points at which torch's value of a pointwise op is not the measure, and why."""

import math


def is_exempt(name, dtype, args, ours, theirs):
    """Whether torch's value at a special point is not the measure."""
    if "polynomial" in name:
        # torch casts an infinite degree to an integer, which is undefined; its recurrence gives
        # inf - inf where the polynomial is infinite; it returns 0 or 1 for the polynomial of NaN
        lost = math.isnan(args[0]) and math.isnan(ours)
        return math.isinf(args[1]) or (math.isinf(ours) and math.isnan(theirs)) or lost
    if name in ("igamma", "igammac"):  # torch loses a NaN beside 0 or infinity
        return any(map(math.isnan, args)) and math.isnan(ours)
    if name in ("i0", "special_i1", "special_modified_bessel_i0", "special_modified_bessel_i1"):
        # torch's exp() overflows before the result does
        return args[0] == 88.8 and math.isinf(theirs) and 1e37 < ours < 2e37
    if name == "special_airy_ai":  # torch's phase, 7e5 radians, has the precision of float32
        return dtype == "float32" and args[0] == -1e4
    if name == "special_zeta":  # the powers of what is above 1 vanish
        return args[0] == math.inf and args[1] > 1 and ours == 0 and math.isnan(theirs)
    if name == "ldexp":  # 2 ** other leaves float16 before the product does
        return dtype == "float16" and math.isnan(theirs) and ours == args[0]
    return False
