"""torch.profiler: what is recorded, that nothing is when it is off, schedules, tables and files."""

import gzip
import importlib
import json
import threading
import time

import pytest

import rushlight as torch
from rushlight.profiler import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    tensorboard_trace_handler,
)
from tests.conftest import ask


def names(prof):
    return [event.name for event in prof.events()]


def test_what_is_recorded():
    class Sub(torch.Tensor):
        pass

    x = torch.ones(4, 4, requires_grad=True)
    sub = torch.ones(2).as_subclass(Sub)
    with profile(record_shapes=True, profile_memory=True, with_flops=True) as prof:
        y = (x @ x + 1).relu()
        z = torch.exp(input=x.detach())
        z[0] = z[1:2] > 2
        z += 1
        assert type(sub * 2) is Sub
        y.sum().backward()
    z *= 2
    assert names(prof) == [
        "aten::matmul", "aten::add", "aten::relu", "aten::detach", "aten::exp", "aten::index",
        "aten::gt", "aten::index_put_", "aten::add_", "aten::mul", "aten::sum", "SumBackward0",
        "ReluBackward0", "AddBackward0", "MmBackward0", "AccumulateGrad",
    ]  # fmt: skip
    product, exp = prof.events()[0], prof.events()[4]
    assert product.input_shapes == [[4, 4], [4, 4]] and product.flops == 128
    assert exp.input_shapes == [[4, 4]] and exp.cpu_memory_usage == 64
    assert prof.events()[8].cpu_memory_usage == 0  # in place
    assert all(event.cpu_time_total > 0 for event in prof.events())


def test_times_are_measured():
    x = torch.rand(400, 400)
    with profile() as prof:
        began = time.perf_counter()
        with record_function("all"):
            with record_function("inner"):
                x @ x
            x @ x
        took = (time.perf_counter() - began) * 1e6
    outer, inner, first, second = prof.events()
    assert [outer.name, inner.name, first.name] == ["all", "inner", "aten::matmul"]
    assert inner.cpu_parent is outer and first.cpu_parent is inner and second.cpu_parent is outer
    assert 0 < first.cpu_time_total <= inner.cpu_time_total <= outer.cpu_time_total <= took
    assert outer.self_cpu_time_total == pytest.approx(
        outer.cpu_time_total - inner.cpu_time_total - second.cpu_time_total
    )
    average = {a.key: a for a in prof.key_averages()}["aten::matmul"]
    assert average.count == 2
    assert average.cpu_time_total == first.cpu_time_total + second.cpu_time_total


def test_tables_and_files(tmp_path):
    with profile(record_shapes=True, with_stack=True) as prof:
        torch.ones(3).exp()
        torch.ones(4).exp()
    table = prof.key_averages(group_by_input_shape=True).table(
        sort_by="self_cpu_time_total", row_limit=3, header="mine", max_name_column_width=8
    )
    for word in ("mine", "Self CPU %", "aten:...", "# of Calls", "Input Shapes", "[[3]]"):
        assert word in table
    assert len(prof.key_averages(group_by_stack_n=1)) == 4
    with pytest.raises(AttributeError, match="sort_by is one of"):
        prof.key_averages().table(sort_by="nothing")
    prof.add_metadata("who", "me")
    for file, opened in (("trace.json", open), ("trace.json.gz", gzip.open)):
        prof.export_chrome_trace(str(tmp_path / file))
        with opened(tmp_path / file, "rt") as text:
            trace = json.load(text)
        assert [e["name"] for e in trace["traceEvents"]] == names(prof) and trace["who"] == "me"
        assert "test_profiler.py" in trace["traceEvents"][0]["args"]["Call stack"]
    prof.export_stacks(str(tmp_path / "stacks"))
    assert ";aten::exp " in (tmp_path / "stacks").read_text()


def test_virtual_gpus_are_labelled(virtual_gpus):
    x = torch.ones(64, 64, device="cuda:1")
    with profile(profile_memory=True) as prof:
        y = x @ x
        torch.ones(2) + 1
    event = prof.events()[0]
    assert event.device_index == 1 and event.device_time_total == event.cpu_time_total
    assert event.device_memory_usage >= 64 * 64 * 4 and event.cpu_memory_usage == 0
    assert prof.events()[-1].device_time_total == 0
    assert "virtual GPUs, which compute on the CPU" in prof.key_averages().table()
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        y @ y
    assert "CUDA" not in prof.key_averages().table()


@pytest.mark.filterwarnings("ignore:Profiler won't be using warmup")
def test_schedule():
    def plan(t, *args, **kwargs):
        made = importlib.import_module(t.__name__ + ".profiler").schedule(**kwargs)
        return [made(step).name for step in range(20)]

    for kwargs in (
        {"wait": 1, "warmup": 1, "active": 2},
        {"wait": 1, "warmup": 1, "active": 2, "repeat": 2},
        {"wait": 0, "warmup": 0, "active": 1, "skip_first": 3},
        {"wait": 2, "warmup": 0, "active": 3, "repeat": 1, "skip_first": 1},
        {"wait": 2, "warmup": 1, "active": 3, "repeat": 2, "skip_first_wait": 1},
        {"wait": 2, "warmup": 1, "active": 3, "skip_first": 2, "skip_first_wait": 1},
    ):
        assert plan(torch, **kwargs) == ask(lambda t, kwargs=kwargs: plan(t, **kwargs))
    with pytest.raises(AssertionError, match="Invalid profiler schedule"):
        schedule(wait=0, warmup=0, active=0)


