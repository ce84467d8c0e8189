import CaptureSystem
import Foundation
import Testing

@testable import capturectl

/// An ELF file that the test writes: a table of parts, a dynamic section, its names and constants.
struct MadeProgram {
    var isWide = true
    var isLittle = true
    var machine: UInt16 = 62
    var interpreter: String? = "/lib64/ld-linux-x86-64.so.2"
    var libraries: [String] = []
    var folder: String?
    var functions: [String] = []
    var constants = ""
    var isGo = false
    var isDynamic = true

    /// Where the file's parts lie, for tests that damage them.
    static let table = 64

    var bytes: [UInt8] {
        var names: [UInt8] = [0]
        func place(_ name: String) -> UInt64 {
            defer { names += Array(name.utf8) + [0] }
            return UInt64(names.count)
        }
        var dynamic: [UInt8] = []
        for library in libraries { dynamic += word(1) + word(place(library)) }
        if let folder { dynamic += word(29) + word(place(folder)) }
        for function in functions { _ = place(function) }
        let (base, size) = (UInt64(0x400000), UInt64(isWide ? 56 : 32))
        let headed = 64 + 5 * size
        let interpreted = Array((interpreter ?? "").utf8) + [0]
        let noted = number(4, 4) + number(4, 4) + number(4, 4) + Array("Go\0\0".utf8) + number(0, 4)
        let stringsAt = headed + UInt64(interpreted.count + noted.count)
        let dynamicAt = stringsAt + UInt64(names.count)
        dynamic += word(5) + word(base + stringsAt) + word(10) + word(UInt64(names.count)) + word(0) + word(0)
        let constantsAt = dynamicAt + UInt64(dynamic.count)
        let end = constantsAt + UInt64(constants.utf8.count)
        var parts: [UInt8] = part(1, 4, 0, base, end)
        parts += interpreter == nil ? part(0, 0, 0, 0, 0) : part(3, 4, headed, base + headed, UInt64(interpreted.count))
        parts += part(isGo ? 4 : 0, 4, headed + UInt64(interpreted.count), 0, UInt64(noted.count))
        parts += isDynamic ? part(2, 6, dynamicAt, base + dynamicAt, UInt64(dynamic.count)) : part(0, 0, 0, 0, 0)
        parts += part(1, 6, end, base + end + 0x1000, 0)
        return header(size) + parts + interpreted + noted + names + dynamic + Array(constants.utf8)
    }

    private func header(_ size: UInt64) -> [UInt8] {
        var head: [UInt8] =
            [0x7f, 0x45, 0x4c, 0x46, isWide ? 2 : 1, isLittle ? 1 : 2, 1] + [UInt8](repeating: 0, count: 9)
        head += number(2, 2) + number(UInt64(machine), 2) + number(1, 4)
        head +=
            word(0) + word(64) + word(0) + number(0, 4) + number(isWide ? 64 : 52, 2) + number(size, 2) + number(5, 2)
        return head + [UInt8](repeating: 0, count: 64 - head.count)
    }

    private func part(_ type: UInt64, _ flags: UInt64, _ offset: UInt64, _ address: UInt64, _ size: UInt64) -> [UInt8] {
        isWide
            ? number(type, 4) + number(flags, 4) + word(offset) + word(address) + word(0) + word(size) + word(size)
                + word(1)
            : number(type, 4) + word(offset) + word(address) + word(0) + word(size) + word(size) + number(flags, 4)
                + word(1)
    }

    private func word(_ value: UInt64) -> [UInt8] { number(value, isWide ? 8 : 4) }

    private func number(_ value: UInt64, _ count: Int) -> [UInt8] {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64($0 * 8)) }
        return isLittle ? bytes : bytes.reversed()
    }
}

