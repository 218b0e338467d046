"""`__torch_function__`: properties, questions to one tensor, switches, modes, torch.overrides."""

import pytest

import rushlight
import rushlight.nn.functional
from tests.conftest import ask
from tests.core.overriding import kinds, name, recorder

PROPERTIES = (
    "shape dtype device grad requires_grad is_leaf data T ndim layout is_cuda grad_fn _version "
    "_base itemsize nbytes real output_nr retains_grad is_meta"
).split()


@pytest.mark.parametrize("prop", PROPERTIES)
def test_properties_are_taken_over(prop):
    def scenario(torch):
        kind = recorder(torch, torch.Tensor)
        x = torch.ones(2).as_subclass(kind)
        result = getattr(x, prop)
        getter = getattr(torch.Tensor, prop).__get__
        return [*result[:3], kind.calls[-1] == getter, kind.calls[-1] in {getter}]

    assert scenario(rushlight) == ask(scenario)


def test_setting_and_deleting_a_property():
    def scenario(torch):
        kind = recorder(torch, torch.Tensor)
        x = torch.ones(2).as_subclass(kind)
        x.grad = None
        x.requires_grad = True
        del x.grad
        x[0] = 1
        return [name(c) for c in kind.calls]

    assert scenario(rushlight) == ask(scenario)


