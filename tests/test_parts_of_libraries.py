"""Parts of torch's own code that libraries and copies of its modules import: what they compute."""

import base64
import io
import pickle
import struct
import warnings

import pytest

import rushlight
from tests.conftest import ask

# What names are there, and what they give for everyday arguments.
CALLS = [
    "nn.modules.utils._reverse_repeat_tuple((1, 2), 2)",
    "nn.modules.utils._list_with_default([None, 3], [7, 8, 9])",
    "nn.modules.utils._list_with_default([1, 2], [7, 8])",
    "len(nn.modules.transformer._get_clones(nn.ReLU(), 3))",
    "nn.modules.transformer._get_activation_fn('gelu')(T.ones(1))",
    "nn.modules.transformer._get_activation_fn('x')",
    "nn.modules.transformer._generate_square_subsequent_mask(2)",
    "nn.modules.transformer._detect_is_causal_mask(T.full((2, 2), float('-inf')).triu(1))",
    "nn.modules.transformer._get_seq_len(T.ones(2, 3, 4), True)",
    "nn.modules.module._addindent('a\\nb\\n\\nc', 2)",
    "nn.init._no_grad_normal_(T.empty(2), 3., 0.)",
    "nn.init._no_grad_fill_(T.empty(2), 3.)",
    "nn.init._no_grad_zero_(T.ones(2))",
    "nn.init._no_grad_uniform_(T.ones(2), 3., 3.)",
    "[x.tolist() for x in F._in_projection_packed(*[T.ones(1, 2)] * 3, T.arange(12.).view(6, 2))]",
    "[x.tolist() for x in F._in_projection_packed(T.ones(1, 2), *[T.ones(3, 2)] * 2,"
    " T.arange(12.).view(6, 2), T.arange(6.))]",
    "[x.tolist() for x in F._in_projection_packed(T.ones(1, 2), T.ones(3, 2), T.zeros(3, 2),"
    " T.arange(12.).view(6, 2), T.arange(6.))]",
    "[x.tolist() for x in F._in_projection(*[T.ones(1, 2)] * 3, *[T.ones(2, 2)] * 3)]",
    "F._in_projection(*[T.ones(1, 2)] * 3, T.ones(2, 2), T.ones(3, 2), T.ones(2, 2))",
    "F._in_projection(*[T.ones(1, 2)] * 3, *[T.ones(2, 2)] * 3, b_k=T.ones(3))",
    "nn.MultiheadAttention(4, 2, kdim=3, vdim=3)(T.ones(1, 4), T.ones(1, 2), T.ones(1, 3))",
    "F._verify_batch_size([1, 3, 1])",
    "F._verify_batch_size([2, 3, 1])",
    "F._get_softmax_dim('softmax', 3, 2)",
    "F._canonical_mask(T.tensor([True, False]), 'm', None, '', T.float32)",
    "F._canonical_mask(T.tensor([1, 0]), 'm', None, '', T.float32)",
    "F._none_or_dtype(T.ones(1)), F._none_or_dtype(None)",
    "F._pair(3), F._single(2), F._triple([1, 2, 3])",
    "F.has_torch_function((T.ones(1),))",
    "[[x.tolist() for x in y] for y in _utils._take_tensors([T.ones(2), T.ones(1).int(),"
    " T.ones(3), T.ones(9)], 20)]",
    "[x.tolist() for x in _utils._reorder_tensors_as([T.ones(1), T.zeros(1), T.ones(1).int()],"
    " [T.ones(1), T.ones(1).int(), T.ones(1)])]",
    "_utils._element_size(T.float16), _utils._element_size(T.bool), _utils._element_size(T.int8)",
    "_utils._element_size(5)",
    "type('A', (), {'x': _utils.classproperty(lambda cls: cls.__name__)}).x",
    "_utils._get_device_index('cpu', allow_cpu=True)",
    "_utils._get_device_index(2), _utils._get_device_index('cuda:1')",
    "_utils._get_device_index('cuda')",
    "optimizer._get_value(T.tensor(3.)), optimizer._get_value(2)",
    "optimizer._default_to_fused_or_foreach([T.ones(1)], False)",
    "optimizer._get_scalar_dtype(), optimizer._to_scalar(T.ones(1)), optimizer._to_scalar(2)",
    "optimizer._stack_if_compiling([1])",
    "optimizer._disable_dynamo_if_unsupported()(len)([1])",
    "mvn._batch_mv(T.arange(4.).view(2, 2), T.ones(2))",
    "mvn._batch_mahalanobis(T.tensor([[2., 0.], [1., 1.]]), T.arange(6.).view(3, 2))",
    "mvn._precision_to_scale_tril(T.tensor([[2., 1.], [1., 4.]]))",
    "kl._kl_normal_normal(D.Normal(0., 1.), D.Normal(1., 2.))",
    "(D.Normal, D.Normal) in kl._KL_REGISTRY",
    "D.transforms._InverseTransform.__name__",
    "T.jit._unwrap_optional(3)",
    "T.jit._unwrap_optional(None)",
    "nn.ParameterDict({'b': T.ones(1), 'a': T.zeros(1)}).keys().__len__()",
    "list(nn.ParameterDict({'b': T.ones(1), 'a': T.zeros(1)}))",
    "list(nn.ParameterDict(OrderedDict(b=T.ones(1), a=T.zeros(1))))",
    "list(nn.ParameterDict([('b', T.ones(1)), ('a', T.zeros(1))]))",
    "list(nn.ParameterDict(nn.ParameterDict([('b', T.ones(1)), ('a', T.zeros(1))])))",
    "list(nn.ModuleDict({'b': nn.ReLU(), 'a': nn.ReLU()}))",
    "issubclass(nn.ReflectionPad2d, nn.modules.padding._ReflectionPadNd)",
    "issubclass(nn.ZeroPad2d, nn.modules.padding._ConstantPadNd)",
    "issubclass(nn.LazyBatchNorm1d, nn.modules.batchnorm._LazyNormBase)",
    "issubclass(nn.AdaptiveAvgPool2d, nn.modules.pooling._AdaptiveAvgPoolNd)",
    "issubclass(nn.ConvTranspose2d, nn.modules.conv._ConvTransposeNd)",
    "pa.get_a_var([1, {'a': T.ones(2)}]), pa.get_a_var(3)",
    "scatter.apply",
    "loader.get_worker_info() is None and loader._collate_fn_t and loader._worker_init_fn_t",
    "jit_annotations.BroadcastingList2[int]",
    "errors.record(abs)(-3), issubclass(errors.ChildFailedError, Exception)",
    "types.FileLike, types._complex, types.IntLikeType, optimizer.ParamsT, optimizer.StateDict",
]


