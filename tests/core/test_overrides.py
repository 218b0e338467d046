"""`__torch_function__`: what a class that takes calls over is given, against torch."""

import pytest

import rushlight
import rushlight.nn.functional
from tests.conftest import ask
from tests.core.overriding import kinds, name, recorder

CALLS = {
    "add": lambda torch, x, a: torch.add(x, a),
    "add with a keyword": lambda torch, x, a: torch.add(x, other=a),
    "method": lambda torch, x, a: x.add(a),
    "in place": lambda torch, x, a: x.add_(a),
    "sum": lambda torch, x, a: torch.sum(a, dim=0),
    "max": lambda torch, x, a: torch.max(a, 0),
    "cat": lambda torch, x, a: torch.cat([x, a]),
    "stack": lambda torch, x, a: torch.stack((x, a), dim=0),
    "where": lambda torch, x, a: torch.where(x > 0, a, x),
    "matmul": lambda torch, x, a: torch.matmul(x, a),
    "cumsum": lambda torch, x, a: torch.cumsum(a, dim=0),
    "cumsum in place": lambda torch, x, a: x.cumsum_(a),
    "alpha": lambda torch, x, a: torch.add(x, 1, alpha=a),
    "out": lambda torch, x, a: torch.add(x, 1, out=a),
    "a size": lambda torch, x, a: torch.zeros(a),
    "view": lambda torch, x, a: x.view(a),
    "key": lambda torch, x, a: x[a],
    "keys": lambda torch, x, a: x[0:1, a],
    "clamp": lambda torch, x, a: torch.clamp(x, a, 2),
    "a + b": lambda torch, x, a: x + a,
    "a - b": lambda torch, x, a: x - a,
    "a @ b": lambda torch, x, a: x @ a,
    "a / b": lambda torch, x, a: x / a,
    "a % b": lambda torch, x, a: x % a,
    "a ** b": lambda torch, x, a: x**a,
    "a < b": lambda torch, x, a: x < a,
    "a == b": lambda torch, x, a: x == a,
    "einsum": lambda torch, x, a: torch.einsum("i->i", a),
}


def outcome(call):
    try:
        return call()
    except Exception as e:
        return [type(e).__name__, str(e).split("\n")[0]]


@pytest.mark.parametrize("call", CALLS)
def test_another_class_takes_a_call_over(call):
    def scenario(torch):
        result = outcome(lambda: CALLS[call](torch, torch.ones(2), recorder(torch)()))
        return result if call != "a ** b" else [result[0], result[2]]  # torch's types name Tensor

    assert scenario(rushlight) == ask(scenario)


def test_the_first_call_of_a_program_is_taken_over():
    import subprocess
    import sys

    program = """
import rushlight as torch, rushlight.nn.functional as F
class A:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func
x = torch.ones(2)
assert {call}
"""
    calls = [
        "torch.add(x, A()) is torch.add",
        "torch.sum(A(), 0) is torch.sum",
        "torch.cat([x, A()]) is torch.cat",
        "x.cumsum_(A()) is torch.Tensor.cumsum_",
        "x + A() is torch.Tensor.add",
        "x[A()] is torch.Tensor.__dict__['__getitem__']",
        "F.relu(A()) is F.relu",
        "(x < A()) is torch.Tensor.lt",
        "2 - x.as_subclass(torch.nn.Parameter) is not None",
    ]
    processes = [
        subprocess.Popen([sys.executable, "-c", program.format(call=call)], stderr=subprocess.PIPE)
        for call in calls
    ]
    for call, process in zip(calls, processes, strict=True):
        error = process.communicate()[1].decode()
        assert process.returncode == 0, (call, error)


OPERATORS = {
    "x + 1": lambda x, y: x + 1, "1 + x": lambda x, y: 1 + x, "y + x": lambda x, y: y + x,
    "x - 1": lambda x, y: x - 1, "1 - x": lambda x, y: 1 - x, "x * y": lambda x, y: x * y,
    "x @ y": lambda x, y: x @ y, "x / 2": lambda x, y: x / 2, "x % 2": lambda x, y: x % 2,
    "2 % x": lambda x, y: 2 % x, "x ** 2": lambda x, y: x**2, "2 ** x": lambda x, y: 2**x,
    "x & y": lambda x, y: x & y, "1 & x": lambda x, y: 1 & x, "x | y": lambda x, y: x | y,
    "x ^ y": lambda x, y: x ^ y, "x << 1": lambda x, y: x << 1, "1 << x": lambda x, y: 1 << x,
    "x >> 1": lambda x, y: x >> 1, "x // 2": lambda x, y: x // 2, "2 // x": lambda x, y: 2 // x,
    "-x": lambda x, y: -x, "+x": lambda x, y: +x, "abs(x)": lambda x, y: abs(x),
    "~x": lambda x, y: ~x, "x < y": lambda x, y: x < y, "y < x": lambda x, y: y < x,
    "x == y": lambda x, y: x == y, "x != 1": lambda x, y: x != 1, "x >= 1": lambda x, y: x >= 1,
    "x[0]": lambda x, y: x[0], "y[x]": lambda x, y: y[x],
}  # fmt: skip


