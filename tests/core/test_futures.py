"""torch.futures: values, errors and the order of callbacks, as torch's."""

import threading

import rushlight
from tests.conftest import ask


def outcome(call):
    try:
        return call()
    except Exception as error:
        return [type(error).__name__, str(error).splitlines()[0]]


def everything(torch):
    Future, found = torch.futures.Future, []

    def note(call):
        found.append(outcome(call))

    f = Future()
    seen = []
    f.add_done_callback(lambda f: seen.append(f.value()))
    doubled = f.then(lambda f: f.value() * 2).then(lambda f: f.value() * 2)
    found.append([f.done(), doubled.done()])
    f.set_result(3)
    found.append([f.done(), doubled.done(), doubled.wait(), f.value(), f.wait(), seen])
    note(lambda: f.set_result(4))
    spent = Future()  # torch's is of no more use after this
    spent.set_result(0)
    note(lambda: spent.set_exception(ValueError("no")))
    note(lambda: Future().set_exception(3))
    g = Future()
    g.set_exception(ValueError("lost"))
    for call in (g.done, g.wait, g.value, g.then(lambda f: f.value()).wait):
        note(call)
    note(f.then(lambda f: 1 / 0).value)
    note(f.then(lambda f: None).wait)
    h = Future()
    both = torch.futures.collect_all([f, h])
    found.append(both.done())
    h.set_result("x")
    found.append([both.done(), [each.value() for each in both.wait()]])
    note(lambda: torch.futures.wait_all([f, h]))
    note(lambda: torch.futures.wait_all([f, g]))
    note(lambda: torch.futures.wait_all([]))
    found.append(outcome(lambda: f.then(3))[0])
    found.append(outcome(lambda: Future().value())[0])
    found.append(outcome(lambda: Future([]))[0])
    note(lambda: Future(devices=["cpu"]))
    late = Future()
    threading.Timer(0.05, late.set_result, [5]).start()
    note(late.wait)
    return found


def test_futures(reference):
    assert everything(rushlight) == ask(everything)


def test_a_failing_callback_is_printed_and_the_next_one_called(capsys):
    f, seen = rushlight.futures.Future(), []
    f.add_done_callback(lambda f: 1 / 0)
    f.add_done_callback(lambda f: seen.append(f.value()))
    f.set_result(1)
    assert seen == [1] and "ZeroDivisionError" in capsys.readouterr().err
    f.add_done_callback(lambda f: seen.append(2))
    assert seen == [1, 2] and rushlight.futures.Future[int]
