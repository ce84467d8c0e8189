/// The structure of a raw format's frames: their numbers, the place of each, and its meaning.
///
/// `PixelStructure.table` has all raw formats that are read here, and is the only place that knows them: choosing a
/// format, checking that a frame is whole, converting it and the table in the documentation all go by it.
public struct PixelStructure: Hashable, Sendable {
    /// The meaning of a pixel's components.
    public enum Model: Hashable, Sendable {
        /// Luma alone.
        case luma
        /// Luma, Cb, Cr.
        case yuv
        /// Red, green, blue.
        case rgb
        /// Hue, saturation, value.
        case hsv
        /// A distance in millimetres; 0 is unknown.
        case depth
        /// One of red, green and blue a pixel, in a pattern of two by two.
        case bayer(BayerOrder)
    }

    /// The four pixels at the top left of a Bayer pattern, row by row.
    public enum BayerOrder: String, CaseIterable, Hashable, Sendable {
        case bggr, gbrg, grbg, rggb

        /// Whether the pixel at the top left is in a row with red in it.
        public var redRowFirst: Bool { self == .grbg || self == .rggb }
        /// Whether the pixel at the top left is green.
        public var greenFirst: Bool { self == .gbrg || self == .grbg }
    }

    /// A colour plane: rows of groups of bytes, each group for so many pixels across and rows down.
    public struct Plane: Hashable, Sendable {
        /// Bytes of a group.
        public let group: Int
        /// Pixels across that a group is for.
        public let across: Int
        /// Rows of the picture that a row of the plane is for.
        public let down: Int

        /// Bytes of a row of so many pixels.
        public func row(_ width: Int) -> Int { (width + across - 1) / across * group }
        /// Rows for a picture of so many rows.
        public func rows(_ height: Int) -> Int { (height + down - 1) / down }
    }

    /// Where one component stands: a field of bits in a word, which comes again at each step.
    public struct Component: Hashable, Sendable {
        /// The colour plane.
        public let plane: Int
        /// Bytes from the start of the row to the first word.
        public let offset: Int
        /// Bytes from word to word.
        public let step: Int
        /// Bytes of a word: 1, 2 or 4.
        public let bytes: Int
        /// Whether the first byte is the highest.
        public let isBigEndian: Bool
        /// The lowest bit of the field.
        public let shift: Int
        /// Bits of the field.
        public let bits: Int
        /// Pixels across that one value is for.
        public let across: Int
        /// Rows down that one value is for.
        public let down: Int
    }

    /// The meaning of the components.
    public let model: Model
    /// The colour planes.
    public let planes: [Plane]
    /// One or three, in the model's order. Empty if the bits are packed over bytes, as in MIPI formats.
    public let components: [Component]
    /// Bits of each component at most.
    public let depth: Int

    /// Whether bits are packed as MIPI's RAW10, RAW12 and RAW14: the high eight bits of two or four pixels, then what is
    /// left of each.
    public var isMIPI: Bool { components.isEmpty }

    /// The structure of a format, `nil` for what is compressed or not read here.
    public init?(_ format: PixelFormat) {
        guard let known = PixelStructure.known[format] else { return nil }
        self = known
    }

    private static let known = Dictionary(uniqueKeysWithValues: table.map { ($0.format, $0.structure) })

    private init(_ model: Model, _ planes: [Plane], _ components: [Component], depth: Int? = nil) {
        self.model = model
        self.planes = planes
        self.components = components
        self.depth = depth ?? components.map(\.bits).max() ?? 8
    }
}

// MARK: The table

extension PixelStructure {
    /// All raw formats that are read here, in the order of the documentation.
    public static let table: [(format: PixelFormat, structure: PixelStructure)] =
        named(packed422 + semiplanar + planar + packedYUV + luma + rgbBytes + rgbWords + hsv + bayer)

    private typealias Row = (names: String, structure: PixelStructure)

    private static func named(_ rows: [Row]) -> [(format: PixelFormat, structure: PixelStructure)] {
        rows.flatMap { row in
            row.names.split(separator: " ").compactMap { name in
                PixelFormat(name: name).map { ($0, row.structure) }
            }
        }
    }

    private static let packed422: [Row] = [("YUYV", 0, 1, 3), ("YVYU", 0, 3, 1), ("UYVY", 1, 0, 2), ("VYUY", 1, 2, 0)]
        .map { name, y, u, v in
            let components = [
                byte(at: y, step: 2), byte(at: u, step: 4, across: 2), byte(at: v, step: 4, across: 2),
            ]
            return (name, PixelStructure(.yuv, [Plane(group: 4, across: 2, down: 1)], components))
        }

