"""Line plots as SVG, without a library."""

import math
from pathlib import Path

COLOURS = ["#2563a8", "#c2410c", "#3f7d3f", "#7b4fa3"]
WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 40, 60


def ticks(low, high, n=5):
    """Round numbers within a range."""
    span = (high - low) or 1.0
    step = 10 ** math.floor(math.log10(span / n))
    step = next(step * factor for factor in (1, 2, 5, 10) if span / (step * factor) <= n)
    first = math.ceil(low / step) * step
    found = []
    while first <= high + 1e-9 * span:
        found.append(round(first, 10))
        first += step
    return found


class Plot:
    """Lines on common axes."""

    def __init__(self, title, x_title, y_title):
        self.title, self.x_title, self.y_title = title, x_title, y_title
        self.lines, self.levels = [], []

    def line(self, name, xs, ys):
        self.lines.append((name, list(xs), list(ys)))

    def level(self, name, y):
        """A horizontal line for comparison."""
        self.levels.append((name, y))

    def write(self, path):
        xs = [x for _, points, _ in self.lines for x in points]
        ys = [y for _, _, points in self.lines for y in points] + [y for _, y in self.levels]
        x_low, x_high, y_low, y_high = min(xs), max(xs), min(ys), max(ys)
        margin = 0.05 * (y_high - y_low or 1.0)
        y_low, y_high = y_low - margin, y_high + margin
        place_x = lambda x: LEFT + (x - x_low) / ((x_high - x_low) or 1.0) * (WIDTH - LEFT - RIGHT)  # noqa: E731
        place_y = lambda y: HEIGHT - BOTTOM - (y - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM)  # noqa: E731
        out = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
            f'<text x="{LEFT}" y="22" font-size="14">{self.title}</text>',
            f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 28}" text-anchor="middle">{self.x_title}</text>',
        ]
        for x in ticks(x_low, x_high):
            out.append(f'<text x="{place_x(x):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle" fill="#555">{x:g}</text>')
        for y in ticks(y_low, y_high):
            out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{place_y(y):.1f}" y2="{place_y(y):.1f}" stroke="#ddd"/>')
            out.append(f'<text x="{LEFT - 6}" y="{place_y(y) + 4:.1f}" text-anchor="end" fill="#555">{y:g}</text>')
        entries = []
        for (name, xs, ys), colour in zip(self.lines, COLOURS):
            points = " ".join(f"{place_x(x):.1f},{place_y(y):.1f}" for x, y in zip(xs, ys))
            out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
            out.extend(f'<circle cx="{place_x(x):.1f}" cy="{place_y(y):.1f}" r="3" fill="{colour}"/>' for x, y in zip(xs, ys))
            entries.append((name, colour, ""))
        for name, y in self.levels:
            out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{place_y(y):.1f}" y2="{place_y(y):.1f}" stroke="#444" stroke-dasharray="5 4"/>')
            entries.append((name, "#444", 'stroke-dasharray="5 4"'))
        x = LEFT
        for name, colour, dash in entries:
            out.append(f'<line x1="{x}" x2="{x + 22}" y1="{HEIGHT - 10}" y2="{HEIGHT - 10}" stroke="{colour}" stroke-width="2" {dash}/>')
            out.append(f'<text x="{x + 27}" y="{HEIGHT - 6}">{name}</text>')
            x += 45 + 6.5 * len(name)
        Path(path).write_text("\n".join([*out, "</svg>", ""]))
