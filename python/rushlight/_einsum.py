"""einsum by matrix products: two operands at a time, from left to right.

What is done depends on the equation and the shapes alone: it is planned once and remembered.
"""

import functools

from rushlight import _C


def spelled(first, rest):
    """An equation and its operands, also where dimensions are lists of ints."""
    if isinstance(first, str):
        operands = rest[0] if len(rest) == 1 and isinstance(rest[0], list | tuple) else rest
        if not operands:
            raise ValueError(
                "einsum(): must specify the equation string and at least one operand, or at least "
                "one operand and its subscripts list"
            )
        for i, operand in enumerate(operands):
            if not isinstance(operand, _C.Tensor):
                raise TypeError(
                    f"expected Tensor as element {i} in argument 1, but got "
                    f"{type(operand).__name__}\neinsum() takes an equation, then tensors"
                )
        return first, list(operands)
    if not rest:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one "
            "operand and its subscripts list"
        )
    given = [first, *rest]
    result = given.pop() if len(given) % 2 else None
    terms = [_letters(numbers) for numbers in given[1::2]]
    equation = ",".join(terms) + ("" if result is None else "->" + _letters(result))
    return spelled(equation, given[::2])


def _letters(numbers):
    letters = []
    for number in numbers:
        if number is Ellipsis:
            letters.append("...")
        elif not isinstance(number, int) or not 0 <= number < 52:
            raise ValueError(
                "einsum(): subscript in subscript list is not within the valid range [0, 52)"
            )
        else:
            letters.append(chr(ord("A") + number) if number < 26 else chr(ord("a") + number - 26))
    return "".join(letters)


def _parse(equation, shapes):
    """The letters of each operand and of the result; an ellipsis becomes private letters."""
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        relation = "more" if len(shapes) > len(terms) else "fewer"
        raise RuntimeError(
            f"einsum(): {relation} operands were provided than specified in the equation"
        )
    for at, c in enumerate(equation):
        if not (c.isascii() and c.isalpha()) and c not in " .,->":
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {at} in the equation string, "
                f"subscripts must be in [a-zA-Z]\nthe equation is '{equation}'"
            )
    hidden = 0
    letters = []
    for i, (term, shape) in enumerate(zip(terms, shapes, strict=True)):
        named = term.replace("...", "")
        extra = len(shape) - len(named)
        if extra < 0 or (extra and "..." not in term):
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(named)}) does not match "
                f"the number of dimensions ({len(shape)}) for operand {i} and no ellipsis was "
                "given"
            )
        hidden = max(hidden, extra)
        before, _, after = term.partition("...")
        middle = [f"...{hidden_place}" for hidden_place in range(-extra, 0)]
        letters.append([*before, *middle, *after] if "..." in term else list(term))
    dots = [f"...{at}" for at in range(-hidden, 0)]
    if arrow:
        before, found, after = right.partition("...")
        result = [*before, *(dots if found else []), *after]
    else:
        counts = {}
        for term in letters:
            for letter in term:
                counts[letter] = counts.get(letter, 0) + 1
        result = dots + sorted(c for c, n in counts.items() if n == 1 and not c.startswith("."))
    known = {letter for term in letters for letter in term}
    for letter in result:
        if letter not in known:
            raise RuntimeError(
                f"einsum(): output subscript {letter} does not appear in the equation for any "
                "input operand"
            )
        if result.count(letter) > 1:
            raise RuntimeError(
                f"einsum(): output subscript {letter} appears more than once in the output"
            )
    return letters, result


def _diagonals(shape, letters, number):
    """A letter that an operand has twice means its diagonal: pairs of dimensions, what stays."""
    letters, shape, pairs = list(letters), list(shape), []
    for letter in sorted(set(letters)):
        while letters.count(letter) > 1:
            first = letters.index(letter)
            second = letters.index(letter, first + 1)
            a, b = shape[first], shape[second]
            if a != b:
                raise RuntimeError(
                    f"einsum(): subscript {letter} is repeated for operand {number} but the sizes "
                    f"don't match, {b} != {a}"
                )
            pairs.append((first, second))
            shape = [n for d, n in enumerate(shape) if d not in (first, second)] + [a]
            letters = [c for d, c in enumerate(letters) if d not in (first, second)] + [letter]
    return pairs, shape, letters


