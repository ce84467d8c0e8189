import BusSupport
import CaptureBus
import CaptureKit
import Foundation
import Testing

/// The documentation's programs, as they stand there.
@Suite(.timeLimit(.minutes(10)))
struct LibraryDocumentationTests {
    /// The programs of a language in their order: adding, reading, changing; in Swift recording; picking.
    private static func programs(_ language: String) throws -> [String] {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let page = tests.appendingPathComponent("../../Sources/CaptureKit/Documentation.docc/Library.md")
        let text = try String(contentsOf: page.standardizedFileURL, encoding: .utf8)
        return text.components(separatedBy: "```\(language)\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
    }

    private enum Language {
        case swift
        case python
    }

    private func run(
        _ language: Language,
        _ number: Int,
        _ fake: FakeLibrary,
        _ arguments: [String] = [],
        replacing answers: [String: FakeDaemon.Answer] = [:]
    ) async throws -> (Int32, String) {
        let bus = try PrivateBus()
        let daemon = try await FakeDaemon(on: bus, fake.answers.merging(answers) { $1 })
        let process = Process()
        switch language {
        case .python:
            let programs = try LibraryDocumentationTests.programs("python")
            try #require(programs.count == 4)
            process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
            process.arguments = ["-c", programs[number]] + arguments
        case .swift:
            let programs = try LibraryDocumentationTests.programs("swift")
            try #require(programs.count == 5)
            process.executableURL = try await SwiftProgram.built(programs[number])
            process.arguments = arguments
        }
        defer { if language == .swift { process.executableURL.map(SwiftProgram.remove) } }
        process.environment = ["CAPTURED_BUS": "session", "DBUS_SESSION_BUS_ADDRESS": bus.address]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        // On a thread of its own: the daemon answers on those of the tests' tasks.
        let text = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let said = output.fileHandleForReading.readDataToEndOfFile()
                process.waitUntilExit()
                continuation.resume(returning: String(decoding: said, as: UTF8.self))
            }
        }
        withExtendedLifetime(daemon) {}
        return (process.terminationStatus, text)
    }

    private func file(_ content: String) throws -> String {
        let path = NSTemporaryDirectory() + "capturekit-\(UUID().uuidString)"
        try Data(content.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test func `a program that may only add adds, in Python`() async throws {
        let fake = FakeLibrary([.readWrite: .denied])
        let path = try file("PHOTO")
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(try await run(.python, 0, fake, [path]) == (0, "added; this program may not read it back\n"))
        #expect(fake.inventory.count == 1)
        let text = try file("text")
        defer { try? FileManager.default.removeItem(atPath: text) }
        #expect(try await run(.python, 0, fake, [text]) == (1, "BadData: it is no photo, movie or sound\n"))
    }

    @Test func `a program that is limited asks and reads what is its own, in Python`() async throws {
        let fake = FakeLibrary([.readWrite: .notDetermined], answers: [.readWrite: .limited])
        let own = fake.put("a.jpg", "PHOTO")
        fake.put("b.jpg", "PHOTO", ["program": .string("exe:/other")])
        let said = try await run(.python, 1, fake, ["t1"])
        #expect(said == (0, "limited 1\n\(own) a.jpg 10\n{}\nt2\n"))
        #expect(fake.asked == [.readWrite])
    }

    @Test func `a program that may read and change everything does, in Python`() async throws {
        let fake = FakeLibrary()
        fake.put("a.jpg", "PHOTO", ["favourite": .bool(true), "created": .int64(1)])
        fake.put("b.jpg", "PHOTO")
        #expect(try await run(.python, 2, fake) == (0, "1 deleted\n"))
        #expect(fake.inventory.last == "album Best 1" && fake.inventory.count == 2)
        let denied = try await run(.python, 2, FakeLibrary([.readWrite: .denied]))
        #expect(denied == (1, "the whole library may not be changed\n"))
    }

    @Test func `a program that may only add adds, in Swift`() async throws {
        let fake = FakeLibrary([.readWrite: .denied])
        let path = try file("PHOTO")
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(try await run(.swift, 0, fake, [path]) == (0, "added; this program may not read it back\n"))
        #expect(fake.inventory.count == 1)
    }

    @Test func `a program that is limited asks and reads what is its own, in Swift`() async throws {
        let fake = FakeLibrary([.readWrite: .notDetermined], answers: [.readWrite: .limited])
        let own = fake.put("a.jpg", "PHOTO")
        fake.put("b.jpg", "PHOTO", ["program": .string("exe:/other")])
        let (status, said) = try await run(.swift, 1, fake, ["t1"])
        #expect(status == 0)
        let lines = said.split(separator: "\n")
        #expect(lines.first == "limited: 1 of 1")
        #expect(lines.dropFirst().first?.hasPrefix("\(own) a.jpg ") == true)
        #expect(lines.suffix(2) == ["0 came, 0 changed, 0 went", "t2"])
        #expect(fake.asked == [.readWrite])
    }

    @Test func `a program that may read and change everything does, in Swift`() async throws {
        let fake = FakeLibrary()
        fake.put("a.jpg", "PHOTO", ["favourite": .bool(true), "created": .int64(1)])
        fake.put("b.jpg", "PHOTO")
        #expect(try await run(.swift, 2, fake) == (0, "1 deleted\n"))
        #expect(fake.inventory.last == "album Best 1" && fake.inventory.count == 2)
        let denied = try await run(.swift, 2, FakeLibrary([.readWrite: .denied]))
        #expect(denied == (1, "the whole library may not be changed\n"))
    }

    @Test func `a program that records into it is told what came of that, in Swift`() async throws {
        let start: FakeDaemon.Answer = { daemon, _ throws(CaptureError) in
            try daemon.become(.running)
            try daemon.save("movie", ["id": .string("0123"), "album": .string("Family")])
            try daemon.finish("movie", nil, OutputStatistics())
            try daemon.become(.stopped)
            return []
        }
        #expect(try await run(.swift, 3, FakeLibrary(), replacing: ["Start": start]) == (0, "0123 Family\n"))
    }

    @Test func `a program without any consent is handed what is picked, in Python`() async throws {
        let fake = FakeLibrary([.addOnly: .denied, .readWrite: .denied])
        fake.picks([fake.put("a.jpg", "PHOTO one"), fake.put("b.jpg", "PHOTO")])
        #expect(try await run(.python, 3, fake) == (0, "a.jpg 9\nb.jpg 5\n"))
        fake.picks(nil)
        #expect(
            try await run(.python, 3, fake) == (1, "Dismissed: the prompt was closed without an answer\n")
        )
    }

    @Test func `a program without any consent is handed what is picked, in Swift`() async throws {
        let fake = FakeLibrary([.addOnly: .denied, .readWrite: .limited])
        let one = fake.put("a.jpg", "PHOTO one")
        fake.picks([one])
        let (status, said) = try await run(.swift, 4, fake)
        #expect(status == 0)
        let lines = said.split(separator: "\n")
        #expect(lines.first?.hasPrefix("a.jpg ") == true && lines.last == "1 more to read")
    }
}
