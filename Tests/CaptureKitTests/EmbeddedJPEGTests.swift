import BusSupport
import CaptureKit
import Glibc
import Testing

/// The JPEG inside a raw photo, of our own making and of liars'.
struct `An embedded JPEG` {
    /// A TIFF: a picture of the sensor's numbers, with others below it, and their bytes behind all.
    private struct RawPhoto {
        var isLittle = true
        var jpeg: [UInt8] = [0xff, 0xd8, 0xff, 0xd9, 1, 2, 0xff, 0xd9]
        /// Tag and number of the preview's entries.
        var preview: [Int: Int] = [254: 1, 256: 60, 257: 40, 259: 7, 262: 6]
        var isDNG = true
        /// As the file says it, if that is not true.
        var place: Int?
        var count: Int?
        var first: Int?
        var directory: Int?
        var directories: (count: Int, place: Int)?

        private func bytes(_ number: Int, _ width: Int) -> [UInt8] {
            let low = (0..<width).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            return isLittle ? low : low.reversed()
        }

        private func directory(_ entries: [(tag: Int, type: Int, count: Int, value: Int)]) -> [UInt8] {
            bytes(entries.count, 2)
                + entries.sorted { $0.tag < $1.tag }.flatMap { entry in
                    let value = entry.type == 3 ? bytes(entry.value, 2) + [0, 0] : bytes(entry.value, 4)
                    return bytes(entry.tag, 2) + bytes(entry.type, 2) + bytes(entry.count, 4) + value
                } + bytes(0, 4)
        }

        var file: [UInt8] {
            let below = directories ?? (count: 1, place: directory ?? 200)
            var main = [(254, 4, 1, 0), (256, 3, 1, 60), (257, 3, 1, 40), (330, 13, below.count, below.place)]
            if isDNG { main.append((50706, 1, 4, 1)) }
            var all = (isLittle ? [0x49, 0x49] : [0x4d, 0x4d]) + bytes(42, 2) + bytes(first ?? 8, 4) + directory(main)
            all += [UInt8](repeating: 0, count: 200 - all.count)
            let entries = preview.map { ($0.key, 4, 1, $0.value) }
            all += directory(entries + [(273, 4, 1, place ?? 400), (279, 4, 1, count ?? jpeg.count)])
            all += [UInt8](repeating: 0, count: 400 - all.count)
            return all + jpeg
        }
    }

    private func fault(_ photo: RawPhoto) -> CaptureError.Code? {
        let error = #expect(throws: CaptureError.self) { try EmbeddedJPEG(dng: photo.file) }
        return error?.code
    }

    @Test(arguments: [true, false]) func `is what was put inside, from bytes and from a file`(isLittle: Bool) throws {
        let photo = RawPhoto(isLittle: isLittle)
        let found = try #require(try EmbeddedJPEG(dng: photo.file))
        #expect(found.bytes == photo.jpeg && found.width == 60 && found.height == 40)
        let target = try OutputFile.scratch()
        try unsafe photo.file.withUnsafeBytes { try unsafe target.descriptor.write(all: $0) }
        let reading = try Descriptor.open("/proc/self/fd/\(target.descriptor.descriptor)", O_RDONLY)
        #expect(try EmbeddedJPEG(file: reading) == found)
        #expect(lseek(reading.descriptor, 0, SEEK_CUR) == 0)
    }

    @Test func `is not in anything else`() throws {
        var plain = RawPhoto()
        plain.isDNG = false
        for file in [[], [0x49], [0xff, 0xd8, 0xff, 0xd9], Array("PNG, or so".utf8), plain.file] {
            #expect(try EmbeddedJPEG(dng: file) == nil)
        }
        // Another size, the picture itself, compressed otherwise, of red, green and blue.
        for (tag, number) in [(256, 30), (254, 0), (259, 1), (262, 2)] {
            var photo = RawPhoto()
            photo.preview[tag] = number
            #expect(try EmbeddedJPEG(dng: photo.file) == nil, "\(tag)")
        }
        let (reading, _) = try Descriptor.pipe()
        #expect(code { try EmbeddedJPEG(file: reading) } == .inputOutput)
    }

