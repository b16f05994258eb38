"""Figures and their bounds drawn in characters, before anybody shows them. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

from lrwr.pipeline.evaluation.figures import Interval

NARROWEST, WIDEST = 20, 120
"""Columns that a plot needs at least, and uses at most."""

_GAP = "  "
_LEAST_COLUMNS = 16
_LEAST_LENGTH = 0.001
_MOST_DIGITS = 4


@dataclass(frozen=True, slots=True)
class DotPlotRow:
    """A row of a plot: `interval` None where there is nothing to draw."""

    name: str
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class _PlotGlyphs:
    dot: str
    left: str
    right: str
    bar: str
    zero: str
    crossed: str
    axis: str
    tick: str
    minus: str
    more: str


_DRAWN = _PlotGlyphs("●", "├", "┤", "─", "┊", "┼", "─", "┴", "−", "…")
_TYPED = _PlotGlyphs("o", "|", "|", "-", ":", "+", "-", "+", "-", "..")


@dataclass(frozen=True, slots=True)
class _Scale:
    """From where to where an axis goes, and how far apart its ticks are."""

    low: float
    high: float
    step: float

    @property
    def digits(self) -> int:
        """How many digits numbers on it are told with."""
        return 0 if self.step >= 5 else min(_MOST_DIGITS, max(2, self.least_digits))

    @property
    def least_digits(self) -> int:
        """How many digits tell its ticks apart."""
        return max(0, -floor(log10(self.step)))

    def column(self, value: float, columns: int) -> int:
        """Return the column of a value, from 0; of one outside the nearest."""
        inside = max(self.low, min(self.high, value))
        return round((inside - self.low) / (self.high - self.low) * (columns - 1))


def is_plot_encodable(encoding: str | None) -> bool:
    """Say whether an output of that encoding can show the signs of a drawn plot."""
    glyphs = "".join(getattr(_DRAWN, name) for name in _PlotGlyphs.__slots__)
    try:
        glyphs.encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def draw_dot_plot(
    rows: Sequence[DotPlotRow],
    *,
    width: int,
    ascii_only: bool = False,
    signed: bool = False,
) -> list[str]:
    """Draw a dot with its bounds for each row, on one axis, which comes last.

    No line is wider than `width`, nor than `WIDEST`; where there is no room for a
    drawing there are names and numbers alone. `width` is at least `NARROWEST`. `signed`
    is for differences: numbers bear their sign, and a mark stands at 0. `ascii_only`
    draws with what every output can show.
    """
    width = min(WIDEST, width)
    glyphs = _TYPED if ascii_only else _DRAWN
    scale = _scale(rows, signed=signed)
    interval_texts = [
        _format_interval(row.interval, scale, glyphs, signed=signed) for row in rows
    ]
    names = _names([row.name for row in rows], width // 3, glyphs)
    name_width = max(map(len, names), default=0)
    columns = (
        width - name_width - max(map(len, interval_texts), default=0) - 2 * len(_GAP)
    )
    if scale is None or columns < _LEAST_COLUMNS:
        return [
            _bare(name, number, width)
            for name, number in zip(names, interval_texts, strict=True)
        ]
    bars = [_bar(row.interval, scale, columns, glyphs, signed=signed) for row in rows]
    lines = [
        _GAP.join(parts) for parts in zip(names, bars, interval_texts, strict=True)
    ]
    lines += [
        f"{' ' * name_width}{_GAP}{line}" for line in _axis(scale, columns, glyphs)
    ]
    return [line.rstrip() for line in lines]


def _bare(name: str, number: str, width: int) -> str:
    """Return a name and as much of its number as there is room for."""
    line = f"{name}{_GAP}{number}"
    if len(line) > width:
        line = line.partition(" [")[0]
    return line[:width].rstrip()


def _names(names: Sequence[str], max_width: int, glyphs: _PlotGlyphs) -> list[str]:
    """Return names on one line each, equally long, cut where they need more room."""
    plain = [" ".join(name.split()) for name in names]
    if glyphs is _TYPED:
        plain = [name.encode("ascii", "replace").decode("ascii") for name in plain]
    longest = min(max_width, max(map(len, plain), default=0))
    return [_cut(name, longest, glyphs).ljust(longest) for name in plain]


def _cut(name: str, max_width: int, glyphs: _PlotGlyphs) -> str:
    return (
        name
        if len(name) <= max_width
        else name[: max_width - len(glyphs.more)] + glyphs.more
    )


def _scale(rows: Sequence[DotPlotRow], *, signed: bool) -> _Scale | None:
    """Return a scale that holds every end that is known; None where there is none."""
    intervals = [row.interval for row in rows if row.interval]
    ends = [
        end
        for interval in intervals
        for end in (interval.low, interval.value, interval.high)
        if isfinite(end)
    ]
    if not ends:
        return None
    low, high = min(ends), max(ends)
    if signed:
        low, high = min(low, 0.0), max(high, 0.0)
    length = high - low or abs(high) or 1.0
    step = _step(max(length, _LEAST_LENGTH, _LEAST_LENGTH * abs(high)))
    lower, upper = floor(low / step) * step, ceil(high / step) * step
    if upper <= lower:
        upper = lower + step
    return _Scale(min(low, lower), max(high, upper), step)


def _step(length: float) -> float:
    """Return a round step; four to ten of them, or little more, make the length."""
    power = 10.0 ** floor(log10(length))
    steps = [power * part for part in (0.1, 0.2, 0.5)]
    return next((step for step in steps if length <= 10 * step), power)


def _format_interval(
    interval: Interval | None,
    scale: _Scale | None,
    glyphs: _PlotGlyphs,
    *,
    signed: bool,
) -> str:
    if interval is None or scale is None:
        return ""

    def number(value: float) -> str:
        if not isfinite(value):
            return "?"
        digits_text = f"{abs(value):,.{scale.digits}f}"
        if not digits_text.strip("0.,"):
            return digits_text
        return f"{glyphs.minus if value < 0 else '+' if signed else ''}{digits_text}"

    value, low, high = map(number, (interval.value, interval.low, interval.high))
    return f"{value} [{low}, {high}]"


def _bar(
    interval: Interval | None,
    scale: _Scale,
    columns: int,
    glyphs: _PlotGlyphs,
    *,
    signed: bool,
) -> str:
    cells = [" "] * columns
    if signed:
        cells[scale.column(0.0, columns)] = glyphs.zero
    if interval is None or not isfinite(interval.value):
        return "".join(cells)
    low, high = (scale.column(end, columns) for end in (interval.low, interval.high))
    cells[low : high + 1] = glyphs.bar * (high - low + 1)
    if isfinite(interval.low):
        cells[low] = glyphs.left
    if isfinite(interval.high):
        cells[high] = glyphs.right
    if signed and low < scale.column(0.0, columns) < high:
        cells[scale.column(0.0, columns)] = glyphs.crossed
    cells[scale.column(interval.value, columns)] = glyphs.dot
    return "".join(cells)


def _axis(scale: _Scale, columns: int, glyphs: _PlotGlyphs) -> list[str]:
    """Return the axis and, below, the numbers at its ticks, as many as have room."""
    number = round((scale.high - scale.low) / scale.step)
    ticks = [scale.low + tick * scale.step for tick in range(number + 1)]
    tick_texts = [_tick(tick, scale, glyphs) for tick in ticks]
    tick_width = max(map(len, tick_texts)) + len(_GAP)
    tick_distance = ceil(number * tick_width / (columns - 1))
    line, below = [glyphs.axis] * columns, ""
    for tick, tick_text in zip(ticks, tick_texts, strict=True):
        column = scale.column(tick, columns)
        line[column] = glyphs.tick
        if round(tick / scale.step) % tick_distance == 0:  # so that 0 is among them
            start = min(columns - len(tick_text), max(0, column - len(tick_text) // 2))
            below = below.ljust(start) + tick_text
    return ["".join(line), below]


def _tick(value: float, scale: _Scale, glyphs: _PlotGlyphs) -> str:
    digits_text = f"{abs(value):,.{scale.least_digits}f}"
    return (
        f"{glyphs.minus}{digits_text}"
        if value < 0 and digits_text.strip("0.,")
        else digits_text
    )
