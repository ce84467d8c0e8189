import CaptureCore
import CaptureSystem
import Testing
@testable import MediaExamination

/// Pictures that are turned and mirrored, as programs show them: seen by the luma of their corners.
@Suite struct `A connection that turns and mirrors` {
    private static let format = Material.yuyv(64, 48)
    /// Luma from the upper left clockwise.
    private static let corners = [40, 90, 150, 220]

    struct Turn: CustomTestStringConvertible, Sendable {
        let rotation: Int
        let isMirrored: Bool
        var testDescription: String { "\(rotation) \(isMirrored)" }

        /// The corners as they are to be shown, from the upper left clockwise.
        var shown: [Int] {
            let all = `A connection that turns and mirrors`.corners
            let flat = isMirrored ? [all[1], all[0], all[3], all[2]] : all
            // A quarter clockwise brings the lower left to the upper left.
            return (0..<4).map { flat[($0 + 4 - rotation / 90) % 4] }
        }

        var size: (width: Int, height: Int) { rotation % 180 == 0 ? (64, 48) : (48, 64) }

        var settings: ConnectionSettings {
            var settings = ConnectionSettings()
            (settings.rotation, settings.isMirrored) = (rotation, isMirrored)
            return settings
        }
    }

    static let turns = [0, 90, 180, 270].flatMap {
        [Turn(rotation: $0, isMirrored: false), Turn(rotation: $0, isMirrored: true)]
    }

    /// A frame of four quarters.
    private static let frame: [UInt8] = {
        var bytes: [UInt8] = []
        for y in 0..<48 {
            for x in 0..<64 {
                let corner = y < 24 ? (x < 32 ? 0 : 1) : (x < 32 ? 3 : 2)
                bytes += [UInt8(corners[corner]), 128]
            }
        }
        return bytes
    }()

    private func file(_ kind: OutputKind, _ format: String, _ turn: Turn) throws -> Rig {
        var output = OutputDescription(
            name: "o",
            kind: kind,
            format: format,
            videoCodec: kind == .movie ? "mjpeg" : "auto"
        )
        output.settings = turn.settings
        let rig = try Rig(output, video: Self.format)
        for index in 0..<3 { try rig.frame(Self.frame, at: Int64(index) * 33_000_000) }
        #expect(try rig.finished(try rig.end()).frames > 0)
        return rig
    }

    /// Whether a file's first picture, as ffmpeg shows it, has the corners where they belong.
    private func isShown(_ path: String, _ turn: Turn) throws -> Bool {
        let out = Rig.temporaryPath("gray")
        defer { _ = try? Shell.run("rm -f \(out)") }
        _ = try Probe.run("ffmpeg -v error -i \(path) -frames:v 1 -f rawvideo -pix_fmt gray -y \(out)")
        let bytes = try Shell.bytes(out)
        let (width, height) = turn.size
        guard bytes.count == width * height else { return false }
        let found = [(8, 8), (width - 9, 8), (width - 9, height - 9), (8, height - 9)].map {
            Int(bytes[$0.1 * width + $0.0])
        }
        // Gray is of full range, luma is not.
        return zip(found, turn.shown).allSatisfy { abs($0 - ($1 - 16) * 255 / 219) < 12 }
    }

    @Test(arguments: turns) func `is followed by players of MP4`(turn: Turn) throws {
        let rig = try file(.movie, "mp4", turn)
        #expect(try isShown(rig.path, turn))
    }

    @Test func `is followed by players of MOV, also in one that broke off`() throws {
        let turn = Turn(rotation: 90, isMirrored: false)
        let rig = try file(.movie, "mov", turn)
        #expect(try isShown(rig.path, turn))
        let told = try Probe.values(rig.path, "-select_streams v -show_entries stream_side_data=rotation")
        #expect(told == ["-90"])
        // The index that fragments have, with the place of the picture on the screen.
        let header = try #require(try tkhd(rig.path))
        #expect(header[..<9] == [0, 1 << 16, 0, -(1 << 16), 0, 0, 48 << 16, 0, 1 << 30])
    }

