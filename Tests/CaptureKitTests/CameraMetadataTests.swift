import CaptureCore
import CaptureRing
import Testing

@testable import CaptureKit

/// The metadata of a USB camera's frames, true or not.
@Suite(.timeLimit(.minutes(10))) struct CameraMetadataTests {
    /// A block with both clocks.
    private static let block: [UInt8] =
        [0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11] + [0x34, 0x12] + [12, 0x8f]
        + [1, 2, 3, 4] + [5, 6, 7, 8] + [9, 10]

    private func metadata(_ bytes: [UInt8], _ format: PixelFormat = .uvcHeaders) -> CameraMetadata {
        CameraMetadata(time: Timestamp(nanoseconds: 0), frame: nil, sequence: 0, format: format, bytes: bytes)
    }

    @Test func `the blocks of a buffer are read in their order`() throws {
        let short: [UInt8] = Array(repeating: 0, count: 10) + [6, 0x04] + [0xff, 0, 0, 0]
        let blocks = try #require(metadata(Self.block + short + Self.block).uvcBlocks)
        #expect(blocks.count == 3)
        #expect(blocks[0].hostTime == 0x1122_3344_5566_7788 && blocks[0].hostFrame == 0x1234)
        #expect(blocks[0].presentationTime == 0x0403_0201)
        #expect(blocks[0].cameraClock == 0x0807_0605 && blocks[0].cameraFrame == 0x0a09)
        #expect(blocks[0].isLastOfFrame && !blocks[0].hasError && blocks[0].makersPart.isEmpty)
        #expect(blocks[1].presentationTime == 255 && blocks[1].cameraClock == nil && blocks[1].cameraFrame == nil)
        #expect(blocks[2] == blocks[0])
    }

    @Test func `what the driver left out of a longer header is not looked for`() throws {
        var longer = Self.block
        longer[10] = 40
        #expect(metadata(longer + Self.block).uvcBlocks?.count == 2)
        // With a maker's part, all of it is there.
        #expect(metadata(longer + Self.block, .uvcD4XX).uvcBlocks?.isEmpty == true)
        let whole = longer + Array(repeating: 7, count: 28) + Self.block
        #expect(metadata(whole, .uvcD4XX).uvcBlocks?.map(\.makersPart.count) == [28, 0])
    }

    @Test func `a block that lies about its length ends the list, and nothing is read behind the buffer`() throws {
        for length in [0, 1, 2, 11] as [UInt8] {
            var lying = Self.block
            lying[10] = length
            #expect(metadata(Self.block + lying + Self.block).uvcBlocks?.count == 1)
        }
        for format in [PixelFormat.uvcHeaders, .uvcD4XX, .uvcMicrosoft] {
            for count in 0..<Self.block.count {
                #expect(metadata(Array(Self.block.prefix(count)), format).uvcBlocks?.isEmpty == true)
            }
            // Any bytes at all: as many blocks as could be there, at most.
            var dice = Dice(state: 42)
            for _ in 0..<2000 {
                let bytes = (0..<Int(dice.roll(200))).map { _ in UInt8(dice.roll(256)) }
                let blocks = try #require(metadata(bytes, format).uvcBlocks)
                #expect(blocks.count * 12 <= bytes.count)
                for block in blocks { #expect((block.items ?? []).count * 8 <= bytes.count) }
            }
        }
    }

    @Test func `items are read if all of them are whole`() throws {
        func items(_ bytes: [UInt8]) -> [UVCMetadataItem]? {
            var block = Self.block
            block[10] = UInt8(12 + bytes.count)
            return metadata(block + bytes, .uvcMicrosoft).uvcBlocks?.first?.items
        }
        let item: [UInt8] = [3, 0, 0, 0, 10, 0, 0, 0, 0xaa, 0xbb]
        #expect(items([]) == [])
        #expect(items(item + item)?.map(\.id) == [3, 3])
        #expect(items(item)?[0].bytes == [0xaa, 0xbb])
        #expect(items(Array(item.dropLast())) == nil)
        #expect(items([3, 0, 0, 0, 0, 0, 0, 0]) == nil)
        #expect(items([3, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 1]) == nil)
    }

    @Test func `another format stays bytes`() {
        #expect(metadata(Self.block, PixelFormat(rawValue: 0x4449_5649)).uvcBlocks == nil)
    }

    @Test func `each buffer reaches the handler as a copy, with the frame it belongs to`() async throws {
        let source = try Source(.metadata(MetadataFormat(code: .uvcHeaders, capacity: 64)))
        let told = Told<CameraMetadata>()
        let output = CameraMetadataOutput { told.take($0) }
        try await source.read(output)
        for (number, count) in [(0, 22), (1, 0), (4, 1 << 20)] {
            let slot = try #require(source.ring.claim())
            unsafe source.ring.memory(ofSlot: slot).copyBytes(from: Self.block)
            source.ring.publish(
                slot,
                BufferInfo(
                    timestamp: Timestamp(nanoseconds: Int64(number)),
                    deviceSequence: UInt64(number),
                    position: number == 0 ? 8 : 0,
                    bytesUsed: (count, 0, 0, 0),
                    flags: [],
                    lostBefore: number == 4 ? 2 : 0
                )
            )
            #expect(try await told.until { $0.data.count + $0.dropped.count > number / 4 })
        }
        #expect(try await told.until { $0.data.count == 2 })
        #expect(told.data[0].frame == 7 && told.data[0].bytes == Self.block && told.data[0].format == .uvcHeaders)
        // A ring's writer cannot say that a buffer is longer than its slot.
        #expect(told.data[1].frame == nil && told.data[1].bytes.count == 64)
        #expect(told.dropped.map(\.1) == [.damaged, .device])
        output.stop()
    }

    @Test func `an output for metadata ends when it is given something else`() async throws {
        let source = try Source(Source.camera())
        let told = Told<CameraMetadata>()
        let output = CameraMetadataOutput(name: "words") { told.take($0) }
        try await source.read(output)
        try source.publish(0)
        #expect(try await told.until { _ in output.failure != nil })
        #expect(output.failure?.message == "cannot read metadata from 'words': its shared memory contains video")
        output.stop()
    }
}
