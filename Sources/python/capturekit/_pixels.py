"""How frames are shaped, by their pixel formats, as arrays that need no copy."""
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Plane(NamedTuple):
    """A colour plane: a value for so many pixels across and down; how many numbers it has, and of which type."""

    across: int = 1
    down: int = 1
    numbers: int = 1
    type: str = "u1"


def _of(names: str, *planes: Plane) -> dict[str, tuple[Plane, ...]]:
    return {name: planes for name in names.split()}


_WORD, _BIG, _BIG_LONG = "<u2", ">u2", ">u4"
SHAPES: dict[str, tuple[Plane, ...]] = {
    # Two numbers a pixel: luma, and by turns one of the two colours.
    **_of("YUYV YVYU UYVY VYUY", Plane(numbers=2)),
    **_of("RGB3 BGR3 YUV3 HSV3", Plane(numbers=3)),
    **_of("XB24 AB24 XR24 AR24 BGR4 BX24 BA24 RGB4 RX24 RA24 YUV4 AYUV XYUV YUVA YUVX VUYA VUYX HSV4",
          Plane(numbers=4)),
    **_of("GREY Y04 Y06 BA81 GBRG GRBG RGGB RGB1", Plane()),
    **_of("Y10 Y12 Y14 Y16 Z16 BG10 GB10 BA10 RG10 BG12 GB12 BA12 RG12 BG14 GB14 GR14 RG14 BYR2 GB16 GR16 RG16",
          Plane(type=_WORD)),
    **_of("RGBP RGBO XR15 AR15 RX15 RA15 XB15 AB15 BX15 BA15 R444 XR12 AR12 RX12 RA12 XB12 AB12 BX12 GA12 Y444 YUVO "
          "YUVP", Plane(type=_WORD)),
    **_of("Y16-BE RGBQ XR15-BE AR15-BE RGBR", Plane(type=_BIG)),
    **_of("BGRH", Plane(type=_BIG_LONG)),
    **_of("NV12 NM12 NV21 NM21", Plane(), Plane(2, 2, 2)),
    **_of("NV16 NM16 NV61 NM61", Plane(), Plane(2, 1, 2)),
    **_of("NV24 NV42", Plane(), Plane(1, 1, 2)),
    **_of("P010 P012 PM12", Plane(type=_WORD), Plane(2, 2, 2, _WORD)),
    **_of("YU12 YM12 YV12 YM21", Plane(), Plane(2, 2), Plane(2, 2)),
    **_of("422P YM16 YM61", Plane(), Plane(2, 1), Plane(2, 1)),
    **_of("YM24 YM42", Plane(), Plane(), Plane()),
    **_of("411P", Plane(), Plane(4, 1), Plane(4, 1)),
    **_of("YUV9 YVU9", Plane(), Plane(4, 4), Plane(4, 4)),
}


def _array(memory: memoryview, offset: int, stride: int, width: int, height: int,
           plane: Plane) -> "NDArray[Any] | None":
    """Rows of a plane, where they are; None if the memory ends before them."""
    import numpy

    kind = numpy.dtype(plane.type)
    pixel = plane.numbers * kind.itemsize
    columns, rows = -(-width // plane.across), -(-height // plane.down)
    if stride < columns * pixel or offset + stride * (rows - 1) + columns * pixel > len(memory):
        return None
    return of_bytes(memory, kind, (rows, columns, plane.numbers), offset, (stride, pixel, kind.itemsize))


def of_bytes(memory: memoryview, kind: Any, shape: tuple[int, ...], offset: int = 0,
             strides: tuple[int, ...] | None = None) -> "NDArray[Any]":
    """An array that can never be written to: made of a memoryview directly, it would allow setflags(write=True).
    Without a last dimension of one number."""
    import numpy

    array: NDArray[Any] = numpy.ndarray(shape, kind, numpy.frombuffer(memory, numpy.uint8), offset, strides)
    return array[..., 0] if strides and shape[-1] == 1 else array


def planes(name: str, width: int, height: int, memory: list[memoryview],
           strides: list[int]) -> "tuple[NDArray[Any], ...]":
    """The colour planes of a frame; its bytes, if it is compressed, of a format that is not known here, or cut
    short."""
    import numpy

    wanted = SHAPES.get(name, ())
    found: list[NDArray[Any]] = []
    offset, at = 0, 0
    for index, plane in enumerate(wanted):
        first = wanted[0]
        if len(memory) == len(wanted):
            at, offset, stride = index, 0, strides[index]
        else:
            # All are in one memory plane, one after the other, with rows as much shorter as they have fewer numbers.
            stride = strides[0] * plane.numbers * first.across // (plane.across * first.numbers)
        array = _array(memory[at], offset, stride, width, height, plane)
        if array is None:
            found = []
            break
        found.append(array)
        offset += stride * array.shape[0]
    if found:
        return tuple(found)
    return tuple(numpy.frombuffer(one, numpy.uint8) for one in memory)
