"""Where a sequence repeats itself. Linear in its length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

MAX_WINDOW = 64
"""longest run of tokens that is looked up as one: a layer is told from its neighbours by less"""
CANDIDATES = 3
"""lengths tried for each length of window"""
MAX_PERIODS = 8
"""stages of one model that are told apart, such as an encoder and a decoder"""
SMALLEST = 1 / 16
"""part of all tokens that a stage covers at least: what repeats in less is no stage"""


@dataclass(frozen=True)
class Period:
    """`tokens[i] == tokens[i + length]` as long as both are in `tokens[begin:end]`, which holds at least two layers."""

    begin: int
    end: int
    length: int

    @property
    def slack(self) -> int:
        """Tokens at the end that are no whole layer: by so many the layers may be shifted."""
        return (self.end - self.begin) % self.length


def periods(tokens: list[int], shortest: int) -> list[Period]:
    """Parts of `tokens` that repeat themselves, in order, the longest found first; no length is below `shortest`."""
    found: list[Period] = []
    pieces = [(0, len(tokens))]
    while pieces and len(found) < MAX_PERIODS:
        begin, end = pieces.pop()
        if end - begin < SMALLEST * len(tokens):
            continue
        best = _longest(tokens[begin:end], shortest)
        if best is not None and best.end - best.begin >= SMALLEST * len(tokens):
            found.append(Period(begin + best.begin, begin + best.end, best.length))
            pieces += [(begin, begin + best.begin), (begin + best.end, end)]
    return sorted(found, key=lambda period: period.begin)


def _longest(tokens: list[int], shortest: int) -> Period | None:
    """The longest part with one period; of the lengths that cover as much the shortest."""
    best: Period | None = None
    for length in sorted(_lengths(tokens, shortest)):
        for period in _runs(tokens, length):
            if best is None or period.end - period.begin > best.end - best.begin:
                best = period
    return best


def _lengths(tokens: list[int], shortest: int) -> set[int]:
    """Distances at which equal windows often follow each other, made long enough by whole multiples."""
    lengths: set[int] = set()
    window, size = tokens, 1
    while size < MAX_WINDOW and len(window) > size:
        # Windows twice as long are pairs of windows; numbering them keeps each step at one look-up a token.
        numbers: dict[tuple[int, int], int] = {}
        window = [
            numbers.setdefault(pair, len(numbers))
            for pair in zip(window, window[size:], strict=False)
        ]
        size *= 2
        previous: dict[int, int] = {}
        distances: Counter[int] = Counter()
        for index, number in enumerate(window):
            if number in previous:
                distances[index - previous[number]] += 1
            previous[number] = index
        for distance, _ in distances.most_common(CANDIDATES):
            lengths.add(distance * -(-shortest // distance))
    return lengths


def _runs(tokens: list[int], length: int) -> Iterator[Period]:
    """Parts with period `length` that hold at least two layers."""
    begin = 0
    for index, (one, next_) in enumerate(zip(tokens, tokens[length:], strict=False)):
        if one != next_:
            if index - begin >= length:
                yield Period(begin, index + length, length)
            begin = index + 1
    if len(tokens) - length - begin >= length:
        yield Period(begin, len(tokens), length)