def _summed(shape, letters, keep):
    """The dimensions to sum over, and what stays."""
    gone = [d for d, letter in enumerate(letters) if letter not in keep]
    shape = [n for n, letter in zip(shape, letters, strict=True) if letter in keep]
    return gone, shape, [letter for letter in letters if letter in keep]


def _product(a, a_letters, b, b_letters, keep, number):
    """One batched matrix product: letters of both that stay, of both that go, of one alone."""
    sizes = {}
    for shape, letters in ((a, a_letters), (b, b_letters)):
        for letter, size in zip(letters, shape, strict=True):
            if sizes.get(letter, 1) != 1 and size not in (1, sizes[letter]):
                raise RuntimeError(
                    f"einsum(): subscript {letter} has size {size} for operand {number} which does "
                    f"not broadcast with previously seen size {sizes[letter]}"
                )
            sizes[letter] = max(size, sizes.get(letter, 1)) if size else 0
    a_gone, a, a_letters = _summed(a, a_letters, keep | set(b_letters))
    b_gone, b, b_letters = _summed(b, b_letters, keep | set(a_letters))
    shared = [c for c in a_letters if c in b_letters]
    batch, inner = [c for c in shared if c in keep], [c for c in shared if c not in keep]
    rows = [c for c in a_letters if c not in b_letters]
    columns = [c for c in b_letters if c not in a_letters]

    def arranged(gone, shape, letters, groups):
        wide = [sizes[c] if c in shared else n for c, n in zip(letters, shape, strict=True)]
        order = [letters.index(c) for group in groups for c in group]
        matrix = [_count(sizes, group) for group in groups]
        moved = [wide[d] for d in order]
        return (
            gone,
            wide if wide != shape else None,
            order if order != sorted(order) else None,
            matrix if matrix != moved else None,
        )

    several = [batch] if batch else []
    result = batch + rows + columns
    shape = [sizes[c] for c in result]
    product = [_count(sizes, group) for group in (*several, rows, columns)]
    steps = (
        arranged(a_gone, a, a_letters, (*several, rows, inner)),
        arranged(b_gone, b, b_letters, (*several, inner, columns)),
        shape if shape != product else None,
        (_C.bmm if batch else _C.mm) if inner else _C.mul,
    )
    return steps, shape, result


def _count(sizes, letters):
    n = 1
    for letter in letters:
        n *= sizes[letter]
    return n


@functools.lru_cache(maxsize=512)
def _planned(equation, shapes):
    """The steps for operands of these shapes: diagonals, products, the last sum and order."""
    letters, result = _parse(equation, shapes)
    diagonals, terms = [], []
    for number, (shape, term) in enumerate(zip(shapes, letters, strict=True)):
        pairs, *rest = _diagonals(shape, term, number)
        diagonals.append(pairs)
        terms.append(rest)
    (shape, names), *others = terms
    products = []
    for i, (other, other_names) in enumerate(others, 1):
        keep = set(result) | {c for _, later in others[i:] for c in later}
        steps, shape, names = _product(shape, names, other, other_names, keep, i)
        products.append(steps)
    gone, _, names = _summed(shape, names, set(result))
    order = [names.index(letter) for letter in result]
    if order == sorted(order) and (products or gone):
        order = None  # it is a new tensor in its order already
    return diagonals, products, gone, order


def _arranged(operand, steps):
    gone, wide, order, matrix = steps
    if gone:
        operand = operand.sum(gone)
    if wide is not None:
        operand = operand.expand(wide)
    if order is not None:
        operand = operand.permute(order)
    return operand if matrix is None else operand.reshape(matrix)


def einsum(equation, operands):
    if not isinstance(equation, str):
        raise ValueError("einsum(): the equation must be a string, then come the operands")
    diagonals, products, gone, order = _planned(
        equation, tuple([operand.shape for operand in operands])
    )
    terms = []
    for operand, pairs in zip(operands, diagonals, strict=True):
        for first, second in pairs:
            operand = operand.diagonal(0, first, second)
        terms.append(operand)
    current = terms[0]
    for other, (left, right, shape, multiply) in zip(terms[1:], products, strict=True):
        current = multiply(_arranged(current, left), _arranged(other, right))
        if shape is not None:
            current = current.reshape(shape)
    if gone:
        current = current.sum(gone)
    return current if order is None else current.permute(order)
