"""The CodeGen of a function whose arguments are containers: `concrete_args` with placeholders."""

from typing import Any, NamedTuple

from rushlight.fx._codegen import CodeGen


class _PyTreeInfo(NamedTuple):
    """The names of the arguments, and the structure of arguments and output."""

    orig_args: list[str]
    in_spec: Any
    out_spec: Any


class _PyTreeCodeGen(CodeGen):
    """Takes the arguments apart at the beginning, and builds the output again at the end."""

    def __init__(self, pytree_info):
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs):
        from rushlight.utils._pytree import tree_leaves

        return tree_leaves(inputs)

    def process_outputs(self, out):
        from rushlight.utils._pytree import tree_unflatten

        if not isinstance(out, list | tuple):
            out = [out]
        if self.pytree_info.out_spec is None:
            raise AssertionError("the structure of the output is not known")
        return tree_unflatten(out, self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars, maybe_return_annotation, *, expanded_def=False):
        if self.pytree_info is None:
            return super().gen_fn_def(free_vars, maybe_return_annotation, expanded_def=expanded_def)
        arguments = self.pytree_info.orig_args
        # A module's forward has itself as its first argument, a leaf like the others.
        free_vars = [*arguments[:1], *free_vars] if arguments[:1] == ["self"] else free_vars
        text = super().gen_fn_def(list(arguments), maybe_return_annotation)
        if free_vars:
            names = "".join(f"{each.split(' : ')[0].split(' = ')[0]}, " for each in free_vars)
            text += (
                f"\n    {names.rstrip()} = fx_pytree.tree_flatten_spec("
                f"[{', '.join(arguments)}], self._in_spec)"
            )
        return text

    def generate_output(self, output_args, *, descs=None, repr_fn=None):
        write = repr_fn or repr
        if self.pytree_info is not None and self.pytree_info.out_spec is not None:
            if not isinstance(output_args, list | tuple):
                output_args = [output_args]
            return f"return pytree.tree_unflatten({write(output_args)}, self._out_spec)"
        return super().generate_output(output_args, repr_fn=repr_fn)


def specs_of(codegen):
    """The attributes that the code of a module needs."""
    info = getattr(codegen, "pytree_info", None)
    return {} if info is None else {"_in_spec": info.in_spec, "_out_spec": info.out_spec}
