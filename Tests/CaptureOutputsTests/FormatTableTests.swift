import CaptureCore
import Glibc
import Testing

@testable import CaptureOutputs

/// The documentation's table of pixel formats is the one that the code goes by.
@Suite struct FormatTableTests {
    private static let page = "Sources/CaptureKit/Documentation.docc/PixelFormats.md"

    @Test func `the documentation has each raw format as it is`() throws {
        let text = try Shell.read(Self.page)
        let start = try #require(text.firstRange(of: "| formats |"))
        let table = text[start.lowerBound...].prefix { _ in true }.split(separator: "\n\n")[0]
        let wanted = Self.table
        #expect(table == wanted, "the table is to be:\n\(wanted)")
    }

    @Test func `the documentation names what libv4lconvert is trusted with`() throws {
        let names = OddConverter.formats.map { "`\($0)`" }.joined(separator: " ")
        #expect(try Shell.read(Self.page).contains(names), "\(names)")
    }

    private static var table: String {
        var rows: [(names: [String], structure: PixelStructure)] = []
        for (format, structure) in PixelStructure.table {
            if let last = rows.last, last.structure == structure {
                rows[rows.count - 1].names.append("\(format)")
            } else {
                rows.append((["\(format)"], structure))
            }
        }
        let lines = rows.map { names, structure in
            let places =
                structure.isMIPI
                ? "\(structure.planes[0].across) pixels in \(structure.planes[0].group) bytes"
                : structure.components.map { place($0, of: structure) }.joined(separator: ", ")
            let bytes = structure.planes.map { plane in
                let group = plane.across == 1 ? "\(plane.group)" : "\(plane.group)/\(plane.across)"
                return plane.down == 1 ? group : "\(group) each \(plane.down) rows"
            }
            let list = names.map { "`\($0)`" }.joined(separator: " ")
            return
                "| \(list) | \(meaning(structure)) | \(structure.depth) | \(places) | \(bytes.joined(separator: " + ")) |"
        }
        return
            (["| formats | components | bits | where they are | bytes a pixel |", "| --- | --- | --- | --- | --- |"]
            + lines)
            .joined(separator: "\n")
    }

    private static func meaning(_ structure: PixelStructure) -> String {
        switch structure.model {
        case .luma: return "Y"
        case .depth: return "distance"
        case .rgb: return "R G B"
        case .hsv: return "H S V"
        case .bayer(let order): return "Bayer \(order.rawValue.uppercased())"
        case .yuv:
            let chroma = structure.components[1]
            let kind =
                switch (chroma.across, chroma.down) {
                case (1, 1): "4:4:4"
                case (2, 1): "4:2:2"
                case (2, 2): "4:2:0"
                case (4, 1): "4:1:1"
                default: "4:1:0"
                }
            return "Y Cb Cr \(kind)"
        }
    }

    /// As in `plane 1 byte 0`, or the bits of a word.
    private static func place(_ component: PixelStructure.Component, of structure: PixelStructure) -> String {
        let plane = structure.planes.count > 1 ? "plane \(component.plane) " : ""
        if component.bytes == 1, component.bits == 8 { return "\(plane)byte \(component.offset)" }
        let high = component.shift + component.bits - 1
        let isAlone = component.step <= component.bytes
        let word = (component.isBigEndian ? "big-endian " : "") + "word"
        let place = isAlone ? "a \(word)" : "\(word) \(component.offset / component.bytes)"
        return "\(plane)bits \(high) to \(component.shift)" + (component.bytes > 1 ? " of \(place)" : "")
    }
}