@pytest.mark.parametrize("call", OPERATORS)
def test_operators_of_a_subclass(call):
    def scenario(torch):
        kind = recorder(torch, torch.Tensor)
        x = torch.arange(3).as_subclass(kind)
        result = OPERATORS[call](x, torch.arange(3))
        return [result[0], result[2]]

    assert scenario(rushlight) == ask(scenario)


def test_subclasses_come_before_their_bases():
    def scenario(torch):
        log = []

        def kind(title, *bases):
            def handler(cls, func, types, args=(), kwargs=None):
                log.append([title, sorted(t.__name__ for t in types)])
                return NotImplemented

            return type(title, bases, {"__torch_function__": classmethod(handler)})

        a, other = kind("A", object), kind("Other", object)
        b = kind("B", a)
        c = kind("C", torch.Tensor)
        tensor = torch.ones(2)
        try:
            torch.cat([a(), other(), tensor.as_subclass(c), b()])
        except TypeError as e:
            log.append(str(e).split("\n")[0])
        return log

    assert scenario(rushlight) == ask(scenario)


def test_default_of_tensor_keeps_the_class():
    def scenario(torch):
        calls = []

        class Sub(torch.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                calls.append(name(func))
                return super().__torch_function__(func, types, args, kwargs)

        x = torch.arange(6.0).reshape(2, 3).as_subclass(Sub)
        values, indices = x.max(dim=1)
        results = [
            x + 1, torch.sum(x), x[0], x.t(), values, indices, torch.stack([x, x]), x.tolist(),
            x.split(1), torch.nn.functional.relu(x), torch.ones(2, 3) * x, 2 - x, x.size(0),
        ]  # fmt: skip
        x += 1
        results.append(x)
        return [[kinds(r) for r in results], [c for c in calls if c not in ("__rsub__", "rsub")]]

    mine, theirs = scenario(rushlight), ask(scenario)
    assert mine[0] == theirs[0]
    assert mine[1] == theirs[1]


def test_metadata_tensor():
    """torch's documentation: a tensor-like that keeps a word beside its data."""

    def scenario(torch):
        class MetadataTensor:
            def __init__(self, data, metadata=None, **kwargs):
                self._t = torch.as_tensor(data, **kwargs)
                self._metadata = metadata

            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                if kwargs is None:
                    kwargs = {}
                metadatas = tuple(a._metadata for a in args if hasattr(a, "_metadata"))
                args = [getattr(a, "_t", a) for a in args]
                ret = func(*args, **kwargs)
                return MetadataTensor(ret, metadata=metadatas[0])

        data = MetadataTensor([[1.0, 2], [3, 4]], metadata="owner")
        other = torch.ones(2, 2)
        total = torch.add(data, other)
        product = torch.mul(other, data)
        return [total._t.tolist(), total._metadata, product._t.tolist(), product._metadata]

    assert scenario(rushlight) == ask(scenario)


def test_scalar_tensor():
    """torch's documentation: functions that a class registers handlers for."""

    def scenario(torch):
        handled = {}

        def implements(function):
            def decorate(handler):
                handled[function] = handler
                return handler

            return decorate

        class ScalarTensor:
            def __init__(self, n, value):
                self._n, self._value = n, value

            def tensor(self):
                return self._value * torch.eye(self._n)

            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                if func not in handled or not all(
                    issubclass(t, (torch.Tensor, ScalarTensor)) for t in types
                ):
                    return NotImplemented
                return handled[func](*args, **(kwargs or {}))

        @implements(torch.mean)
        def mean(input):
            return float(input._value) / input._n

        def ensure_tensor(data):
            return data.tensor() if isinstance(data, ScalarTensor) else torch.as_tensor(data)

        @implements(torch.add)
        def add(input, other):
            if isinstance(input, ScalarTensor) and isinstance(other, ScalarTensor):
                return ScalarTensor(input._n, input._value + other._value).tensor()
            return torch.add(ensure_tensor(input), ensure_tensor(other))

        d = ScalarTensor(2, 2)
        results = [torch.mean(d), torch.add(d, d).tolist(), torch.add(d, torch.ones(2)).tolist()]
        try:
            torch.mul(d, 3)
        except TypeError as e:
            results.append(str(e).split("\n")[0])
        return results

    assert scenario(rushlight) == ask(scenario)


def test_a_handler_that_is_no_classmethod_warns():
    def scenario(torch):
        class Plain:
            def __torch_function__(self, func, types, args=(), kwargs=None):
                return 5

        with pytest.warns(UserWarning, match="plain method is deprecated"):
            return torch.add(Plain(), 1)

    assert scenario(rushlight) == ask(scenario)


# ---- no class may end the process


def hostile(handler, base=object):
    return type("Hostile", (base,), {"__torch_function__": handler})


@pytest.mark.parametrize("base", [object, rushlight.Tensor])
def test_hostile_handlers(base):
    torch = rushlight

    def recurses(cls, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))

    def raises(cls, *args):
        raise KeyError("mine")

    bad = [
        (classmethod(recurses), RecursionError), (classmethod(raises), KeyError),
        (staticmethod(torch.add), (TypeError, RecursionError)), (5, TypeError), (None, TypeError),
        (property(lambda self: 1 / 0), ZeroDivisionError), (classmethod(len), TypeError),
        (staticmethod(torch.cat), (TypeError, RecursionError)),
    ]  # fmt: skip
    for handler, error in bad:
        kind = hostile(handler, base)
        x = kind()
        y = torch.ones(2)
        for call, args in ((torch.add, (y, x)), (torch.cat, ([y, x],)), (y.mul, (x,))):
            with pytest.raises(error):
                call(*args)
        with pytest.raises((TypeError, ZeroDivisionError, RecursionError, KeyError)):
            y + x


