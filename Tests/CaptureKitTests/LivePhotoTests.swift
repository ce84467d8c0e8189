import BusSupport
import CaptureCore
import CaptureSystem
import Glibc
import Testing

@testable import CaptureKit

/// A photo and the seconds around it, by a real daemon.
@Suite(.timeLimit(.minutes(10)))
struct `A live photo` {
    private func isMovie(_ bytes: [UInt8]) -> Bool { bytes.dropFirst(4).starts(with: "ftyp".utf8) }

    @Test func `is taken again and again, with sound, and is one file`() async throws {
        let captured = try await RealDaemon()
        let session = try await SessionLifeTests.session(try await captured.client())
        try await session.addInput(.microphone("synthetic:microphone"))
        let live = try await LivePhotos(session, before: .milliseconds(1200), after: .milliseconds(1300))
        try await session.startRunning()
        var taken = 0
        func capture(quality: Int = 90) async throws -> LivePhoto {
            while true {
                try await live.whenReady()
                let photo = try await live.capture(quality: quality)
                taken += 1
                // A slow machine may lack the frame at which the movie should begin. Then another photo is taken.
                if abs(photo.stillTime.nanoseconds - 1_200_000_000) < 150_000_000 || taken > 20 { return photo }
            }
        }
        let first = try await capture()
        let second = try await capture(quality: 20)
        for photo in [first, second] {
            #expect(photo.photo.bytes.starts(with: [0xff, 0xd8]) && isMovie(photo.movie))
            // To the frame.
            #expect(abs(photo.stillTime.nanoseconds - 1_200_000_000) < 150_000_000, "\(photo.stillTime)")
            let file = try photo.file
            #expect(file.suffix(photo.movie.count) == photo.movie[...])
            let parts = try #require(try MotionPhoto(jpeg: file))
            #expect(parts.photo == photo.photo.bytes && parts.movie == photo.movie)
            #expect(parts.stillTime?.nanoseconds == photo.stillTime.nanoseconds / 1000 * 1000)
            // Sound, too.
            #expect(photo.movie.indices.contains { photo.movie[$0...].starts(with: "soun".utf8) })
        }
        #expect(second.photo.time > first.photo.time)
        // The camera's white flash is small in any quality, so their sizes tell nothing.
        #expect(try quantum(second.photo.bytes) > quantum(first.photo.bytes))
        #expect(await session.outputs.map(\.name) == ["live", "live-\(taken + 1)"])
        try await session.stopRunning()
        #expect(await code { try await live.capture() } == .wrongState)
    }

    /// The first value of a JPEG's last table: the greater, the coarser. A preview in its EXIF has tables of its own.
    private func quantum(_ jpeg: some Sequence<UInt8>) throws -> UInt8 {
        let bytes = Array(jpeg)
        return bytes[try #require(bytes.indices.last { bytes[$0...].starts(with: [0xff, 0xdb]) }) + 5]
    }

    @Test func `is ready when no more memory is allowed`() async throws {
        let captured = try await RealDaemon(configuration: "[Recorder]\nPreRollMemory=1M\n")
        let session = try await CaptureSession(on: try await captured.client())
        // Large, since a machine that is held up makes fewer of them.
        let request = VideoFormatRequest(width: 1920, height: 1080, framesPerSecond: 30)
        try await session.addInput(.camera("synthetic:camera", request: request))
        try await session.addInput(.microphone("synthetic:microphone"))
        let live = try await LivePhotos(session, before: .seconds(10), after: .milliseconds(500))
        try await session.startRunning()
        try await live.whenReady()
        let kept = try #require(try await session.statistics().outputs["live-1"])
        #expect(kept.preRollIsFull && kept.bytes <= 1 << 20, "\(kept)")
        try await session.stop()
    }

    @Test func `ends with the consent, and says so`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let session = try await SessionLifeTests.session(daemon)
        let live = try await LivePhotos(session)
        try await session.startRunning()
        try await live.whenReady()
        let program = try await AuthorizationPanel(on: daemon).whoAmI().program
        let photo = Task { try await live.capture() }
        try await captured.control("auth", "set", program, "camera", "denied")
        // Whether it was captured before that: it is complete, or says why not.
        do {
            #expect(isMovie(try await photo.value.movie))
        } catch {
            #expect((error as? CaptureError)?.code == .revoked, "\(error)")
        }
        #expect(await code { try await live.whenReady() } == .revoked)
    }