def test_steps(tmp_path):
    ready = []
    handler = tensorboard_trace_handler(str(tmp_path / "log"), "worker")

    def on_ready(prof):
        ready.append((prof.step_num, names(prof)))
        handler(prof)

    plan = schedule(wait=1, warmup=1, active=2, repeat=2)
    with profile(schedule=plan, on_trace_ready=on_ready) as prof:
        for step in range(10):
            torch.ones(2) * step
            prof.step()
    steps = [["ProfilerStep#2", "ProfilerStep#3"], ["ProfilerStep#6", "ProfilerStep#7"]]
    assert [[n for n in found if n.startswith("Profiler")] for _, found in ready] == steps
    assert [found.count("aten::mul") for _, found in ready] == [2, 2]
    assert len(list((tmp_path / "log").iterdir())) == 2
    ready.clear()
    with profile(on_trace_ready=on_ready):
        torch.ones(2)
    assert len(ready) == 1


def test_as_torch_counts_calls():
    def count(t):
        module = importlib.import_module(t.__name__ + ".profiler")
        x = t.ones(3, 4, requires_grad=True)
        cpu = [module.ProfilerActivity.CPU]
        with module.profile(activities=cpu) as prof, module.record_function("block"):
            (x * 2).relu().sum()
            t.exp(x)
        averages = {a.key: a.count for a in prof.key_averages()}
        return [averages.get(n) for n in ("block", "aten::mul", "aten::relu", "aten::exp")]

    assert count(torch) == ask(count)


def test_threads_and_errors():
    def work():
        torch.ones(2) + 1

    with profile() as prof:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        with pytest.raises(RuntimeError):
            torch.ones(2) @ torch.ones(3)
    assert len({event.thread for event in prof.events()}) == 2
    assert names(prof)[-1] == "aten::matmul"
    with pytest.raises(ZeroDivisionError), profile():
        1 / 0
    with profile(), pytest.raises(RuntimeError, match="another profiler is on"), profile():
        pass
    assert not torch._C._is_profiling()


def test_stopped_within_a_call():
    x = torch.ones(2, requires_grad=True)
    prof = profile()
    prof.start()

    def hook(grad):
        prof.stop()
        again.start()

    again = profile()
    y = x.exp()
    y.register_hook(hook)
    y.sum().backward()
    again.stop()
    assert "aten::exp" in names(prof) and "aten::exp" not in names(again)


def test_old_profiler():
    with torch.autograd.profiler.profile(use_cuda=False, record_shapes=True) as prof:
        torch.ones(2).exp()
    assert prof.key_averages()[1].key == "aten::exp" and "aten::exp" in str(prof)
    assert prof.total_average().count == 2 and prof.self_cpu_time_total > 0
    with torch.autograd.profiler.profile(enabled=False) as prof:
        torch.ones(2)
    assert str(prof).startswith("<unfinished")
    with pytest.raises(RuntimeError, match="didn't finish"):
        prof.key_averages()

    @record_function("named")
    def named(a):
        return a + 1

    with profile() as prof:
        named(torch.ones(1))
    assert names(prof)[0] == "named" or "named" in names(prof)


def test_actions():
    assert ProfilerAction.RECORD_AND_SAVE.value == 3
    for wrong in (
        {"schedule": 5}, {"activities": []}, {"activities": ["CPU"]}, {"on_trace_ready": 1},
    ):  # fmt: skip
        with pytest.raises((TypeError, AssertionError)):
            profile(**wrong)
    with pytest.raises(TypeError, match="must return a ProfilerAction"):
        profile(schedule=lambda step: 7)
    with pytest.raises(TypeError):
        record_function(5)


def test_marks_by_the_operations_of_torch_ops():
    marks = torch.ops.profiler
    with torch.autograd.profiler.profile() as profiled:
        for enter in (marks._record_function_enter, marks._record_function_enter_new):
            mark = enter("block", None)
            torch.ones(2).exp()
            marks._record_function_exit(mark)
    names = [event.name for event in profiled.function_events]
    assert names.count("block") == 2 and names.count("aten::exp") == 2
    with pytest.raises(AttributeError):
        marks.nothing


def test_measurements_in_a_table():
    benchmark = torch.utils.benchmark
    assert [each.name for each in benchmark.Language] == ["PYTHON", "CPP"]
    made = [
        benchmark.Measurement(1, [n * 2e-6, n * 2.5e-6], "ops", row, column, n)
        for n in (1, 2)
        for row in ("4x4", "64x64")
        for column in ("add", "multiply")
    ]
    table = benchmark.Compare(made[:-1])
    table.extend_results([benchmark.Measurement(1, [0.5])])
    lines = str(table).splitlines()
    assert lines[1].split() == ["|", "add", "|", "multiply"]
    assert lines[3].split() == ["4x4", "|", "2.2", "|", "2.2"]
    assert lines[-5].strip() == "|" and "milliseconds (ms)" in str(table)
    threads = [line[:10] for line in lines if "threads" in line]
    assert threads == ["1 threads:", "2 threads:", "1 threads:"]
    table.trim_significant_figures()
    table.colorize()
    assert "\033[92m" in str(table) and "2.2" not in str(table)
    assert str(benchmark.Compare([])) == ""
    with pytest.raises(ValueError, match="Expected an instance"):
        benchmark.Compare([5])
