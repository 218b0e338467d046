"""What activations share that can write over their input."""

from typing import Any

from rushlight.nn.modules.module import Module


class InPlace(Module):
    """f(x), written over x with inplace=True; a subclass names f. What such activations share."""

    function: Any = None

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        return self.function(input, self.inplace)

    def extra_repr(self):
        return "inplace=True" if self.inplace else ""


class OneParameter(InPlace):
    """f(x, parameter), written over x with inplace=True; a subclass names f and the attribute."""

    parameter: Any = None

    def __init__(self, value, inplace=False):
        super().__init__(inplace)
        setattr(self, self.parameter, value)

    def forward(self, input):
        return self.function(input, getattr(self, self.parameter), self.inplace)

    def extra_repr(self):
        text = f"{self.parameter}={getattr(self, self.parameter)}"
        return text + (", inplace=True" if self.inplace else "")