def answer(torch, call):
    """What a call gives: text, or the error's type and first words; and what it warns of."""
    import importlib
    from collections import OrderedDict

    def module(name):
        return importlib.import_module(f"{torch.__name__}.{name}")

    names = {
        "T": torch, "nn": torch.nn, "F": torch.nn.functional, "D": torch.distributions,
        "OrderedDict": OrderedDict, "_utils": module("_utils"), "types": module("types"),
        "optimizer": module("optim.optimizer"), "loader": module("utils.data.dataloader"),
        "mvn": module("distributions.multivariate_normal"), "kl": module("distributions.kl"),
        "pa": module("nn.parallel.parallel_apply"), "jit_annotations": module("jit.annotations"),
        "scatter": module("nn.parallel._functions").Scatter,
        "errors": module("distributed.elastic.multiprocessing.errors"),
    }  # fmt: skip
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            text = repr(eval(call, names))
        except Exception as error:
            text = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    if "scatter" in call or "types." in call or "loader" in call or "jit_annotations" in call:
        text = text[:0]  # that the name is there
    return text.replace(torch.__name__, "torch"), [str(w.message)[:50] for w in caught]


@pytest.mark.parametrize("call", CALLS)
def test_calls(call):
    ours, theirs = answer(rushlight, call), ask(lambda torch: answer(torch, call))
    assert list(ours) == list(theirs)


def pickled(text):
    return struct.pack("<I", len(text)) + text


def test_a_plain_pickle_of_torch_is_read():
    """Such as joblib and pandas write: torch.storage._load_from_bytes with a file inside."""

    def written(torch):
        x = torch.arange(6.0).view(2, 3)
        given = [x, x[1:], torch.nn.Parameter(torch.ones(2)), torch.tensor([1, 2])]
        reduce = torch.storage.TypedStorage.__reduce__
        torch.manual_seed(0)

        def named(storage):  # the file names a storage by its address: of each process another
            function, (content,) = reduce(storage)
            address = str(storage._untyped_storage._cdata).encode()
            return function, (content.replace(pickled(address), pickled(b"1")),)

        torch.storage.TypedStorage.__reduce__ = named
        try:
            data = pickle.dumps({"tensors": given, "layer": torch.nn.Linear(2, 1)})
        finally:
            torch.storage.TypedStorage.__reduce__ = reduce
        return base64.b64encode(data).decode()

    class Reader(pickle.Unpickler):  # as under `rushlight run`, where torch's names are ours
        def find_class(self, module, name):
            return super().find_class(module.replace("torch", "rushlight", 1), name)

    found = Reader(io.BytesIO(base64.b64decode(ask(written)))).load()
    x, part, parameter, whole = found["tensors"]
    assert x.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] and whole.dtype == rushlight.int64
    assert isinstance(parameter, rushlight.nn.Parameter) and parameter.tolist() == [1.0, 1.0]
    assert part.tolist() == [[3.0, 4.0, 5.0]] and part.storage_offset() == 3
    assert found["layer"](rushlight.ones(1, 2)).shape == (1, 1)


def test_module_tracker():
    def seen(torch):
        from importlib import import_module

        tracker = import_module(f"{torch.__name__}.utils.module_tracker").ModuleTracker
        net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Sequential(torch.nn.ReLU()))
        found = []
        with tracker() as t:
            net[1][0].register_forward_hook(lambda *_: found.append(sorted(t.parents)))
            out = net(torch.ones(1, 2, requires_grad=True))
            out.register_hook(lambda _: found.append((sorted(t.parents), t.is_bw)))
            net[0].weight.register_hook(lambda _: found.append(sorted(t.parents)))
            out.sum().backward()
            found.append((sorted(t.parents), t.is_bw))
        return str(found)

    assert seen(rushlight) == ask(seen)


def test_a_gradient_beside_the_output():
    """A full backward hook whose input has a gradient that did not pass the module's output."""

    def seen(torch):
        class Beside(torch.nn.Module):
            def forward(self, x):
                self.sum = (x * 3).sum()
                return x * 2

        found, net = [], Beside()
        net.register_full_backward_hook(lambda m, inputs, outputs: found.append(len(inputs)))
        x = torch.ones(2, requires_grad=True)
        net(x)
        net.sum.backward()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            layer = torch.nn.Linear(1, 1)
            layer.register_full_backward_hook(lambda m, i, o: found.append(str(i)))
            layer(torch.ones(1, 1)).sum().backward()
        return str([found, x.grad.tolist(), [str(w.message)[:90] for w in caught]])

    assert seen(rushlight) == ask(seen)