    private static let semiplanar: [Row] = [
        ("NV12 NM12", interleaved(2, 2, crFirst: false)), ("NV21 NM21", interleaved(2, 2, crFirst: true)),
        ("NV16 NM16", interleaved(2, 1, crFirst: false)), ("NV61 NM61", interleaved(2, 1, crFirst: true)),
        ("NV24", interleaved(1, 1, crFirst: false)), ("NV42", interleaved(1, 1, crFirst: true)),
        ("P010", interleaved(2, 2, crFirst: false, bits: 10)),
        ("P012 PM12", interleaved(2, 2, crFirst: false, bits: 12)),
    ]

    private static let planar: [Row] = [
        ("YU12 YM12", separate(2, 2, crFirst: false)), ("YV12 YM21", separate(2, 2, crFirst: true)),
        ("422P YM16", separate(2, 1, crFirst: false)), ("YM61", separate(2, 1, crFirst: true)),
        ("YM24", separate(1, 1, crFirst: false)), ("YM42", separate(1, 1, crFirst: true)),
        ("411P", separate(4, 1, crFirst: false)),
        ("YUV9", separate(4, 4, crFirst: false)), ("YVU9", separate(4, 4, crFirst: true)),
    ]

    private static let packedYUV: [Row] = [
        ("YUV3", bytes(.yuv, of: 3, 0, 1, 2)),
        ("YUV4 AYUV XYUV", bytes(.yuv, of: 4, 1, 2, 3)), ("YUVA YUVX", bytes(.yuv, of: 4, 0, 1, 2)),
        ("VUYA VUYX", bytes(.yuv, of: 4, 2, 1, 0)),
        ("Y444", word(.yuv, 2, (8, 4), (4, 4), (0, 4))), ("YUVO", word(.yuv, 2, (10, 5), (5, 5), (0, 5))),
        ("YUVP", word(.yuv, 2, (11, 5), (5, 6), (0, 5))),
    ]

    private static let luma: [Row] =
        [("Y04", 1, 4), ("Y06", 1, 6), ("GREY", 1, 8), ("Y10", 2, 10), ("Y12", 2, 12), ("Y14", 2, 14), ("Y16", 2, 16)]
        .map { name, bytes, bits in (name, lone(.luma, bytes, bits)) } + [
            ("Y16-BE", lone(.luma, 2, 16, isBigEndian: true)), ("Y10P", mipi(.luma, 10)), ("Z16", lone(.depth, 2, 16)),
        ]

    private static let rgbBytes: [Row] = [
        ("RGB3", bytes(.rgb, of: 3, 0, 1, 2)), ("BGR3", bytes(.rgb, of: 3, 2, 1, 0)),
        ("XB24 AB24", bytes(.rgb, of: 4, 0, 1, 2)), ("XR24 AR24 BGR4", bytes(.rgb, of: 4, 2, 1, 0)),
        ("BX24 BA24 RGB4", bytes(.rgb, of: 4, 1, 2, 3)), ("RX24 RA24", bytes(.rgb, of: 4, 3, 2, 1)),
    ]

    private static let rgbWords: [Row] = [
        ("RGB1", word(.rgb, 1, (5, 3), (2, 3), (0, 2))),
        ("R444 XR12 AR12", word(.rgb, 2, (8, 4), (4, 4), (0, 4))),
        ("RX12 RA12", word(.rgb, 2, (12, 4), (8, 4), (4, 4))),
        ("XB12 AB12", word(.rgb, 2, (0, 4), (4, 4), (8, 4))), ("BX12 GA12", word(.rgb, 2, (4, 4), (8, 4), (12, 4))),
        ("RGBO XR15 AR15", word(.rgb, 2, (10, 5), (5, 5), (0, 5))),
        ("RGBQ XR15-BE AR15-BE", word(.rgb, 2, (10, 5), (5, 5), (0, 5), isBigEndian: true)),
        ("RX15 RA15", word(.rgb, 2, (11, 5), (6, 5), (1, 5))),
        ("XB15 AB15", word(.rgb, 2, (0, 5), (5, 5), (10, 5))), ("BX15 BA15", word(.rgb, 2, (1, 5), (6, 5), (11, 5))),
        ("RGBP", word(.rgb, 2, (11, 5), (5, 6), (0, 5))),
        ("RGBR", word(.rgb, 2, (11, 5), (5, 6), (0, 5), isBigEndian: true)),
        ("BGRH", word(.rgb, 4, (14, 6), (20, 6), (26, 6), isBigEndian: true)),
    ]

