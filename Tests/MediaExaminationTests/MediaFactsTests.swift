@testable import MediaExamination

import Glibc
import Testing

/// Dates and directions, as cameras write them, and what looking for them may take.
@Suite struct MediaFactsTests {
    @Test(arguments: [
        ("2024-05-01T12:30:45Z", 1_714_566_645_000), ("2024-05-01T12:30:45.678000Z", 1_714_566_645_678),
        ("2024-05-01T14:30:45+0200", 1_714_566_645_000), ("2024-05-01 09:00:45-03:30", 1_714_566_645_000),
        ("1969-12-31T23:59:58Z", -2000), ("1970-01-01T00:00:00Z", 0), ("2024-02-29T00:00:00.5Z", 1_709_164_800_500),
    ]) func `a date with a zone is a moment`(text: String, moment: Int64) {
        #expect(MediaDate.iso(text) == moment)
    }

    @Test(arguments: [
        "", "T", "yesterday", "2024-05-01", "2024-05-01T12:30:45", "1904-01-01T00:00:00Z", "2024-13-01T00:00:00Z",
        "2024-05-01T25:00:00Z", "2024-05-01T12:30:45+9900", "2024-05-01T12:30:45+1", "0000-00-00T00:00:00Z",
        "99999999999999999999-05-01T12:30:45Z", "2024-05-01T12:30Z",
    ]) func `what is no date is none`(text: String) {
        #expect(MediaDate.iso(text) == nil)
    }

    @Test(arguments: [(0, 1), (1, 1), (2, 1), (4, 2), (8, 4), (64, 4)] as [(UInt64, UInt64)])
    func `looking into a file takes half of a small machine's memory at most`(machine: UInt64, most: UInt64) {
        #expect(ImportHelper.memory(of: machine << 30) == most << 30)
    }

    @Test func `a camera's date is of its zone, and of the machine's when it does not say`() {
        #expect(MediaDate.exif("2024:05:01 14:30:45", fraction: "25", zone: "+02:00") == 1_714_566_645_250)
        #expect(MediaDate.exif("2024:05:01 14:30:45", fraction: "x", zone: "+02:00") == 1_714_566_645_000)
        var parts = unsafe tm()
        unsafe (parts.tm_year, parts.tm_mon, parts.tm_mday) = (124, 4, 1)
        unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec, parts.tm_isdst) = (14, 30, 45, -1)
        let here = unsafe mktime(&parts)
        #expect(MediaDate.exif("2024:05:01 14:30:45") == Int64(here) * 1000)
        #expect(MediaDate.exif("2024:05:01 14:30:45", zone: "   ") == Int64(here) * 1000)
        #expect(MediaDate.exif("0000:00:00 00:00:00") == nil)
        #expect(MediaDate.exif("    :  :     :  :  ") == nil)
    }

    /// How x and y of a stored picture become those of the upright one: x' = ax + cy, y' = bx + dy, and EXIF's number.
    static let matrices: [([Int32], Int)] = [
        ([1, 0, 0, 1], 1), ([-1, 0, 0, 1], 2), ([-1, 0, 0, -1], 3), ([1, 0, 0, -1], 4), ([0, 1, 1, 0], 5),
        ([0, 1, -1, 0], 6), ([0, -1, -1, 0], 7), ([0, -1, 1, 0], 8),
    ]

    @Test(arguments: matrices) func `a movie's matrix is one of the directions of a photo`(row: ([Int32], Int)) throws {
        let one: Int32 = 1 << 16
        let (a, b, c, d) = (row.0[0] * one, row.0[1] * one, row.0[2] * one, row.0[3] * one)
        let matrix: [Int32] = [a, b, 0, c, d, 0, 0, 0, 1 << 30]
        let orientation = unsafe matrix.withUnsafeBufferPointer { PictureOrientation(matrix: $0.baseAddress) }
        #expect(orientation.rawValue == row.1)
        // The upright picture's first pixel is that corner which the matrix brings there.
        let (width, height) = (4, 3)
        let corner = orientation.source(0, 0, width: width, height: height)
        let moved = (
            x: Int(row.0[0]) * corner.x + Int(row.0[2]) * corner.y,
            y: Int(row.0[1]) * corner.x + Int(row.0[3]) * corner.y
        )
        for x in 0..<width {
            for y in 0..<height {
                #expect(Int(row.0[0]) * x + Int(row.0[2]) * y >= moved.x)
                #expect(Int(row.0[1]) * x + Int(row.0[3]) * y >= moved.y)
            }
        }
    }

    @Test func `a matrix of nothing turns nothing`() {
        let matrix = [Int32](repeating: 0, count: 9)
        let orientation = unsafe matrix.withUnsafeBufferPointer { PictureOrientation(matrix: $0.baseAddress) }
        #expect(orientation == .upright)
        #expect(PictureOrientation(matrix: nil) == .upright)
    }

    @Test func `a scaled picture keeps its shape, and is never larger`() {
        for (sides, edge, wanted) in [
            ((4000, 3000), 2048, (2048, 1536)), ((3000, 4000), 256, (192, 256)), ((10, 10), 256, (10, 10)),
            ((60_000, 1), 256, (256, 1)), ((2048, 2047), 2048, (2048, 2047)),
        ] {
            #expect(Raster.fit(sides.0, sides.1, within: edge) == wanted)
        }
    }
}
