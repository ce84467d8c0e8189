import CaptureCore
import CaptureRing
import CaptureSystem
import Glibc
import Testing

@Suite struct `The documented layout` {
    @Test func `is enough for a program in Python to read pictures`() throws {
        let writer = try RingWriter(format: Fixture.video, slots: 6, kept: 3, name: "test")
        for number in 0..<10 as Range<UInt64> { writer.put(number) }
        writer.count(.deviceError, 3)
        writer.finish(.stopped)
        let lines = try python(reading: writer.file)
        #expect(lines.count == 1 + 6 + 1)
        #expect(lines.first?.contains(#""pixelFormat": "NM12", "width": 64, "height": 32"#) == true)
        #expect(lines.first?.contains(#""planes": [[0, 64, 2048], [4096, 64, 1024]], "interval": [1, 30]"#) == true)
        let seventh = try #require(lines.first { $0.contains(#""sequence": 7,"#) })
        // As in the fixture; the sums are zlib's of 2048 and 1024 bytes of 7.
        let first = crc32(of: 7, count: 2048)
        let second = crc32(of: 7, count: 1024)
        #expect(seventh.contains(#""timestamp": 7000000, "deviceSequence": 107, "position": 3360, "flags": 3"#))
        #expect(seventh.contains(#""planes": [{"bytes": 2048, "crc": \#(first)}, {"bytes": 1024, "crc": \#(second)}]"#))
        #expect(lines.last == #"{"end": 1, "drops": [0, 3, 0, 0, 0, 0, 0]}"#)
    }

    @Test func `is enough for a program in Python to read sound`() throws {
        let writer = try RingWriter(format: Fixture.audio, slots: 6, kept: 3, name: "test")
        writer.put(0)
        let lines = try python(reading: writer.file)
        let format = #"{"sampleFormat": 1, "sampleRate": 48000, "channels": 2, "periodFrames": 480}"#
        #expect(lines.first == format)
        #expect(lines.dropFirst().first?.contains(#""bytes": 2048"#) == true)
    }

    @Test func `is enough for a program in Python to read the metadata of a camera`() throws {
        let format = MediaFormat.metadata(MetadataFormat(code: .uvcHeaders, capacity: 1024))
        let writer = try RingWriter(format: format, slots: 6, kept: 3, name: "test")
        writer.put(1)
        let lines = try python(reading: writer.file)
        #expect(lines.first == #"{"format": "UVCH", "capacity": 1024}"#)
        #expect(lines.dropFirst().first?.contains(#""deviceSequence": 101, "position": 480"#) == true)
        let reader = try RingReader(mapping: writer.file, fromStart: true)
        #expect(reader.format == format)
        for capacity in [0, MetadataFormat.mostBytes + 1] {
            let wrong = MediaFormat.metadata(MetadataFormat(code: .uvcHeaders, capacity: capacity))
            #expect(throws: CaptureError.self) { try RingWriter(format: wrong, slots: 6, kept: 3, name: "test") }
        }
    }

    /// The lines that the example prints about a ring.
    private func python(reading ring: Descriptor) throws -> [String] {
        let script = String(#filePath.prefix(upTo: try #require(#filePath.lastIndex(of: "/")))) + "/read_ring.py"
        let command = "exec python3 '\(script)' /proc/\(getpid())/fd/\(ring.descriptor)"
        let pipe = unsafe try #require(popen(command, "re"))
        var output: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe fread(&chunk, 1, chunk.count, pipe)
            if count == 0 { break }
            output += chunk.prefix(count)
        }
        #expect(unsafe pclose(pipe) == 0)
        return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func crc32(of byte: UInt8, count: Int) -> UInt32 {
        var sum: UInt32 = 0xffff_ffff
        for _ in 0..<count {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? (sum >> 1) ^ 0xedb8_8320 : sum >> 1 }
        }
        return ~sum
    }
}