    @Test func `is taken after its session was started again`() async throws {
        let captured = try await RealDaemon()
        let session = try await SessionLifeTests.session(try await captured.client())
        let live = try await LivePhotos(session, before: .milliseconds(500), after: .milliseconds(500))
        try await session.startRunning()
        try await live.whenReady()
        try await session.stopRunning()
        try await session.startRunning()
        try await live.whenReady()
        #expect(isMovie(try await live.capture().movie))
        try await session.stop()
    }

    @Test func `is taken after any number of others were given up`() async throws {
        let captured = try await RealDaemon()
        let session = try await SessionLifeTests.session(try await captured.client())
        let live = try await LivePhotos(session, before: .milliseconds(300), after: .seconds(10))
        try await session.startRunning()
        var abandoned = 0
        while abandoned < 15 {
            try await live.whenReady()
            let photo = Task { try await live.capture() }
            // Until its movie is begun, and the next one waits.
            while await session.outputs.count < 3 { try await Task.sleep(for: .milliseconds(10)) }
            photo.cancel()
            // A machine that is held up may have completed it.
            if case .failure(let error) = await photo.result {
                #expect((error as? CaptureError)?.code == .dismissed)
                abandoned += 1
            }
            #expect(await session.outputs.count == 2)
        }
        try await session.stop()
    }

    @Test func `is taken after its recorder was lost`() async throws {
        let captured = try await RealDaemon()
        let session = try await SessionLifeTests.session(try await captured.client())
        let live = try await LivePhotos(session, before: .milliseconds(500), after: .milliseconds(500))
        try await session.startRunning()
        try await live.whenReady()
        for recorder in try captured.recorders() { kill(recorder, SIGKILL) }
        while await session.results.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        let lost = await #expect(throws: CaptureError.self) { try await live.whenReady() }
        #expect(lost?.code == .recorderLost)
        try await live.whenReady()
        #expect(isMovie(try await live.capture().movie))
        // It ends with the fault of the lost one.
        #expect(await code { try await session.stopRunning() } == .recorderLost)
    }

    @Test func `says what is wrong with its times, and what comes first`() async throws {
        let captured = try await RealDaemon()
        let session = try await SessionLifeTests.session(try await captured.client())
        for time in [Duration.zero, .seconds(-1), .seconds(11)] {
            #expect(await code { try await LivePhotos(session, before: time) } == .usage)
        }
        let live = try await LivePhotos(session)
        #expect(await code { try await live.capture() } == .wrongState)
        #expect(await code { try await live.whenReady() } == .wrongState)
    }
}

struct `A motion photo` {
    private let movie = [0, 0, 0, 16] + Array("ftypisom a movie".utf8)
    private let xmp = "http://ns.adobe.com/xap/1.0/\0"

    private func segment(_ marker: UInt8, _ body: [UInt8]) -> [UInt8] {
        [0xff, marker, UInt8((body.count + 2) >> 8), UInt8((body.count + 2) & 0xff)] + body
    }

    private func jpeg(_ segments: [UInt8]...) -> [UInt8] {
        [0xff, 0xd8] + segments.joined() + segment(0xda, [1, 2, 3]) + [5, 6, 0xff, 0xd9]
    }

    @Test func `has its facts behind those of EXIF`() throws {
        let exif = segment(0xe1, Array("Exif\0\0".utf8)), tables = segment(0xdb, [1])
        let joined = try MotionPhoto.join(jpeg(exif, tables), movie, still: .milliseconds(1500))
        #expect(joined.starts(with: [0xff, 0xd8] + exif + [0xff, 0xe1]))
        let text = String(decoding: joined, as: UTF8.self)
        #expect(text.contains("MotionPhotoPresentationTimestampUs=\"1500000\"") && text.contains("Item:Length=\"20\""))
        #expect(joined.suffix(movie.count + 2) == [0xff, 0xd9] + movie)
    }

    @Test func `keeps what the photo's XMP said`() throws {
        let packet = segment(0xe1, Array((xmp + "<rdf:RDF><rdf:Description a=\"b\"/></rdf:RDF>").utf8))
        let joined = try MotionPhoto.join(jpeg(packet), movie, still: .zero)
        let text = String(decoding: joined, as: UTF8.self)
        #expect(text.contains("<rdf:Description a=\"b\"/><rdf:Description rdf:about=\"\""))
        // The segment's length is that of the longer packet.
        let length = Int(joined[4]) << 8 + Int(joined[5])
        #expect(joined[(4 + length)...].starts(with: [0xff, 0xda]))
    }

