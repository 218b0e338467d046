"""The line search of L-BFGS: a step length that satisfies the strong Wolfe conditions.

Algorithms 3.5 and 3.6 of Nocedal and Wright, Numerical Optimization, with cubic interpolation.
"""

import math

C1, C2 = 1e-4, 0.9  # sufficient decrease; how much flatter the slope must become
TOLERANCE = 1e-9
MAX_SEARCH = 25


def quotient(a, b):
    """a / b, infinite or NaN where b is 0, of numbers as of tensors."""
    try:
        return a / b
    except ZeroDivisionError:
        return a * math.copysign(math.inf, b)


def cubic_minimum(x1, f1, g1, x2, f2, g2, bounds=None):
    """Where the cubic through two points with two slopes is smallest, within the bounds."""
    low, high = bounds if bounds is not None else (min(x1, x2), max(x1, x2))
    d1 = g1 + g2 - quotient(3 * (f1 - f2), x1 - x2)
    square = d1 * d1 - g1 * g2
    if square < 0:
        return (low + high) / 2.0
    d2 = square**0.5
    if x1 <= x2:
        point = x2 - (x2 - x1) * quotient(g2 + d2 - d1, g2 - g1 + 2 * d2)
    else:
        point = x1 - (x1 - x2) * quotient(g1 + d2 - d1, g1 - g2 + 2 * d2)
    return min(max(point, low), high)


def strong_wolfe(
    at, t, direction, loss, grad, slope, most=MAX_SEARCH, c1=C1, c2=C2, tolerance=TOLERANCE
):
    """(loss, gradient, step length, evaluations); `at(t)` gives loss and gradient there, and is
    called once, and then `most` times at most."""

    def point(t):
        loss, grad = at(t)
        return t, loss, grad.clone(), grad.dot(direction)

    def too_high(new):  # for so long a step
        return new[1] > loss + c1 * new[0] * slope

    def is_flat(new):
        return abs(new[3]) <= -c2 * slope

    old, new = (0, loss, grad.clone(), slope), point(t)
    first = old
    bracket, done = None, False
    tries = 0
    while tries < most:
        if too_high(new) or (tries > 1 and new[1] >= old[1]):
            bracket = [old, new]
            break
        if is_flat(new):
            bracket, done = [new], True
            break
        if new[3] >= 0:
            bracket = [old, new]
            break
        bounds = (new[0] + 0.01 * (new[0] - old[0]), new[0] * 10)
        following = cubic_minimum(old[0], old[1], old[3], new[0], new[1], new[3], bounds)
        old, new = new, point(following)
        tries += 1
    if bracket is None:
        bracket = [first, new]
    low = 0 if bracket[0][1] <= bracket[-1][1] else -1
    best, used = bracket[low], 0
    if not done:
        width = tolerance / direction.abs().max()
        best, used = zoom(point, bracket, too_high, is_flat, width, most - tries)
    return best[1], best[2], best[0], tries + used + 1


def zoom(point, bracket, too_high, is_flat, width, most):
    """Shrinks an interval that holds an acceptable step: its better end, how often it evaluated."""
    used, stuck = 0, False
    low, high = (0, 1) if bracket[0][1] <= bracket[1][1] else (1, 0)
    while used < most:
        (x1, f1, _, g1), (x2, f2, _, g2) = bracket
        if abs(x2 - x1) < width:
            break
        t = cubic_minimum(x1, f1, g1, x2, f2, g2)
        left, right = min(x1, x2), max(x1, x2)
        margin = 0.1 * (right - left)
        if min(right - t, t - left) < margin:  # too near an end: once is allowed
            if stuck or t >= right or t <= left:
                t = right - margin if abs(t - right) < abs(t - left) else left + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        new = point(t)
        used += 1
        if too_high(new) or new[1] >= bracket[low][1]:
            bracket[high] = new
            low, high = (0, 1) if bracket[0][1] <= bracket[1][1] else (1, 0)
            continue
        finished = is_flat(new)
        if not finished and new[3] * (bracket[high][0] - bracket[low][0]) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = new
        if finished:
            break
    return bracket[low], used
