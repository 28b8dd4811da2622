"""What the collector says while it works: progress on stdout, warnings on stderr, each kind once."""

import sys

_said = set()


def say(text):
    print(text, flush=True)


def warn(text, *, kind=None):
    """`kind`: warnings of one kind are shown once a process."""
    if kind is not None:
        if kind in _said:
            return
        _said.add(kind)
    print(f"msprobe: warning: {text}", file=sys.stderr, flush=True)


BANNER = "\n".join(
    ("*" * 76, "*" + "msprobe ends successfully.".center(74) + "*", "*" * 76)
)