    @Test func `comes apart into what it was made of`() throws {
        let exif = segment(0xe1, Array("Exif\0\0".utf8))
        let own = segment(0xe1, Array((xmp + "<rdf:RDF><rdf:Description a=\"b\"/></rdf:RDF>").utf8))
        for photo in [jpeg(), jpeg(exif), jpeg(exif, own, segment(0xdb, [1]))] {
            let joined = try MotionPhoto.join(photo, movie, still: .milliseconds(1500))
            let parts = try #require(try MotionPhoto(jpeg: joined))
            #expect(parts.photo == photo && parts.movie == movie && parts.stillTime == .milliseconds(1500))
            let target = try OutputFile.scratch()
            try unsafe joined.withUnsafeBytes { try unsafe target.descriptor.write(all: $0) }
            let reading = try Descriptor.open("/proc/self/fd/\(target.descriptor.descriptor)", O_RDONLY)
            #expect(try MotionPhoto(file: reading) == parts)
            #expect(try MotionPhoto(jpeg: photo) == nil)
        }
        #expect(try MotionPhoto(jpeg: []) == nil)
    }

    @Test func `of others is read, too, with its photo as it is`() throws {
        let facts =
            "<x:xmpmeta><rdf:RDF><rdf:Description GCamera:MotionPhoto='1' "
            + "GCamera:MotionPhotoPresentationTimestampUs='-1'/><rdf:li><Container:Item Item:Length='\(movie.count)' "
            + "Item:Padding='0' Item:Semantic='MotionPhoto'/></rdf:li></rdf:RDF></x:xmpmeta>"
        let photo = jpeg(segment(0xe1, Array((xmp + facts).utf8)))
        let parts = try #require(try MotionPhoto(jpeg: photo + movie))
        #expect(parts.photo == photo && parts.movie == movie && parts.stillTime == nil)
    }

    @Test(arguments: [
        "0", "-1", "7", "4", "1000000", "2147483648", "9223372036854775807", "9223372036854775808", "x", "",
    ])
    func `that lies is refused`(length: String) throws {
        let facts =
            "<rdf:Description GCamera:MotionPhoto=\"1\"/><Container:Item Item:Semantic=\"MotionPhoto\" "
            + "Item:Length=\"\(length)\"/>"
        let file = jpeg(segment(0xe1, Array((xmp + facts).utf8))) + movie
        #expect(code { try MotionPhoto(jpeg: file) } == .badData)
    }

    @Test func `that says too little has no movie, and one that is cut off is damaged`() throws {
        let item = "<Container:Item Item:Semantic=\"MotionPhoto\" Item:Length=\"20\"/>"
        let marked = "<rdf:Description GCamera:MotionPhoto=\"1\"/>"
        for facts in [item, marked, "<rdf:Description GCamera:MotionPhoto=\"0\"/>" + item, ""] {
            #expect(try MotionPhoto(jpeg: jpeg(segment(0xe1, Array((xmp + facts).utf8))) + movie) == nil)
        }
        // Two movies are one too many.
        let twice = jpeg(segment(0xe1, Array((xmp + marked + item + item).utf8))) + movie
        let joined = try MotionPhoto.join(jpeg(), movie, still: .zero)
        for damaged in [twice, Array(joined.dropLast()), joined + [0]] {
            #expect(code { try MotionPhoto(jpeg: damaged) } == .badData)
        }
    }

    @Test func `is not made of what is no JPEG, or has no room`() {
        let endless = segment(0xe1, Array((xmp + "<rdf:RDF>").utf8))
        let full = segment(0xe1, Array((xmp + String(repeating: " ", count: 65_000) + "</rdf:RDF>").utf8))
        let cut: [UInt8] = [0xff, 0xd8, 0xff, 0xe1, 0xff, 0xff, 0xff, 0xd9]
        for photo in [[], [0xff, 0xd8], jpeg(endless), jpeg(full), Array(jpeg().dropLast())] {
            #expect(code { try MotionPhoto.join(photo, movie, still: .zero) } == .badData)
        }
        // A segment that is longer than the file ends the search.
        #expect(throws: Never.self) { try MotionPhoto.join(cut, movie, still: .zero) }
    }
}