struct ELFFileTests {
    @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
    func `an ELF file of each width and order says what it needs`(_ isWide: Bool, _ isLittle: Bool) throws {
        let made = MadeProgram(
            isWide: isWide,
            isLittle: isLittle,
            machine: 40,
            libraries: ["libasound.so.2", "libc.so.6"],
            folder: "$ORIGIN/../lib:/opt/lib",
            functions: ["snd_pcm_readi", "_ZN2cv12VideoCaptureC1Ei"],
            constants: "open /dev/video%d"
        )
        let file = try #require(ELFFile(ByteSource(made.bytes)))
        #expect(file.bits == (isWide ? 64 : 32))
        #expect(file.machine == 40)
        #expect(file.hasInterpreter && file.isDynamic && !file.isGo)
        #expect(file.libraries == ["libasound.so.2", "libc.so.6"])
        #expect(file.folders == ["$ORIGIN/../lib", "/opt/lib"])
        #expect(file.has("snd_pcm_readi"))
        #expect(!file.has("snd_pcm_read") && !file.has("pcm_readi"))
        #expect(file.hasName(beginning: "_ZN2cv12VideoCapture"))
        #expect(file.texts([CaptureEvidence.node, BytePattern("/dev/snd")]) == [0])
    }

    @Test func `a static program and one in Go are told`() throws {
        let made = MadeProgram(interpreter: nil, constants: "/dev/video0", isDynamic: false)
        let file = try #require(ELFFile(ByteSource(made.bytes)))
        #expect(!file.hasInterpreter && !file.isDynamic && file.libraries.isEmpty)
        #expect(try #require(ELFFile(ByteSource(MadeProgram(isGo: true).bytes))).isGo)
    }

    @Test func `the file of this test is read as the linker wrote it`() throws {
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: "/proc/self/exe")).prefix(1 << 26))
        let file = try #require(ELFFile(ByteSource(bytes)))
        #expect(file.hasInterpreter)
        #expect(file.libraries.contains { $0.hasPrefix("libc.so") })
    }

    @Test func `what is no ELF file, or only the beginning of one, is refused or needs nothing, and crashes nothing`() {
        let whole = MadeProgram(
            libraries: ["libv4l2.so.0"],
            functions: ["v4l2_open"],
            constants: "/dev/video0",
            isGo: true
        ).bytes
        #expect(ELFFile(ByteSource([])) == nil)
        #expect(ELFFile(ByteSource(Array("#!/bin/sh\n".utf8))) == nil)
        for count in 0..<whole.count {
            let file = ELFFile(ByteSource(Array(whole.prefix(count))))
            _ = file?.texts([CaptureEvidence.node])
            if count < 64 { #expect(file == nil) }
        }
    }

    @Test func `each byte and each number may be anything`() {
        for isWide in [true, false] {
            let whole = MadeProgram(
                isWide: isWide,
                libraries: ["libv4l2.so.0"],
                folder: "/x",
                functions: ["v4l2_open"],
                isGo: true
            ).bytes
            for place in whole.indices {
                for value: UInt8 in [0, 1, 0x7f, 0x80, 0xff] {
                    var bytes = whole
                    bytes[place] = value
                    _ = ELFFile(ByteSource(bytes))?.texts([CaptureEvidence.node])
                }
                for count in [2, 4, 8] where place + count <= whole.count {
                    var bytes = whole
                    bytes.replaceSubrange(place..<place + count, with: [UInt8](repeating: 0xff, count: count))
                    _ = ELFFile(ByteSource(bytes))?.texts([CaptureEvidence.node])
                }
            }
        }
    }

    @Test func `a text over the border of two pieces is found, and a budget ends the reading`() throws {
        var made = MadeProgram()
        made.constants = String(repeating: "x", count: (1 << 20) - made.bytes.count - 4) + "/dev/video9"
        let bytes = made.bytes
        #expect(try #require(ELFFile(ByteSource(bytes))).texts([CaptureEvidence.node]) == [0])
        let path = NSTemporaryDirectory() + "elf-\(UUID().uuidString)"
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let budget = ReadingBudget(bytes: 4096, milliseconds: 60_000)
        let source = ByteSource(try Descriptor.open(path, O_RDONLY), size: UInt64(bytes.count), budget: budget)
        #expect(try #require(ELFFile(source)).texts([CaptureEvidence.node]).isEmpty)
        #expect(budget.isSpent)
    }
}
