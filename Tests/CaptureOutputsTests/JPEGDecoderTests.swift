import CaptureCore
import MediaConversion
import Synchronization
import Testing

@testable import CaptureOutputs

@Suite struct JPEGDecoderTests {
    private final class Flag: Sendable {
        let isSet = Atomic(false)
    }

    /// As some webcams write them into every frame.
    @Test(arguments: [(0, true), (3, true), (200, false)])
    func `a few bytes too many before a marker cost no frame, and damage does`(count: Int, isTaken: Bool) throws {
        let bytes = try #require(try CopyTests.images(1).first)
        try #require(bytes.suffix(2) == [0xff, 0xd9])
        let image = [UInt8](bytes.dropLast(2)) + [UInt8](repeating: 0x55, count: count) + [0xff, 0xd9]
        let format = Material.compressed(.mjpeg)
        for samples in [PictureLayout.Samples.yuv422, .yuv420, .rgb] {
            let layout = PictureLayout(width: format.width, height: format.height, samples: samples)
            let decoder = try JPEGDecoder(format, to: layout)
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: decoder.capacity, alignment: 64)
            defer { unsafe memory.deallocate() }
            func decode(_ image: [UInt8]) -> Int? {
                unsafe image.withUnsafeBytes { unsafe decoder.decode($0, into: memory) }
            }
            #expect((decode(image) != nil) == isTaken)
            #expect(decode(Array(bytes.prefix(bytes.count / 2))) == nil)
            #expect(unsafe bytes.withUnsafeBytes { unsafe decoder.eighth(of: $0) } != nil)
        }
    }

    /// A ring's memory is the driver's, which may write to it at any time.
    @Test func `an image whose header changes between two looks at it stays within its planes`() async throws {
        let bytes = try #require(try CopyTests.images(1).first)
        let header = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xff && bytes[$0 + 1] == 0xc0 })
        // A frame header is length, precision, height, width and number of planes, then each plane's name and sampling.
        let sampling = header + 11
        // ffmpeg writes 4:2:2 as luma of 2x2 with chroma of 1x2.
        try #require(bytes[sampling] == 0x22)
        let format = Material.compressed(.mjpeg)
        let layout = PictureLayout(width: format.width, height: format.height, samples: .yuv422)
        let decoder = try JPEGDecoder(format, to: layout)
        let image = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 64)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: decoder.capacity + 100_000, alignment: 64)
        defer {
            unsafe image.deallocate()
            unsafe memory.deallocate()
        }
        unsafe image.copyBytes(from: bytes)
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0xa5)

        let flag = Flag()
        let place = unsafe UInt(bitPattern: image.baseAddress! + sampling)
        try await withThrowingTaskGroup { group in
            group.addTask {
                // From one chroma sample in two columns to one in each, and back.
                let sampling = unsafe UnsafeMutablePointer<UInt8>(bitPattern: place)!
                while !flag.isSet.load(ordering: .relaxed) { unsafe sampling.pointee ^= 0x30 }
            }
            for _ in 0..<500 { _ = unsafe decoder.decode(UnsafeRawBufferPointer(image), into: memory) }
            flag.isSet.store(true, ordering: .relaxed)
            try await group.waitForAll()
        }
        #expect(unsafe memory[decoder.capacity...].allSatisfy { $0 == 0xa5 })
    }
}
