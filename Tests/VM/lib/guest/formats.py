#!/usr/bin/python3
"""Holds vivid's 75 % bars in a picture against what vivid drew.

check FILE FOURCC [ENCODING QUANTIZATION SPACE]
    exits 0 when each of the eight bars is within 3 of 255 of vivid's own values, which a format of few bits rounds as
    vivid does. ENCODING, QUANTIZATION and SPACE are V4L2's numbers, 0 for the driver's default; only opRGB, which no
    player is told of, changes what is wanted. Prints one row of a table.
"""
import subprocess
import sys

BARS = [(191, 191, 191), (191, 191, 0), (0, 191, 191), (0, 191, 0), (191, 0, 191), (191, 0, 0), (0, 0, 191), (0, 0, 0)]
TOLERANCE = 3
OPRGB = 9
HUE_180 = 128
CONSTANT_LUMINANCE = 7
LIMITED = 2
# How vivid counts the bars' hues, where it counts to 256 and where it counts to 180.
HUES = {256: (0, 42, 127, 85, 215, 0, 170, 0), 180: (0, 30, 90, 60, 151, 0, 120, 0)}
LUMA = {"GREY", "Y10", "Y12", "Y16", "Y16-BE"}
# Bits of red, green and blue.
RGB_BITS = {"RGB1": (3, 3, 2), "RGBP": (5, 6, 5), "RGBR": (5, 6, 5), "BGRH": (6, 6, 6), "R444": (4, 4, 4),
            "RGBO": (5, 5, 5), "RGBQ": (5, 5, 5)}
RGB_BITS |= {a + b + "12": (4, 4, 4) for a in "AX" for b in "RB"} | {a + "12": (4, 4, 4) for a in ("RX", "RA", "BX", "GA")}
RGB_BITS |= {a + b + "15": (5, 5, 5) for a in "AX" for b in "RB"} | {a + "15": (5, 5, 5) for a in ("RX", "RA", "BX", "BA")}
RGB_BITS |= {"XR15-BE": (5, 5, 5), "AR15-BE": (5, 5, 5)}
YUV_BITS = {"Y444": (4, 4, 4), "YUVO": (5, 5, 5), "YUVP": (5, 6, 5)}


def rounded(bar, bits):
    return tuple(round((v >> 8 - n) * 255 / (2 ** n - 1)) for v, n in zip(bar, bits))


def through_yuv(bar, bits, of_red=0.2126, of_blue=0.0722):
    """Limited range, of BT.709 unless told, cut off to so many bits, from the half that vivid's bars lie below."""
    red, green, blue = (max(v - 0.5, 0) / 255 for v in bar)
    of_green = 1 - of_red - of_blue
    y = of_red * red + of_green * green + of_blue * blue
    values = (16 + 219 * y, 128 + 112 * (blue - y) / (1 - of_blue), 128 + 112 * (red - y) / (1 - of_red))
    y, cb, cr = (int(v) >> 8 - n << 8 - n for v, n in zip(values, bits))
    y, cb, cr = (y - 16) / 219, (cb - 128) / 112, (cr - 128) / 112
    red, blue = y + (1 - of_red) * cr, y + (1 - of_blue) * cb
    green = (y - of_red * red - of_blue * blue) / of_green
    return tuple(min(255, max(0, round(255 * v))) for v in (red, green, blue))


def of_hue(bar, hue, circle):
    value = max(bar)
    if min(bar) == value:
        return bar
    sixth, rest = divmod(hue * 6 / circle, 1)
    rising, falling = round(value * rest), round(value * (1 - rest))
    return ((value, rising, 0), (falling, value, 0), (0, value, rising), (0, falling, value), (rising, 0, value),
            (value, 0, falling))[int(sixth) % 6]


def as_srgb(bar):
    """opRGB's colours as sRGB's, by the primaries of both."""
    red, green, blue = ((v / 255) ** (563 / 256) for v in bar)
    light = (1.398356 * red - 0.398356 * green, green, 1.042929 * blue - 0.042929 * green)
    return tuple(round(255 * (v * 12.92 if v <= 0.0031308 else 1.055 * v ** (1 / 2.4) - 0.055))
                 for v in (min(1, max(0, v)) for v in light))