    @Test(arguments: [401, 396, 8, 0, 408, 4000, Int(UInt32.max)]) func `is refused at a place that is a lie`(
        place: Int
    ) {
        #expect(fault(RawPhoto(place: place)) == .badData)
    }

    @Test(arguments: [0, 1, 3, 7, 9, 4000, Int(UInt32.max)]) func `is refused with a size that is a lie`(count: Int) {
        #expect(fault(RawPhoto(count: count)) == .badData)
    }

    @Test(arguments: [405, 407, 408, 100_000, Int(UInt32.max)]) func `is refused with a directory outside`(place: Int) {
        #expect(fault(RawPhoto(first: place)) == .badData)
        #expect(fault(RawPhoto(directory: place)) == .badData)
        #expect(fault(RawPhoto(directories: (2, place))) == .badData)
    }

    @Test func `is not looked for without an end`() throws {
        for count in [17, 1 << 24, Int(UInt32.max)] {
            #expect(fault(RawPhoto(directories: (count, 200))) == .badData)
        }
        // One that leads to itself.
        #expect(try EmbeddedJPEG(dng: RawPhoto(directory: 8).file) == nil)
        var many = RawPhoto().file
        (many[8], many[9]) = (0xff, 0xff)
        #expect(throws: CaptureError.self) { try EmbeddedJPEG(dng: many) }
    }

    @Test func `is itself or nothing in a file that is cut off or damaged anywhere`() {
        for isLittle in [true, false] {
            let photo = RawPhoto(isLittle: isLittle)
            for end in photo.file.indices {
                let found = try? EmbeddedJPEG(dng: Array(photo.file[..<end]))
                #expect(found == nil, "\(end)")
            }
            for place in photo.file.indices {
                for value: UInt8 in [0, 1, 0x7f, 0x80, 0xff] {
                    var file = photo.file
                    file[place] = value
                    guard let found = try? EmbeddedJPEG(dng: file) else { continue }
                    #expect(found.bytes.starts(with: [0xff, 0xd8, 0xff]) && found.bytes.suffix(2) == [0xff, 0xd9])
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(10))) func `comes out of an asset of the library, of each photo of a burst`() async throws
    {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let program = try await AuthorizationPanel(on: daemon).whoAmI().program
        try await captured.control("auth", "set", program, "library", "all")
        let session = try await CaptureSession(on: daemon)
        let bayer = try #require(PixelFormat(name: "pRAA"))
        let request = VideoFormatRequest(pixelFormat: bayer, width: 640, height: 480)
        try await session.addInput(.camera("synthetic:camera", request: request))
        let output = PhotoOutput()
        try await session.addOutput(output)
        try await session.startRunning()
        let settings = PhotoSettings(
            format: "dng",
            burst: 2,
            companion: "jpeg",
            library: LibraryDestination(name: "shot.dng")
        )
        let photos = try await output.capturePhotos(with: settings)
        #expect(photos.count == 2 && photos.allSatisfy { $0.companion == nil && $0.bytes.isEmpty })
        let library = MediaLibrary(on: daemon)
        for photo in photos {
            let asset = try await library.asset(try #require(photo.saved?.asset))
            #expect(asset.codec == "dng" && asset.size == photo.picture.bytes)
            let jpeg = try #require(try EmbeddedJPEG(file: try await library.contents(of: asset.id)))
            #expect(jpeg.bytes.count > 1000 && jpeg.width == 640 && jpeg.height == 480)
        }
        for wrong in [
            PhotoSettings(format: "dng", companion: "png", library: LibraryDestination()),
            PhotoSettings(format: "png", companion: "jpeg", library: LibraryDestination()),
            PhotoSettings(format: "jpeg", companion: "dng", library: LibraryDestination()),
        ] {
            let error = await #expect(throws: CaptureError.self) { try await output.capturePhotos(with: wrong) }
            #expect(error?.code == .usage && error?.message.contains("one file of a photo") == true, "\(wrong)")
        }
        try await session.stopRunning()
    }
}
