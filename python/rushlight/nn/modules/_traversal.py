"""Walking a module: children, modules, parameters, buffers, and finding one by its path."""

from rushlight import _C


class Traversal:
    """The part of Module that only looks."""

    def _named_members(self, get_members_fn, prefix="", recurse=True, remove_duplicate=True):
        seen = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for path, module in modules if recurse else [(prefix, self)]:
            for name, value in get_members_fn(module):
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield (f"{path}.{name}" if path else name), value

    def parameters(self, recurse=True):
        """Yields the parameters, those of submodules included unless `recurse` is False."""
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """Yields (path, parameter) pairs.

        Args:
            prefix: put before every path.
            recurse: include those of submodules.
            remove_duplicate: yield a shared parameter once.

        >>> [name for name, p in torch.nn.Linear(2, 1).named_parameters()]
        ['weight', 'bias']
        """
        yield from self._named_members(
            lambda m: m._parameters.items(), prefix, recurse, remove_duplicate
        )

    def buffers(self, recurse=True):
        """Yields the buffers, those of submodules included unless `recurse` is False."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """Yields (path, buffer) pairs; see named_parameters() for `prefix`, `recurse` and
        `remove_duplicate`.
        """
        yield from self._named_members(
            lambda m: m._buffers.items(), prefix, recurse, remove_duplicate
        )

    def children(self):
        """Yields the submodules held directly."""
        for _, module in self.named_children():
            yield module

    def named_children(self):
        """Yields (name, module) for the submodules held directly, each once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def modules(self):
        """Yields this module and all inside it, each once."""
        for _, module in self.named_modules():
            yield module

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """Yields (path, module) for this module and all inside it.

        Args:
            memo: a set of modules that are left out.
            prefix: put before every path.
            remove_duplicate: yield a shared module once.

        >>> [name for name, m in torch.nn.Sequential(torch.nn.ReLU()).named_modules()]
        ['', '0']
        """
        _C._check_stack()  # generators in generators
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, path, remove_duplicate)

    def get_submodule(self, target):
        """The module at a dotted path, `target`; AttributeError if there is none.

        >>> torch.nn.Sequential(torch.nn.ReLU()).get_submodule("0")
        ReLU()
        """
        module = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Traversal):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def _get_tensor(self, target, kind, what):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        if name not in getattr(module, kind):
            raise AttributeError(f"`{name}` is not {what}")
        return getattr(module, name)

    def get_parameter(self, target):
        """The parameter at a dotted path, `target`; AttributeError if there is none."""
        return self._get_tensor(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target):
        """The buffer at a dotted path, `target`; AttributeError if there is none."""
        return self._get_tensor(target, "_buffers", "a buffer")

    def set_submodule(self, target, module, strict=False):
        """Puts `module` at a dotted path, `target`; with `strict` it must replace a module."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Traversal):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if (strict or "." not in target) and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Traversal):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def apply(self, fn):
        """Calls `fn` on every module inside, then on this one; returns the module.

        >>> net = torch.nn.Sequential(torch.nn.Linear(2, 2))
        >>> net.apply(lambda m: print(type(m).__name__)) is net
        Linear
        Sequential
        True
        """
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self