    /// The matrix of the first track, then its width and height.
    private func tkhd(_ path: String) throws -> [Int]? {
        let bytes = try Shell.bytes(path)
        guard let at = bytes.indices.first(where: { bytes[$0...].starts(with: Array("tkhd".utf8)) }) else { return nil }
        let matrix = at + 4 + (bytes[at + 4] == 1 ? 52 : 40)
        return (0..<11).map { index in
            Int(Int32(bitPattern: (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[matrix + 4 * index + $1]) }))
        }
    }

    /// The numbers of Matroska's projection: type, yaw and roll; `nil` without one.
    private func projection(_ path: String) throws -> (type: Int?, yaw: Double, roll: Double)? {
        let bytes = try Shell.bytes(path)
        func place(_ id: [UInt8]) -> Int? {
            bytes.indices.first { bytes[$0...].starts(with: id) }.map { $0 + id.count }
        }
        func float(_ id: UInt8) -> Double {
            guard let at = place([0x76, id, 0x88]) else { return 0 }
            return Double(bitPattern: (0..<8).reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[at + $1]) })
        }
        guard place([0x76, 0x70]) != nil else { return nil }
        #expect(place([0x76, 0x72]) == nil, "flat pictures have no private part")
        return (place([0x76, 0x71, 0x81]).map { Int(bytes[$0]) }, float(0x73), float(0x75))
    }

    @Test(arguments: turns) func `is in Matroska as the pose of flat pictures`(turn: Turn) throws {
        let rig = try file(.movie, "mkv", turn)
        let found = try projection(rig.path)
        if turn.rotation == 0, !turn.isMirrored {
            #expect(found == nil)
        } else {
            let pose = try #require(found)
            #expect(pose.type == 0)
            #expect(pose.yaw == (turn.isMirrored ? 180 : 0))
            // Counterclockwise.
            #expect((Int(pose.roll) + turn.rotation) % 360 == 0)
        }
        #expect(try Probe.decodes(rig.path))
        #expect(try !Probe.run("ffprobe -v error -show_streams \(rig.path)").contains("Spherical"))
    }

    @Test(arguments: turns) func `turns a PNG itself`(turn: Turn) throws {
        let rig = try file(.photo, "png", turn)
        #expect(try isShown(rig.path, turn))
    }

    @Test(arguments: turns) func `is in a JPEG as EXIF orientation`(turn: Turn) throws {
        let rig = try file(.photo, "jpeg", turn)
        let number = try Probe.run("exiftool -n -s3 -Orientation \(rig.path)")
        let orientation = try #require(
            Int(number.split(separator: "\n").first ?? "").flatMap { PictureOrientation(rawValue: $0) }
        )
        #expect(shown(orientation) == turn.shown)
    }

    /// The corners of an upright picture, by where they come from.
    private func shown(_ orientation: PictureOrientation) -> [Int] {
        [(0, 0), (1, 0), (1, 1), (0, 1)].map { x, y in
            let from = orientation.source(x, y, width: 2, height: 2)
            return Self.corners[from.y == 0 ? from.x : 3 - from.x]
        }
    }

    @Test(arguments: PictureOrientation.allCases) func `is added to what a camera's JPEG says`(
        first: PictureOrientation
    ) {
        for second in PictureOrientation.allCases {
            let both = first.followed(by: second)
            for (x, y) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let middle = second.source(x, y, width: 2, height: 2)
                let step = first.source(middle.x, middle.y, width: 2, height: 2)
                #expect(both.source(x, y, width: 2, height: 2) == step, "\(first) then \(second)")
            }
        }
    }

    @Test(arguments: [OutputKind.frames, .samples, .buffer, .sound]) func `is refused for what passes on what comes`(
        kind: OutputKind
    ) {
        var output = OutputDescription(name: "o", kind: kind, format: "")
        for turn in Self.turns where turn.rotation > 0 || turn.isMirrored {
            output.settings = turn.settings
            let error = #expect(throws: CaptureError.self) {
                try output.checkSettings(hasPictures: true, hasSound: true)
            }
            #expect(error?.code == .invalidArgument && error?.message.contains("movies and photos") == true)
        }
        output = OutputDescription(name: "o", kind: .movie, format: "mkv")
        for angle in [-90, 1, 45, 360] {
            output.settings.rotation = angle
            let error = #expect(throws: CaptureError.self) {
                try output.checkSettings(hasPictures: true, hasSound: true)
            }
            #expect(error?.message.contains("\(angle) degrees") == true)
        }
    }
}