def wanted(fourcc, encoding, quantization, space):
    if fourcc in LUMA:
        bars = [((13879 * r + 46688 * g + 4713 * b) >> 16,) * 3 for r, g, b in BARS]
        if quantization == LIMITED:
            # vivid draws luma alone in full range, whatever range it reports. A reader believes the report.
            bars = [tuple(min(255, max(0, round((v - 16) * 255 / 219))) for v in bar) for bar in bars]
    elif fourcc in RGB_BITS:
        bars = [rounded(bar, RGB_BITS[fourcc]) for bar in BARS]
    elif fourcc in YUV_BITS:
        bars = [through_yuv(bar, YUV_BITS[fourcc]) for bar in BARS]
    elif fourcc.startswith("HSV"):
        circle = 180 if encoding == HUE_180 else 256
        bars = [of_hue(bar, hue, circle) for bar, hue in zip(BARS, HUES[circle])]
    else:
        bars = BARS
    if space == OPRGB:
        # Its curve widens what eight bits of Y'CbCr cut off, BT.601's for this space.
        bars = [as_srgb(through_yuv(bar, (8, 8, 8), 0.299, 0.114) if fourcc == "YUYV" else bar) for bar in bars]
    return bars


def pixels(path, encoding):
    """The picture as red, green and blue, after its own tags; a movie in BT.2020 of constant luminance, which ffmpeg does
    not read, by its formula."""
    constant = encoding == CONSTANT_LUMINANCE and path.endswith(".mkv")
    # One process, because starting one is slow on an emulated processor.
    command = ["ffmpeg", "-v", "error", "-nostdin", "-i", path, "-frames:v", "1", "-sws_flags",
               "accurate_rnd+full_chroma_int+full_chroma_inp+bitexact", "-f", "yuv4mpegpipe" if constant else "image2pipe"]
    command += ["-pix_fmt", "yuv444p", "-strict", "-1"] if constant else ["-c:v", "ppm", "-pix_fmt", "rgb24"]
    said = subprocess.run([*command, "-"], stdout=subprocess.PIPE, check=True).stdout
    if constant:
        head, frame = said.split(b"FRAME\n", 1)
        width, height = (int(next(w[1:] for w in head.split() if w[:1] == c)) for c in (b"W", b"H"))
    else:
        _, width, height, _ = said[:40].split()[:4]
        width, height = int(width), int(height)
        frame = said[-3 * width * height:]
    size = width * height

    def at(x, y):
        place = y * width + x
        if not constant:
            return tuple(frame[3 * place:3 * place + 3])
        return constant_luminance(*(frame[place + i * size] for i in range(3)))
    return width, height, at


def constant_luminance(y, cb, cr):
    def light(v):
        return v / 4.5 if v < 0.081 else ((v + 0.099) / 1.099) ** (1 / 0.45)

    def signal(v):
        return v * 4.5 if v < 0.018 else 1.099 * v ** 0.45 - 0.099
    y, cb, cr = (y - 16) / 219, (cb - 128) / 224, (cr - 128) / 224
    blue = y + cb * (1.9404 if cb <= 0 else 1.5816)
    red = y + cr * (1.7184 if cr <= 0 else 0.9936)
    y, red_light, blue_light = (light(min(1, max(0, v))) for v in (y, red, blue))
    green = signal(min(1, max(0, (y - 0.2627 * red_light - 0.0593 * blue_light) / 0.6780)))
    return tuple(min(255, max(0, round(255 * v))) for v in (red, green, blue))


def check(path, fourcc, encoding="0", quantization="0", space="0"):
    width, height, at = pixels(path, int(encoding))
    worst, row = 0, []
    want_all = wanted(fourcc, int(encoding), int(quantization), int(space))
    for i, want in enumerate(want_all):
        x = int((i + 0.5) * width / len(BARS))
        places = [at(x + across, y) for across in (-4, -2, 0, 2, 4) for y in range(height // 4, height * 3 // 4, height // 9)]
        found = tuple(sorted(values)[len(places) // 2] for values in zip(*places))
        worst = max([worst] + [abs(f - w) for f, w in zip(found, want)])
        row.append("/".join(map(str, found)))
    print(f"# {fourcc} {width}x{height} encoding {encoding}, quantization {quantization}, space {space}: "
          f"{worst} off at most: {' '.join(row)}")
    if worst > TOLERANCE:
        print("# wanted:", " ".join("/".join(map(str, bar)) for bar in want_all))
    sys.exit(worst > TOLERANCE)


if __name__ == "__main__":
    {"check": check}[sys.argv[1]](*sys.argv[2:])
