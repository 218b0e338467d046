"""L-BFGS (Nocedal, 1980), with the strong Wolfe line search in _line_search.py."""

from rushlight import _C
from rushlight._grad_mode import no_grad
from rushlight.optim._line_search import C1, C2, MAX_SEARCH, TOLERANCE, cubic_minimum, strong_wolfe
from rushlight.optim.optimizer import Optimizer, checked, evaluate

__all__ = ["LBFGS"]

_cubic_interpolate = cubic_minimum  # of programs with a quasi-Newton method of their own


def _strong_wolfe(
    obj_func, x, t, d, f, g, gtd, c1=C1, c2=C2, tolerance_change=TOLERANCE, max_ls=MAX_SEARCH
):
    """The line search for them: obj_func(x, t, d) is (loss, gradient) at x + t * d."""

    def at(step):
        return obj_func(x, step, d)

    return strong_wolfe(at, t, d, f, g, gtd, max_ls, c1, c2, tolerance_change)


_KEPT = ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")


def _value(loss):
    """A loss as a number, whatever the closure returned."""
    return float(loss.detach() if isinstance(loss, _C.Tensor) else loss)


def _as_real(tensor):
    return _C.view_as_real(tensor) if tensor.is_complex() else tensor


class LBFGS(Optimizer):
    """Quasi-Newton steps from the last `history_size` changes of parameters and gradient (Liu and
    Nocedal, 1989).

    Args:
        params: tensors, in one group.
        lr: step length, or with a line search the first one tried.
        max_iter: iterations in one `step`.
        max_eval: evaluations of the closure in one `step`; max_iter * 5 / 4 if None.
        tolerance_grad: stop when no gradient element is larger.
        tolerance_change: stop when loss or parameters change by less.
        history_size: how many changes are kept.
        line_search_fn: None or "strong_wolfe".

    Shape: state: `d`, `prev_flat_grad` and the items of `old_dirs` and `old_stps` (n), n being the
        number of elements of all parameters.

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> opt = torch.optim.LBFGS([w])
    >>> def closure():
    ...     opt.zero_grad()
    ...     loss = ((w - 3) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> loss = opt.step(closure)
    >>> round(w.item(), 4)
    3.0
    """

    def __init__(
        self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7,
        tolerance_change=1e-9, history_size=100, line_search_fn=None,
    ):  # fmt: skip
        checked(lr, "learning rate")
        defaults = {
            "lr": lr, "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change,
            "history_size": history_size, "line_search_fn": line_search_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def __setstate__(self, state):
        super().__setstate__(state)
        self._params = self.param_groups[0]["params"]

    def _flat_grad(self):
        parts = [_C.zeros_like(p) if p.grad is None else p.grad for p in self._params]
        dense = [part.to_dense() if part.is_sparse else part for part in parts]
        return _C.cat([_as_real(part).reshape(-1) for part in dense], 0)

    def _move(self, t, direction):
        offset = 0
        for p in map(_as_real, self._params):
            n = p.numel()
            p.add_(direction[offset : offset + n].view_as(p), alpha=t)
            offset += n

    def _at(self, closure, start, t, direction):
        """Loss and gradient at start + t * direction; the parameters stay at start."""
        self._move(t, direction)
        loss = _value(evaluate(closure))
        grad = self._flat_grad()
        for p, value in zip(self._params, start, strict=False):
            p.copy_(value)
        return loss, grad

    def step(self, closure):
        """Up to `max_iter` iterations; `closure` clears the gradients, computes the loss, calls
        backward() and returns the loss.
        """
        with no_grad():
            return self._step(closure)

    def _step(self, closure):
        group = self.param_groups[0]
        search = group["line_search_fn"]
        if search not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = evaluate(closure)
        loss, evals = _value(first_loss), 1
        state["func_evals"] += 1
        grad = self._flat_grad()
        if grad.abs().max() <= group["tolerance_grad"]:
            return first_loss
        iterations = 0
        # These are put into the state when the step ends.
        kept = {name: state.get(name) for name in _KEPT}
        while iterations < group["max_iter"]:
            iterations += 1
            state["n_iter"] += 1
            direction, t = self._direction(state, kept, grad, group)
            if kept["prev_flat_grad"] is None:
                kept["prev_flat_grad"] = grad.clone()
            else:
                kept["prev_flat_grad"].copy_(grad)
            kept.update(d=direction, t=t, prev_loss=loss)
            slope = grad.dot(direction)
            if slope > -group["tolerance_change"]:
                break
            used = 0
            if search == "strong_wolfe":
                start = [p.clone() for p in self._params]
                loss, grad, t, used = strong_wolfe(
                    lambda t, s=start, d=direction: self._at(closure, s, t, d),
                    t, direction, loss, grad, slope, group["max_eval"] - evals,
                )  # fmt: skip
                self._move(t, direction)
            else:
                self._move(t, direction)
                if iterations != group["max_iter"]:
                    loss = _value(evaluate(closure))
                    grad = self._flat_grad()
                    used = 1
            kept["t"] = t
            evals += used
            state["func_evals"] += used
            if (
                iterations == group["max_iter"]
                or evals >= group["max_eval"]
                or grad.abs().max() <= group["tolerance_grad"]
                or direction.mul(t).abs().max() <= group["tolerance_change"]
                or abs(loss - kept["prev_loss"]) < group["tolerance_change"]
            ):
                break
        state.update(kept)
        return first_loss

    def _direction(self, state, kept, grad, group):
        """-H g by the two loops over the history, and the first step length to try."""
        rate = group["lr"].squeeze() if isinstance(group["lr"], _C.Tensor) else group["lr"]
        if state["n_iter"] == 1:
            kept.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return grad.neg(), min(1.0, 1.0 / grad.abs().sum()) * rate
        changes, steps, ro = kept["old_dirs"], kept["old_stps"], kept["ro"]
        y = grad.sub(kept["prev_flat_grad"])
        s = kept["d"].mul(kept["t"])
        ys = y.dot(s)
        if ys > 1e-10:
            if len(changes) == group["history_size"]:
                changes.pop(0)
                steps.pop(0)
                ro.pop(0)
            changes.append(y)
            steps.append(s)
            ro.append(1.0 / ys)
            kept["H_diag"] = ys / y.dot(y)
        q = grad.neg()
        if "al" not in state:
            state["al"] = [None] * group["history_size"]
        al = state["al"]
        for i in reversed(range(len(changes))):
            al[i] = steps[i].dot(q) * ro[i]
            q.add_(changes[i], alpha=-al[i])
        d = q.mul(kept["H_diag"])
        for i in range(len(changes)):
            d.add_(steps[i], alpha=al[i] - changes[i].dot(d) * ro[i])
        return d, rate
