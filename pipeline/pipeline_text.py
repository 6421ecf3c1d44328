"""The lexical part of pipelines: splitting outside of brackets and quotes."""

from __future__ import annotations

_OPEN, _CLOSE = "({[", ")}]"


class PipelineError(ValueError):
    """A pass pipeline that cannot be read."""


def split(text: str, separator: str) -> list[str]:
    """Parts of `text` between separators that stand outside of brackets and quotes; empty parts are left out.

    Raises PipelineError if a bracket or quote is not closed.
    """
    parts, start, stack, quote = [], 0, [], ""
    for i, char in enumerate(text):
        if quote:
            quote = "" if char == quote and text[i - 1] != "\\" else quote
        elif char in "\"'":
            quote = char
        elif char in _OPEN:
            stack.append(_CLOSE[_OPEN.index(char)])
        elif char in _CLOSE:
            if not stack or stack.pop() != char:
                raise PipelineError(f"brackets do not match, got: {text}")
        elif not stack and (char.isspace() if separator == " " else char == separator):
            parts.append(text[start:i])
            start = i + 1
    if stack or quote:
        raise PipelineError(f"needs a closing {quote or stack[-1]}, got: {text}")
    return [p.strip() for p in [*parts, text[start:]] if p.strip()]


def unquote(text: str) -> str:
    """`text` without its quotes, if it has any."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1].replace("\\" + text[0], text[0])
    return text


def quote(text: str) -> str:
    """`text` in a form that `split` keeps whole and `unquote` turns back."""
    if text and not set(text) & set(" \t\n,=\"'" + _OPEN + _CLOSE):
        return text
    return '"' + text.replace('"', '\\"') + '"'
