import CaptureCore
import CaptureSystem
import Foundation
import MediaLibrary

/// Files to import.
enum LibraryFixtures {
    /// A picture of one pixel whose color is the number.
    static func picture(_ number: UInt8) -> [UInt8] {
        Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, number, 0, 0, 255, 255, 255, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0]
            + [2, 2, 0x44, 1, 0, 0x3b]
    }

    /// A tenth of a second of silence at 8 kHz.
    static let sound: [UInt8] =
        Array("RIFF".utf8) + [0x44, 6, 0, 0] + Array("WAVEfmt ".utf8) + [16, 0, 0, 0, 1, 0, 1, 0, 0x40, 0x1f, 0, 0]
        + [0x80, 0x3e, 0, 0, 2, 0, 16, 0] + Array("data".utf8) + [0x40, 6, 0, 0] + [UInt8](repeating: 0, count: 1600)

    static func append(_ bytes: [UInt8], to item: LibraryImport) throws(CaptureError) {
        do {
            try unsafe bytes.withUnsafeBytes { try unsafe item.append($0) }
        } catch {
            throw error as? CaptureError ?? CaptureError(.internalFault, "\(error)")
        }
    }

    /// A file without a name that has the bytes, open for reading.
    static func file(_ bytes: [UInt8]) throws -> Descriptor {
        let path = NSTemporaryDirectory() + "library-fixture-\(UUID().uuidString)"
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        defer { unsafe unlink(path) }
        return try Descriptor.open(path, O_RDONLY)
    }

    /// Everything in an open file.
    static func bytes(_ file: Descriptor) throws -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = try unsafe buffer.withUnsafeMutableBytes { try unsafe file.read(into: $0) }
            if count == 0 { return all }
            all += buffer[..<count]
        }
    }

    static func pipe() throws -> (reading: Descriptor, writing: Descriptor) {
        let pipe = Pipe()
        return (
            try Descriptor(owning: dup(pipe.fileHandleForReading.fileDescriptor)).duplicate(),
            try Descriptor(owning: dup(pipe.fileHandleForWriting.fileDescriptor)).duplicate()
        )
    }
}