def test_rubbish_from_a_handler_is_the_result():
    torch = rushlight
    for rubbish in (None, 3, "text", [], object):
        kind = hostile(classmethod(lambda *a, r=rubbish: r), torch.Tensor)
        x = torch.ones(2).as_subclass(kind)
        assert torch.add(x, 1) is rubbish and x.sum() is rubbish and x[0] is rubbish
        assert -x is rubbish and x + 1 is rubbish


def test_a_handler_that_empties_the_list_it_is_called_with():
    torch = rushlight

    class Kind:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            args[0].clear()
            return NotImplemented

    for n in (1, 5):
        with pytest.raises(TypeError, match=r"Multiple dispatch failed for 'torch\.cat'"):
            torch.cat([Kind() for _ in range(n)] + [torch.ones(2)])


def test_metaclasses_run_nothing():
    torch = rushlight

    class Meta(type):
        def __getattribute__(cls, name):
            if name == "__torch_function__":
                raise SystemError("looked at")
            return super().__getattribute__(name)

        def __instancecheck__(cls, o):
            raise SystemError("instance")

        def __subclasscheck__(cls, o):
            raise SystemError("subclass")

    class Kind(metaclass=Meta):
        pass

    with pytest.raises(TypeError, match="must be Tensor"):
        torch.add(torch.ones(2), Kind())

    class Taker(metaclass=Meta):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return 7

    assert torch.add(torch.ones(2), Taker()) == 7


def test_classes_that_change_and_classes_that_die():
    torch = rushlight
    x = torch.ones(2)

    class Kind:
        pass

    with pytest.raises(TypeError):
        torch.add(x, Kind())
    Kind.__torch_function__ = classmethod(lambda *a: 1)
    assert torch.add(x, Kind()) == 1
    Kind.__torch_function__ = classmethod(lambda *a: 2)
    assert torch.add(x, Kind()) == 2
    del Kind.__torch_function__
    with pytest.raises(TypeError):
        torch.add(x, Kind())
    for i in range(2000):
        has = i % 2 == 0
        kind = type("K", (), {"__torch_function__": classmethod(lambda *a: 3)} if has else {})
        if has:
            assert torch.add(x, kind()) == 3
        else:
            with pytest.raises(TypeError):
                torch.add(x, kind())


def test_functions_stay_keys_of_a_dictionary():
    """Tables of overridden functions are made before the first call is handed over."""
    table = {
        f: f.__name__
        for f in (rushlight.stack, rushlight.mean, rushlight.add, rushlight.Tensor.mean)
    }
    table[rushlight.nn.functional.relu] = "relu"

    class Found:
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return table.get(function)

    for _ in range(2):
        assert rushlight.mean(Found()) == "mean" and rushlight.stack([Found()]) == "stack"
        with rushlight.overrides.TorchFunctionMode():
            assert table[rushlight.add] == "add" and table[rushlight.nn.functional.relu] == "relu"
    assert {rushlight.mean: 1}[rushlight.mean] == 1 and rushlight.mean != rushlight.add
    before = [hash(f) for f in table]
    with rushlight.profiler.profile():
        assert before == [hash(f) for f in table]
