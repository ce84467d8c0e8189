import BusSupport
import CaptureBus
import CaptureKit
import Foundation
import Testing

/// The documentation's programs, as they stand there.
@Suite(.timeLimit(.minutes(10)))
struct LibraryDocumentationTests {
    /// The programs of a language in their order: adding, reading, changing and picking.
    private static func programs(_ language: String) throws -> [String] {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let page = tests.appendingPathComponent("../../Sources/CaptureKit/Documentation.docc/Library.md")
        let text = try String(contentsOf: page.standardizedFileURL, encoding: .utf8)
        return text.components(separatedBy: "```\(language)\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
    }

    private func run(_ number: Int, _ fake: FakeLibrary, _ arguments: [String] = []) async throws -> (Int32, String) {
        let bus = try PrivateBus()
        let daemon = try await FakeDaemon(on: bus, fake)
        let programs = try LibraryDocumentationTests.programs("python")
        try #require(programs.count == 4)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = ["-c", programs[number]] + arguments
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
        #expect(try await run(0, fake, [path]) == (0, "added; this program may not read it back\n"))
        #expect(fake.inventory.count == 1)
        let text = try file("text")
        defer { try? FileManager.default.removeItem(atPath: text) }
        #expect(try await run(0, fake, [text]) == (1, "BadData: it is no photo, movie or sound\n"))
    }

    @Test func `a program that is limited asks and reads what is its own, in Python`() async throws {
        let fake = FakeLibrary([.readWrite: .notDetermined], answers: [.readWrite: .limited])
        let own = fake.put("a.jpg", "PHOTO")
        fake.put("b.jpg", "PHOTO", ["program": .string("exe:/other")])
        let said = try await run(1, fake, ["t1"])
        #expect(said == (0, "limited 1\n\(own) a.jpg 10\n{}\nt2\n"))
        #expect(fake.asked == [.readWrite])
    }

    @Test func `a program that may read and change everything does, in Python`() async throws {
        let fake = FakeLibrary()
        fake.put("a.jpg", "PHOTO", ["favourite": .bool(true), "created": .int64(1)])
        fake.put("b.jpg", "PHOTO")
        #expect(try await run(2, fake) == (0, "1 deleted\n"))
        #expect(fake.inventory.last == "album Best 1" && fake.inventory.count == 2)
        let denied = try await run(2, FakeLibrary([.readWrite: .denied]))
        #expect(denied == (1, "the whole library may not be changed\n"))
    }

    @Test func `a program without any consent is handed what is picked, in Python`() async throws {
        let fake = FakeLibrary([.addOnly: .denied, .readWrite: .denied])
        fake.picks([fake.put("a.jpg", "PHOTO one"), fake.put("b.jpg", "PHOTO")])
        #expect(try await run(3, fake) == (0, "a.jpg 9\nb.jpg 5\n"))
        fake.picks(nil)
        #expect(try await run(3, fake) == (1, "Dismissed: the prompt was closed without an answer\n"))
    }

    @Test func `there is a program of each level in Swift`() throws {
        let programs = try LibraryDocumentationTests.programs("swift")
        #expect(programs.count == 4 && programs.allSatisfy { $0.hasPrefix("import CaptureKit\n") })
    }
}
