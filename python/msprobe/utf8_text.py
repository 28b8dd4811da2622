"""Texts as files in UTF-8 can hold them."""


def writable(text: str) -> str:
    """Half a surrogate pair has no place in UTF-8."""
    # Not by the methods of a subclass, which may do anything.
    return str.encode(text, "utf-8", "backslashreplace").decode("utf-8")
