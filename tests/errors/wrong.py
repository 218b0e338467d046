"""One row of the table: a wrong call and what its message must hold."""


class Wrong:
    """`code` raises `error`; the message begins with `words` (torch's own first line, unless
    `ours` says that we put it better) and holds each text of `also` below it."""

    def __init__(self, code, error, words, *also, ours=False):
        self.code, self.error, self.words, self.also, self.ours = code, error, words, also, ours

    def __repr__(self):
        return self.code.split("\n")[-1][:60]