def test_questions_to_one_tensor():
    def scenario(torch):
        calls = []

        class Kind(torch.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                calls.append(name(func))
                return super().__torch_function__(func, types, args, kwargs)

        x = torch.arange(3).as_subclass(Kind)
        one = torch.tensor([2]).as_subclass(Kind)
        results = [len(x), bool(one), int(one), float(one), list(range(5))[one], 2 in x]
        results += [kinds(list(x)), kinds(torch.nn.Parameter(torch.ones(1)) + 1), f"{one.sum()}"]
        calls[:] = [c for c in calls if c != "dim"]  # torch's iteration reads it
        return [results, calls]

    assert scenario(rushlight) == ask(scenario)


def test_answers_that_are_no_answers():
    kind = type("Kind", (rushlight.Tensor,), {"__torch_function__": classmethod(lambda *a: "text")})
    x = rushlight.ones(2).as_subclass(kind)
    for call, error in ((len, TypeError), (int, TypeError), (float, TypeError)):
        with pytest.raises(error):
            call(x)
    assert bool(x) is True and list(x) == list("text")
    kind.__torch_function__ = classmethod(lambda *a: -3)
    with pytest.raises(ValueError, match="should return >= 0"):
        len(x)
    with pytest.raises(TypeError):
        iter(x)


def test_switches():
    def scenario(torch):
        kind = recorder(torch, torch.Tensor)
        x = torch.ones(2).as_subclass(kind)
        has = torch.overrides.has_torch_function
        seen = [has([x]), has((1, torch.ones(1))), torch._C._is_torch_function_enabled()]
        with torch._C.DisableTorchFunctionSubclass():
            seen += [has([x]), kinds(x + 1), torch._C._is_torch_function_enabled()]
            with torch._C.DisableTorchFunction():
                seen += [kinds(torch.add(x, 1)), torch._C._is_torch_function_all_disabled()]
            seen += [torch._C._is_torch_function_all_disabled(), kinds(x.shape), kinds(x[0])]
        try:
            with torch._C.DisableTorchFunctionSubclass():
                raise ValueError
        except ValueError:
            seen.append(has([x]))
        return seen

    assert scenario(rushlight) == ask(scenario)


def test_modes_see_all_calls():
    def scenario(torch):
        log = []

        class Mode(torch.overrides.TorchFunctionMode):
            def __init__(self, title):
                self.title = title

            def __torch_function__(self, func, types, args=(), kwargs=None):
                kinds_of = [t.__name__ for t in types if t is not torch.Tensor]
                log.append([self.title, name(func), kinds_of])
                return func(*args, **(kwargs or {}))

        class Sub(torch.Tensor):
            pass

        sub = torch.ones(2).as_subclass(Sub)
        with Mode("outer") as outer:
            x = torch.zeros(2)
            with Mode("inner"):
                y = x + 1
                torch.tensor([1.0])
                torch.nn.functional.linear(torch.ones(1, 2), torch.ones(3, 2))
                with torch._C.DisableTorchFunctionSubclass():
                    x.sum()
                with torch._C.DisableTorchFunction():
                    x.mean()
                x.add_(1)
                y[0] = 2
                x.shape
                torch.add(sub, 1)
            assert torch.overrides._get_current_function_mode() is outer
            assert torch.overrides._get_current_function_mode_stack() == [outer]
        x.sum()
        assert torch.overrides._get_current_function_mode() is None
        return log

    assert scenario(rushlight) == ask(scenario)


def test_modes_that_fail():
    def scenario(torch):
        class Mode(torch.overrides.TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                if func is torch.ones:
                    raise KeyError("mine")
                return NotImplemented

        seen = []
        for call in (lambda: torch.ones(1), lambda: torch.zeros(1)):
            try:
                with Mode():
                    call()
            except (KeyError, TypeError) as e:
                seen.append([type(e).__name__, str(e).split("\n")[0]])
        try:
            with torch.overrides.TorchFunctionMode():
                torch.ones(1)
        except NotImplementedError:
            seen.append("abstract")
        with torch.overrides.BaseTorchFunctionMode():
            seen.append(torch.ones(2).tolist())
        return seen

    assert scenario(rushlight) == ask(scenario)


def test_hostile_modes():
    torch = rushlight
    with pytest.raises(RuntimeError, match="no torch function mode"):
        torch._C._pop_torch_function_stack()

    class Pops(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            with pytest.raises(RuntimeError):
                torch._C._pop_torch_function_stack()
            return 3

    with Pops():
        assert torch.ones(1) == 3
    torch._C._push_on_torch_function_stack(5)  # no mode at all
    try:
        with pytest.raises(AttributeError):
            torch.ones(1)
    finally:
        assert torch._C._pop_torch_function_stack() == 5
    assert torch.ones(1).tolist() == [1]

    class Enters(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            with self:
                return func(*args)

    with Enters(), pytest.raises(RecursionError):
        torch.ones(1)


def test_functions_in_python_take_part():
    def scenario(torch):
        o = torch.overrides

        def double(x, y=1):
            if o.has_torch_function_variadic(x, y):
                return o.handle_torch_function(double, (x, y), x, y=y)
            return 2 * x

        @o.wrap_torch_function(lambda x: (x,))
        def wrapped(x):
            return x

        kind = recorder(torch)
        none = type("None_", (), {"__torch_function__": classmethod(lambda *a: NotImplemented)})
        seen = [double(kind(), 2), double(torch.ones(1)).tolist(), wrapped(kind()), wrapped(3)]
        seen += [o.has_torch_function_unary(kind()), o.has_torch_function_unary(torch.ones(1))]
        try:
            wrapped(none())
        except TypeError as e:
            seen.append(str(e).partition("on types")[0].split("'")[0])
        return seen

    assert scenario(rushlight) == ask(scenario)


def test_redispatch():
    def scenario(torch):
        calls = []

        class Logging(torch.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args, kwargs=None):
                calls.append(name(func))
                return torch.overrides.redispatch_function(func, types, args, kwargs)

        def scaled(a, b):
            if torch.overrides.has_torch_function((a, b)):
                return torch.overrides.handle_torch_function(scaled, (a, b), a, b)
            return a * b + 1

        x = torch.tensor([3.0]).as_subclass(Logging)
        return [kinds(scaled(x, x)), calls]

    assert scenario(rushlight) == ask(scenario)


def test_what_torch_overrides_says():
    def scenario(torch):
        o = torch.overrides
        kind = recorder(torch)
        functions = [
            torch.add, torch.Tensor.add, torch.Tensor.shape.__get__, torch.nn.functional.relu,
            torch.linalg.norm, torch.special.zeta, torch.Tensor.__getitem__, torch.cat, len, {},
        ]  # fmt: skip
        dummies = o.get_testing_overrides()
        return [
            [o.resolve_name(f) for f in functions[:-1]],
            [o.is_tensor_method_or_property(f) for f in functions[:4]],
            [o.is_tensor_like(x) for x in (kind, kind(), torch.ones(1), torch.Tensor, 3)],
            [f in dummies for f in functions[:8]],
            dummies[torch.add](1, 2),
            [f in o.get_ignored_functions() for f in (torch.zeros, torch.tensor, torch.add)],
            torch.add in o.get_overridable_functions()[torch],
            torch.Tensor.add in o.get_overridable_functions()[torch.Tensor],
            [torch.is_tensor(kind()), torch.is_storage(kind()), torch.typename(kind()) is None],
            [o.has_torch_function([x]) for x in (kind(), torch.ones(1), 3)],
            o.has_torch_function([torch.nn.Parameter(torch.ones(1))]),
        ]

    assert scenario(rushlight) == ask(scenario)


def test_every_overridable_function_is_taken_over():
    """Whatever the table has: each of its functions and methods, called with a class's tensor."""
    torch = rushlight

    class Taker(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func

    x = torch.ones(2).as_subclass(Taker)
    missed = []
    for functions in torch.overrides.get_overridable_functions().values():
        for function in functions:
            try:
                taken = function(x)
            except Exception as e:
                taken = e
            if taken is not function and taken != function:
                missed.append(torch.overrides.resolve_name(function))
    assert [n for n in missed if ".__" not in n] == []  # those of operators are other methods


def test_gradients_flow_through_a_subclass():
    def scenario(torch):
        class Sub(torch.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                return super().__torch_function__(func, types, args, kwargs)

        x = torch.tensor([1.0, 2.0]).as_subclass(Sub).requires_grad_()
        y = torch.nn.functional.softmax(x * x, dim=0)[0] + torch.stack([x, x]).sum()
        y.backward()
        return [kinds(x.grad), [round(v, 5) for v in x.grad.tolist()], kinds(y)]

    assert scenario(rushlight) == ask(scenario)


def test_a_result_that_holds_itself():
    class Sub(rushlight.Tensor):
        pass

    endless = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        Sub.__torch_function__(lambda: endless, (), ())
    with pytest.raises(TypeError):
        Sub.__torch_function__()
    with pytest.raises(TypeError):
        Sub.__torch_function__(len, 3, ())
    with pytest.raises(TypeError):
        Sub.__torch_function__(len, (), (), 5)


def test_threads_have_modes_of_their_own():
    import threading

    torch = rushlight
    failed = []

    class Mode(torch.overrides.BaseTorchFunctionMode):
        pass

    def work():
        try:
            for _ in range(100):
                kind = type("K", (torch.Tensor,), {"__torch_function__": classmethod(lambda *a: 3)})
                x = torch.ones(2).as_subclass(kind)
                assert torch.add(x, 1) == 3 and x.sum() == 3 and x + 1 == 3
                with Mode() as mode:
                    assert (torch.ones(2) + 1).tolist() == [2, 2]
                    assert torch.overrides._get_current_function_mode_stack() == [mode]
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_a_class_that_is_assigned():
    torch = rushlight
    kind = type("K", (torch.Tensor,), {"__torch_function__": classmethod(lambda *a: "taken")})
    x = torch.ones(2)
    x.__class__ = kind
    assert x + 1 == "taken" and x.sum() == "taken" and x.shape == "taken"


def test_copies_are_of_the_class():
    def scenario(torch):
        class Sub(torch.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                return super().__torch_function__(func, types, args, kwargs)

        x = torch.ones(2).as_subclass(Sub)
        results = [x.detach(), x.to(torch.float64), x.clone(), x.numpy(), x[:1]]
        return [kinds(r) for r in results] + [x.tolist(), kinds(x.as_subclass(torch.Tensor))]

    assert scenario(rushlight) == ask(scenario)


def test_functions_that_make_tensors_have_names():
    """They cannot be taken over, but a program that logs its calls asks for them too."""
    o = rushlight.overrides
    assert o.resolve_name(rushlight.ones) == "torch.ones"
    assert o.resolve_name(rushlight.from_numpy) == "torch.from_numpy"
    assert o.resolve_name(rushlight.Tensor.new_ones) == "torch.Tensor.new_ones"
    assert o.resolve_name(len) is None
    assert not o.is_tensor_method_or_property(rushlight.Tensor.new_ones)
    assert rushlight.ones not in o.get_testing_overrides()