    private static let hsv: [Row] = [("HSV3", bytes(.hsv, of: 3, 0, 1, 2)), ("HSV4", bytes(.hsv, of: 4, 1, 2, 3))]

    private static let bayer: [Row] =
        [
            (8, ["BA81", "GBRG", "GRBG", "RGGB"]), (10, ["BG10", "GB10", "BA10", "RG10"]),
            (12, ["BG12", "GB12", "BA12", "RG12"]), (14, ["BG14", "GB14", "GR14", "RG14"]),
            (16, ["BYR2", "GB16", "GR16", "RG16"]),
        ].flatMap { bits, names in
            zip(names, BayerOrder.allCases).map { ($0, lone(.bayer($1), bits > 8 ? 2 : 1, bits)) }
        }
        + [
            (10, ["pBAA", "pGAA", "pgAA", "pRAA"]), (12, ["pBCC", "pGCC", "pgCC", "pRCC"]),
            (14, ["pBEE", "pGEE", "pgEE", "pREE"]),
        ].flatMap { bits, names in
            zip(names, BayerOrder.allCases).map { ($0, mipi(.bayer($1), bits)) }
        }
}

// MARK: Kinds of rows

extension PixelStructure {
    private static func byte(plane: Int = 0, at place: Int, step: Int, across: Int = 1, down: Int = 1) -> Component {
        high(8, plane: plane, at: place, step: step, across: across, down: down)
    }

    /// So many high bits of one byte, or of two if there are more than eight. `place` and `step` count such words.
    private static func high(
        _ bits: Int,
        plane: Int = 0,
        at place: Int,
        step: Int,
        across: Int = 1,
        down: Int = 1
    ) -> Component {
        let bytes = bits > 8 ? 2 : 1
        return Component(
            plane: plane,
            offset: place * bytes,
            step: step * bytes,
            bytes: bytes,
            isBigEndian: false,
            shift: bytes * 8 - bits,
            bits: bits,
            across: across,
            down: down
        )
    }

    /// Three bytes in a group for each pixel.
    private static func bytes(_ model: Model, of group: Int, _ a: Int, _ b: Int, _ c: Int) -> PixelStructure {
        let plane = Plane(group: group, across: 1, down: 1)
        return PixelStructure(model, [plane], [a, b, c].map { byte(at: $0, step: group) })
    }

    /// Three fields of bits, each with its shift and its width, in a word for each pixel.
    private static func word(
        _ model: Model,
        _ bytes: Int,
        _ fields: (shift: Int, bits: Int)...,
        isBigEndian: Bool = false
    ) -> PixelStructure {
        let components = fields.map { field in
            Component(
                plane: 0,
                offset: 0,
                step: bytes,
                bytes: bytes,
                isBigEndian: isBigEndian,
                shift: field.shift,
                bits: field.bits,
                across: 1,
                down: 1
            )
        }
        return PixelStructure(model, [Plane(group: bytes, across: 1, down: 1)], components)
    }

    /// One number a pixel, in the low bits of its word.
    private static func lone(_ model: Model, _ bytes: Int, _ bits: Int, isBigEndian: Bool = false) -> PixelStructure {
        word(model, bytes, (0, bits), isBigEndian: isBigEndian)
    }

    /// One number a pixel, packed over bytes.
    private static func mipi(_ model: Model, _ bits: Int) -> PixelStructure {
        let across = bits == 12 ? 2 : 4
        return PixelStructure(model, [Plane(group: across * bits / 8, across: across, down: 1)], [], depth: bits)
    }

    /// A plane of luma, and one of chroma in pairs.
    private static func interleaved(_ across: Int, _ down: Int, crFirst: Bool, bits: Int = 8) -> PixelStructure {
        let bytes = bits > 8 ? 2 : 1
        return PixelStructure(
            .yuv,
            [Plane(group: bytes, across: 1, down: 1), Plane(group: 2 * bytes, across: across, down: down)],
            [
                high(bits, at: 0, step: 1),
                high(bits, plane: 1, at: crFirst ? 1 : 0, step: 2, across: across, down: down),
                high(bits, plane: 1, at: crFirst ? 0 : 1, step: 2, across: across, down: down),
            ]
        )
    }

    /// Three planes.
    private static func separate(_ across: Int, _ down: Int, crFirst: Bool) -> PixelStructure {
        let chroma = Plane(group: 1, across: across, down: down)
        return PixelStructure(
            .yuv,
            [Plane(group: 1, across: 1, down: 1), chroma, chroma],
            [
                byte(at: 0, step: 1), byte(plane: crFirst ? 2 : 1, at: 0, step: 1, across: across, down: down),
                byte(plane: crFirst ? 1 : 2, at: 0, step: 1, across: across, down: down),
            ]
        )
    }
}

