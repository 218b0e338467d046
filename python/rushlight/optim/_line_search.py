"""The line search of L-BFGS: a step length that satisfies the strong Wolfe conditions.

Algorithms 3.5 and 3.6 of Nocedal and Wright, Numerical Optimization, with cubic interpolation.
"""

C1, C2 = 1e-4, 0.9  # sufficient decrease; how much flatter the slope must become
TOLERANCE = 1e-9
MAX_SEARCH = 25


def cubic_minimum(x1, f1, g1, x2, f2, g2, bounds=None):
    """Where the cubic through two points with two slopes is smallest, within the bounds."""
    low, high = bounds if bounds is not None else (min(x1, x2), max(x1, x2))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1 * d1 - g1 * g2
    if square < 0:
        return (low + high) / 2.0
    d2 = square**0.5
    if x1 <= x2:
        point = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        point = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(point, low), high)


def strong_wolfe(at, t, direction, loss, grad, slope):
    """(loss, gradient, step length, evaluations); `at(t)` gives loss and gradient there."""
    longest = float(direction.abs().max())
    start = loss
    old = (0.0, loss, grad.clone(), slope)
    bracket, done = None, False
    evaluations = 0
    for step in range(MAX_SEARCH):
        new_loss, new_grad = at(t)
        evaluations += 1
        new = (t, new_loss, new_grad.clone(), float(new_grad.dot(direction)))
        if new_loss > start + C1 * t * slope or (step > 0 and new_loss >= old[1]):
            bracket = [old, new]
            break
        if abs(new[3]) <= -C2 * slope:
            bracket, done = [new], True
            break
        if new[3] >= 0:
            bracket = [old, new]
            break
        bounds = (t + 0.01 * (t - old[0]), t * 10)
        following = cubic_minimum(old[0], old[1], old[3], new[0], new[1], new[3], bounds)
        old, t = new, following
    remaining = MAX_SEARCH - evaluations
    if bracket is None:
        new_loss, new_grad = at(t)
        evaluations += 1
        bracket = [(0.0, loss, grad, slope), (t, new_loss, new_grad, slope)]
        remaining = 0
    if not done:
        best, used = _zoom(at, bracket, direction, start, slope, longest, remaining)
        evaluations += used
    else:
        best = bracket[0]
    return best[1], best[2], best[0], evaluations


def _zoom(at, bracket, direction, start, slope, longest, remaining):
    """Shrinks an interval that holds an acceptable step; returns its better end."""
    used, stuck = 0, False
    low, high = (0, 1) if bracket[0][1] <= bracket[1][1] else (1, 0)
    while used < remaining:
        (x1, f1, _, g1), (x2, f2, _, g2) = bracket
        width = abs(x2 - x1)
        if width * longest < TOLERANCE:
            break
        t = cubic_minimum(x1, f1, g1, x2, f2, g2)
        left, right = min(x1, x2), max(x1, x2)
        margin = 0.1 * width
        if min(right - t, t - left) < margin:  # too near an end: once is allowed
            if stuck or t >= right or t <= left:
                t = right - margin if abs(t - right) < abs(t - left) else left + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        new_loss, new_grad = at(t)
        used += 1
        new = (t, new_loss, new_grad.clone(), float(new_grad.dot(direction)))
        if new_loss > start + C1 * t * slope or new_loss >= bracket[low][1]:
            bracket[high] = new
            low, high = (0, 1) if bracket[0][1] <= bracket[1][1] else (1, 0)
            continue
        finished = abs(new[3]) <= -C2 * slope
        if not finished and new[3] * (bracket[high][0] - bracket[low][0]) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = new
        if finished:
            break
    return bracket[low], used
