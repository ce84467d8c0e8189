import CLinux
import CaptureCore
import CaptureRing
import CaptureSystem
import Glibc
import Testing

@Suite struct `A damaged ring` {
    /// A sealed copy of a good ring's bytes, changed by `damage`.
    private func ring(
        of format: MediaFormat,
        damage: (UnsafeMutableRawBufferPointer) -> Void
    ) throws -> Descriptor {
        let writer = try RingWriter(format: format, slots: 4, kept: 2, name: "good")
        for number in 0..<3 as Range<UInt64> { writer.put(number) }
        let good = try SharedMemory(mapping: writer.file)
        let copy = try SharedMemory(creating: "damaged", size: good.size)
        unsafe copy.bytes.copyMemory(from: UnsafeRawBufferPointer(good.bytes))
        unsafe damage(copy.bytes)
        return copy.file
    }

    /// Reads all there is, every byte of it.
    private func read(_ file: Descriptor) throws(CaptureError) {
        let reader = try RingReader(mapping: file, fromStart: true)
        var sum = 0
        for _ in 0..<100 {
            guard case .buffer(let buffer) = try reader.next(timeout: 0) else { break }
            for index in -1...4 { unsafe buffer.plane(index).forEach { sum &+= Int($0) } }
            unsafe buffer.bytes.forEach { sum &+= Int($0) }
        }
    }

    private static let damages: [(Int, UInt32, String)] = [
        (8, 2, "layout version"), (12, 64, "header size"), (16, 4, "kind"), (16, 3, "capacity"), (20, 0, "slot count"),
        (20, 4_000_000_000, "slot count"), (24, 5000, "slot stride"), (28, 1, "slot stride"), (32, 0, "order offset"),
        (36, 0xffff_ffff, "order offset"), (40, 4120 + 2, "descriptors offset"), (48, 8192 + 64, "data offset"),
        (56, 0x7fff_ffff, "file size"), (64, 64, "descriptor size"), (68, 4, "kept"), (132, 0, "width"),
        (136, 70000, "height"), (144, 0, "interval denominator"), (164, 5, "plane count"),
        (168, 1 << 20, "slot stride"),
        (172, 0xffff_ffff, "plane 0 offset"), (176, 0x8000_0000, "plane 0 stride"), (184, 0, "plane 0 size"),
        (1036, 9, "end"), (4096, 4, "order table"),
    ]

    @Test(arguments: damages)
    func `is refused with the name of what is wrong`(offset: Int, value: UInt32, field: String) throws {
        let file = unsafe try ring(of: Fixture.video) { bytes in
            unsafe bytes.storeBytes(of: value, toByteOffset: offset, as: UInt32.self)
        }
        do throws(CaptureError) {
            let reader = try RingReader(mapping: file, fromStart: true)
            while case .buffer = try reader.next(timeout: 0) {}
            Issue.record("a ring with a bad \(field) was read")
        } catch {
            #expect(error.code == .badData)
            #expect(error.message.contains(field), "\(error.message)")
        }
    }

    @Test func `never makes a reader crash or look past its slots, whatever its header holds`() throws {
        var random = SystemRandomNumberGenerator()
        let fields = Array(stride(from: 0, to: 336, by: 4)) + Array(stride(from: 1024, to: 1104, by: 4))
        let spots = fields + Array(stride(from: 4096, to: 4096 + 16 + 112 + 4 * 128, by: 4))
        let values: [UInt32] = [0, 1, 2, 4, 64, 4096, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff_f000]
        var refused = 0
        for round in 0..<1500 {
            let file = unsafe try ring(of: round % 2 == 0 ? Fixture.video : Fixture.audio) { bytes in
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let spot = spots.randomElement(using: &random) ?? 8
                    let value =
                        Bool.random(using: &random)
                        ? UInt32.random(in: 0...UInt32.max, using: &random) : values.randomElement(using: &random) ?? 0
                    unsafe bytes.storeBytes(of: value, toByteOffset: spot, as: UInt32.self)
                }
            }
            do throws(CaptureError) { try read(file) } catch { refused += 1 }
        }
        #expect(refused > 150)
    }

    @Test func `is given up when its count runs backwards`() throws {
        let ring = try SharedMemory(creating: "backwards", size: 65536)
        let good = try RingWriter(format: Fixture.audio, slots: 4, kept: 2, name: "good")
        good.put(0)
        let bytes = try SharedMemory(mapping: good.file)
        unsafe ring.bytes.copyMemory(from: UnsafeRawBufferPointer(bytes.bytes))
        let reader = try RingReader(mapping: ring.file)
        unsafe ring.bytes.storeBytes(of: 0, toByteOffset: 1024, as: UInt64.self)
        let error = #expect(throws: CaptureError.self) { try reader.next(timeout: 0) }
        #expect(error?.code == .badData)
    }

    @Test func `is refused when it is noise, cut short or empty`() throws {
        for size in [1, 4096, 8192, 100_000] {
            let noise = try SharedMemory(creating: "noise", size: size)
            #expect(throws: CaptureError.self) { try RingReader(mapping: noise.file) }
            unsafe noise.bytes.indices.forEach { unsafe noise.bytes[$0] = UInt8.random(in: 0...255) }
            #expect(throws: CaptureError.self) { try RingReader(mapping: noise.file) }
        }
    }

    @Test func `is refused when it could still shrink or be written by others`() throws {
        let file = Descriptor(owning: unsafe clinux_memfd("unsealed"))
        #expect(ftruncate(file.descriptor, 65536) == 0)
        let error = #expect(throws: CaptureError.self) { try RingReader(mapping: file) }
        #expect(error?.code == .notPermitted)
    }
}

@Suite struct `A ring's memory` {
    @Test func `cannot be mapped writable, made writable, resized, punched or unsealed by who holds it`() throws {
        let writer = try RingWriter(format: Fixture.audio, slots: 4, kept: 2, name: "test")
        let file = writer.file.descriptor
        let size = writer.layout.fileSize
        #expect(unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) == MAP_FAILED)
        let mapping = unsafe mmap(nil, size, PROT_READ, MAP_SHARED, file, 0)
        #expect(unsafe mapping != MAP_FAILED)
        #expect(unsafe mprotect(mapping, size, PROT_READ | PROT_WRITE) == -1)
        #expect(unsafe madvise(mapping, 4096, 9 /* MADV_REMOVE: punch a hole */) == -1)
        #expect(unsafe munmap(mapping, size) == 0)
        #expect(ftruncate(file, 4096) == -1)
        #expect(ftruncate(file, off_t(size) * 2) == -1)
        #expect(unsafe pwrite(file, "x", 1, 0) == -1)
        writer.put(0)
        #expect(writer.statistics.published == 1)
    }
}
