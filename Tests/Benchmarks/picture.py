"""Pictures as SVG: the table's ratios as bars, and lines of how something grows."""
import math
from html import escape

COLOURS = ["#1f6fb4", "#d1661a", "#2d8a4a", "#8a4fa3", "#777"]
HEAD = ('<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" '
        'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>')


def text(x, y, words, anchor="start", colour="#222"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(str(words))}</text>'


def line(x1, y1, x2, y2, colour="#ccc", width=1):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"/>'


def bars(rows):
    """Each ratio from 0 to 2, with its goal as a stroke: green where it is met."""
    names, unit, height = 430, 200, 22
    parts = [HEAD.format(names + 2 * unit + 120, (len(rows) + 2) * height)]
    for number in range(3):
        x = names + number * unit
        parts += [text(x, 16, number, "middle"), line(x, height, x, (len(rows) + 1) * height)]
    for index, row in enumerate(rows):
        y, ratio = (index + 1) * height, row.get("ratio")
        parts.append(text(names - 8, y + 15, f"{row['work']}, {row['figure']}", "end"))
        if ratio is None:
            parts.append(text(names + 4, y + 15, "met" if row.get("isMet") else "not met" if "isMet" in row else
                              "not measured", colour="#888"))
            continue
        colour = {True: "#2d8a4a", False: "#c0392b"}.get(row.get("isMet"), "#777")
        parts.append(f'<rect x="{names}" y="{y + 4}" width="{min(ratio, 2) * unit:.1f}" height="{height - 8}" '
                     f'fill="{colour}"/>')
        goal = 1 if row.get("isAbsolute") else row.get("goal")
        if goal:
            x = names + min(goal, 2) * unit
            parts.append(line(x, y + 1, x, y + height - 1, "#000", 2))
        parts.append(text(names + 2 * unit + 8, y + 15, f"{ratio:.2f}"))
    return "\n".join([*parts, "</svg>"]) + "\n"


def rounded(value):
    """The next number of one digit above."""
    size = 10 ** math.floor(math.log10(value)) if value > 0 else 1
    return math.ceil(value / size - 1e-9) * size


def plot(title, x_title, y_title, series):
    """Lines over a logarithmic axis. series: by name, pairs of what there is and what it costs."""
    width, height, left, top, right, bottom = 640, 400, 70, 56, 20, 60
    xs = sorted({x for points in series.values() for x, _ in points})
    most = rounded(max((y for points in series.values() for _, y in points), default=1))
    span = math.log(xs[-1] / xs[0]) or 1
    at = lambda x: left + math.log(x / xs[0]) / span * (width - left - right)
    up = lambda y: height - bottom - y / most * (height - top - bottom)
    parts = [HEAD.format(width, height), text(left, 20, title)]
    for x in xs:
        parts += [line(at(x), top, at(x), height - bottom), text(at(x), height - bottom + 16, f"{x:g}", "middle")]
    for i in range(5):
        y = most * i / 4
        parts += [line(left, up(y), width - right, up(y)), text(left - 6, up(y) + 4, f"{y:g}", "end")]
    parts += [text((left + width) / 2, height - bottom + 34, x_title, "middle"), text(6, top - 14, y_title)]
    for index, (name, points) in enumerate(series.items()):
        colour = COLOURS[index % len(COLOURS)]
        way = " ".join(f"{at(x):.1f},{up(y):.1f}" for x, y in points)
        parts.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{at(x):.1f}" cy="{up(y):.1f}" r="3" fill="{colour}"/>' for x, y in points]
        parts.append(text(left + index * 160, height - 8, name, colour=colour))
    return "\n".join([*parts, "</svg>"]) + "\n"


def written(title, x_title, y_title, series, width=50):
    """The same for a terminal: a bar for each point."""
    most = max((y for points in series.values() for _, y in points), default=1) or 1
    wide = max(len(name) for name in series)
    lines = [f"{title} ({y_title} by {x_title})"]
    for name, points in series.items():
        lines += [f"  {name:<{wide}} {x:>10g}  {y:>10.3g}  {'█' * round(y / most * width)}" for x, y in points]
    return "\n".join(lines)