// MARK: Where the planes of a frame lie

/// Where a colour plane lies in a slot.
public struct ColorPlane: Hashable, Sendable {
    /// Which memory plane holds it.
    public let memory: Int
    /// Bytes from the start of the memory plane.
    public let offset: Int
    /// Bytes from row to row.
    public let stride: Int
    /// Bytes of a row that mean something. They are fewer than the format asks for if a driver's rows are shorter, as
    /// most drivers' rows are at odd widths.
    public let row: Int
    /// Rows; fewer than the format asks for if a driver leaves out the last row of chroma, at odd heights.
    public let rows: Int

    /// The last byte that is needed, from the start of the memory plane.
    public var end: Int { offset + stride * (rows - 1) + row }
}

extension PixelStructure {
    /// The colour planes of a frame of a format, after the strides and sizes that the driver reports.
    ///
    /// Where all planes share a memory plane, its size says whether the strides and rows of chroma were rounded up, as the
    /// kernel's own helper does, or cut off. At odd sizes writers round up. So does a program that writes into
    /// v4l2loopback, although that driver reports a frame that is up to two rows of chroma shorter.
    ///
    /// - Returns: `nil` if the memory planes are too few, or too small for a row.
    public func planes(of format: VideoFormat) -> [ColorPlane]? {
        let (width, height) = (format.width, format.height)
        guard let first = format.planes.first else { return nil }
        if format.planes.count == planes.count {
            return whole(
                planes.indices.map { index in
                    let memory = format.planes[index]
                    let ideal = planes[index]
                    let stride = memory.stride > 0 ? memory.stride : ideal.row(width)
                    return ColorPlane(
                        memory: index,
                        offset: 0,
                        stride: stride,
                        row: min(ideal.row(width), stride),
                        rows: min(ideal.rows(height), (memory.size - min(ideal.row(width), stride)) / stride + 1)
                    )
                }
            )
        }
        guard format.planes.count == 1 else { return nil }
        let stride = first.stride > 0 ? first.stride : planes[0].row(width)
        let rounded = chroma(stride, height, first.size, cut: false)
        let cut = chroma(stride, height, first.size, cut: true)
        let isOdd = stride / planes[0].group % 2 == 1 || height % 2 == 1
        let isNearlyRounded = isOdd && rounded.end - first.size < 2 * rounded.stride
        let isRounded = isNearlyRounded || (cut.end != first.size && rounded.end <= first.size)
        let rest = isRounded ? rounded : cut
        let luma = ColorPlane(
            memory: 0,
            offset: 0,
            stride: stride,
            row: min(planes[0].row(width), stride),
            rows: height
        )
        return whole([luma] + rest.planes(width, first.size, self))
    }

    /// The planes behind the first one in one memory plane.
    private struct Chroma {
        var start: Int
        var stride: Int
        var rows: Int
        /// Bytes from plane to plane.
        var size: Int
        var count: Int
        var end: Int { start + count * size }

        /// - Parameter bytes: Of the memory plane: vivid's is at some widths a row or two of Cr short.
        func planes(_ width: Int, _ bytes: Int, _ structure: PixelStructure) -> [ColorPlane] {
            (0..<count).map { index in
                let offset = start + index * size
                let row = min(structure.planes[index + 1].row(width), stride)
                let there = stride > 0 && bytes >= offset + row ? (bytes - offset - row) / stride + 1 : 0
                return ColorPlane(memory: 0, offset: offset, stride: stride, row: row, rows: min(rows, there))
            }
        }
    }

    private func chroma(_ stride: Int, _ height: Int, _ bytes: Int, cut: Bool) -> Chroma {
        guard planes.count > 1 else { return Chroma(start: stride * height, stride: 0, rows: 0, size: 0, count: 0) }
        let plane = planes[1]
        // A stride of luma, in pixels, brought to groups of chroma.
        let pixels = stride / planes[0].group
        let step = cut ? pixels * plane.group / plane.across : (pixels + plane.across - 1) / plane.across * plane.group
        return Chroma(
            start: stride * height,
            stride: step,
            rows: cut ? height / plane.down : plane.rows(height),
            size: cut ? step * height / plane.down : step * plane.rows(height),
            count: planes.count - 1
        )
    }

    /// The planes, if each has a row of at least one group: readers take a group whole.
    private func whole(_ found: [ColorPlane]) -> [ColorPlane]? {
        zip(found, planes).allSatisfy { $0.row >= $1.group && $0.rows > 0 && $0.stride > 0 } ? found : nil
    }
}
