import BusSupport
import CaptureBus
import CaptureSystem
import Foundation
import PickerMessages
import Synchronization
import Testing

@testable import CaptureAgent
@testable import CaptureKit
@testable import capturectl

/// A question of picking put to a window, which a script stands for here.
@Suite(.timeLimit(.minutes(10)))
struct DesktopPickerTests {
    /// The script's world: a library of one photo, and what became of it all.
    private final class Scene: Sendable {
        let folder: String
        let browser: PickBrowser
        let daemon: FakeDaemon
        let failures = Mutex<[CaptureError]>([])

        init() async throws {
            folder = NSTemporaryDirectory() + "picker-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let asset: [String: BusValue] = [
                "id": .string("a1"), "kind": .string("movie"), "name": .string("a\u{202e}b.mkv"), "created": .int64(5),
                "duration": .int64(9), "program": .string("exe:/usr/bin/tool"), "chosen": .bool(true),
            ]
            daemon = try await FakeDaemon([
                "BrowseFor": { _, call throws(CaptureError) in
                    switch call.arguments[1].properties?["page"]?.text {
                    case nil: return [.propertyList([asset]), .string("p2")]
                    case "gone": throw CaptureError(.notPermitted, "there is no such question")
                    default: throw CaptureError(.inputOutput, "the disk is broken")
                    }
                },
                "ThumbnailFor": { _, call throws(CaptureError) in
                    guard call.arguments[1].text == "a1" else { throw CaptureError(.badData, "nothing to see") }
                    return [.descriptor(try FakeLibrary.file(Array("JPEG".utf8)))]
                },
            ])
            browser = PickBrowser(daemon: try await daemon.client(), cookie: "secret")
        }

        deinit {
            try? FileManager.default.removeItem(atPath: folder)
        }

        /// A picker whose window is a script, in which `$1` is the scene's folder.
        func picker(_ script: String) async throws -> DesktopPicker {
            let (path, sign) = (folder + "/window", folder + "/there")
            try? FileManager.default.removeItem(atPath: sign)
            let first = "#!/bin/sh\nset -- '\(folder)'; [ -e \"$1/there\" ] || exit 0\n"
            try (first + script + "\n").write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
            try await run(path)
            try "".write(toFile: sign, atomically: true, encoding: .utf8)
            return DesktopPicker { () throws(CaptureError) in
                path
            } failed: { error in
                self.failures.withLock { $0.append(error) }
            }
        }

        /// Runs a script to no effect, as soon as it can be: a process that another test starts may have it open for writing
        /// until it is there.
        private func run(_ path: String) async throws {
            while true {
                do throws(SystemError) {
                    let nothing = try Descriptor.open("/dev/null", O_RDWR)
                    ChildProcess.reap(try ChildProcess.spawn(path, standardInput: nothing))
                    return
                } catch {
                    guard error.errno == ETXTBSY else { throw error }
                }
                try await Task.sleep(for: .milliseconds(5))
            }
        }

        /// What the script wrote into a file of the folder.
        func read(_ name: String) -> String {
            (try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)) ?? ""
        }
    }

    private static let request = PickRequest(
        Question(
            cookie: "secret",
            program: "exe:/usr/bin/tool",
            tier: "claimed",
            name: "To\u{202e}ol",
            detail: "runs it",
            processID: 42
        ),
        purpose: .choose,
        limit: 7
    )

    @Test func `the window is told what to show, gets what it wants, and its answer is taken`() async throws {
        let scene = try await Scene()
        let picker = try await scene.picker(
            #"""
            say() { echo "$1"; read -r line; echo "$line" >>"$folder/heard"; }
            folder=$1
            echo '{"ready":{}}'; read -r line; echo "$line" >"$folder/heard"
            say '{"page":{"number":1,"kind":"movie"}}'
            say '{"page":{"number":2,"cursor":"p2"}}'
            say '{"picture":{"id":"a1"}}'
            say '{"picture":{"id":"a2"}}'
            echo '{"picked":{"ids":["a1","a2"],"dropped":["d1"]}}'
            """#
        )
        let answer = try await picker.begin(DesktopPickerTests.request, scene.browser)()
        #expect(answer == .picked(PickedAssets(["a1", "a2"], dropped: ["d1"])))
        let orders: [PickerOrder] = try scene.read("heard").split(separator: "\n").map {
            try PickerLine.decode(Array($0.utf8))
        }
        let expected: [PickerOrder] = [
            .question(
                PickerQuestion(
                    headline: "Choose what exe:/usr/bin/tool may read in the media library",
                    meaning: "It may read what is marked +; pick that to take it away.",
                    certainty: "Not verified: another program of your account could pretend to be this one.",
                    facts: [
                        .init("Program", "exe:/usr/bin/tool"), .init("Identity", "claimed"),
                        .init("Known by", "runs it"), .init("Process", "42"),
                    ],
                    purpose: .choose,
                    limit: 7,
                    kinds: [.photo, .movie, .sound]
                )
            ),
            .page(
                PickerPage(
                    number: 1,
                    items: [PickerItem(id: "a1", kind: .movie, name: "a?b.mkv", created: 5, duration: 9, state: .own)],
                    next: "p2"
                )
            ),
            .failed(message: "the disk is broken", page: 2),
            .picture(id: "a1", jpeg: PickerBytes(Array("JPEG".utf8))), .picture(id: "a2", jpeg: nil),
        ]
        #expect(orders == expected)
        #expect(scene.daemon.calls("BrowseFor").first?.arguments[1].properties?["kinds"]?.texts == ["movie"])
        #expect(scene.failures.withLock { $0 }.isEmpty)
    }

    @Test func `what was picked while something was still loading is taken`() async throws {
        // As capturectl does.
        signal(SIGPIPE, SIG_IGN)
        let scene = try await Scene()
        let picker = try await scene.picker(
            #"""
            echo '{"ready":{}}'; read -r line; exec <&-
            echo '{"page":{"number":1}}'; echo '{"picture":{"id":"a1"}}'; echo '{"picked":{"ids":["a1"],"dropped":[]}}'
            """#
        )
        let answer = try await picker.begin(DesktopPickerTests.request, scene.browser)()
        #expect(answer == .picked(PickedAssets(["a1"])))
        #expect(scene.failures.withLock { $0 }.isEmpty)
    }

    @Test func `a window that is closed is no answer, and one whose question is gone is withdrawn`() async throws {
        let scene = try await Scene()
        var picker = try await scene.picker(#"echo '{"ready":{}}'; read -r line; echo '{"closed":{}}'"#)
        #expect(try await picker.begin(DesktopPickerTests.request, scene.browser)() == .dismissed)
        picker = try await scene.picker(
            #"echo '{"ready":{}}'; read -r line; echo '{"page":{"number":1,"cursor":"gone"}}'; exec sleep 1000"#
        )
        #expect(try await picker.begin(DesktopPickerTests.request, scene.browser)() == .withdrawn)
        #expect(scene.failures.withLock { $0 }.isEmpty)
    }

    @Test(arguments: [
        ("echo nonsense; exec sleep 1000", "no message"), (#"echo '{"pick":{}}'; exec sleep 1000"#, "no message"),
        (#"echo '{"ready":{}}'; exec sleep 1000"#, "twice"), (#"echo '{"unable":{"message":"lost"}}'"#, "lost"),
        ("exit 3", "exit code 3"), ("kill -SEGV $$", "signal 11"), ("exec </dev/null; exit 4", "exit code 4"),
        ("head -c 2000000 /dev/zero | tr '\\0' x; exec sleep 1000", "no message"),
    ])
    func `a window that fails closes its question, and it is told why`(script: String, why: String) async throws {
        let scene = try await Scene()
        let picker = try await scene.picker("echo '{\"ready\":{}}'; read -r line\n\(script)")
        #expect(try await picker.begin(DesktopPickerTests.request, scene.browser)() == .dismissed)
        #expect(scene.failures.withLock { $0.map(\.message) }.first?.contains(why) == true)
    }

    @Test(arguments: [
        ("exit 127", "GTK 3"), ("exit 5", "exit code 5"), (#"echo '{"unable":{"message":"no screen"}}'"#, "no screen"),
        ("echo nonsense; exec sleep 1000", "no message"), (#"echo '{"closed":{}}'"#, "something else first"),
    ])
    func `where no window can be shown another agent is asked`(script: String, why: String) async throws {
        let scene = try await Scene()
        let picker = try await scene.picker(script)
        let error = await #expect(throws: CaptureError.self) {
            _ = try await picker.begin(DesktopPickerTests.request, scene.browser)
        }
        #expect(error?.code == .nobodyToAsk && error?.message.contains(why) == true)
        #expect(scene.failures.withLock { $0 } == [error])
    }

    @Test func `a program that does not say that it is ready is not waited for`() async throws {
        let scene = try await Scene()
        _ = try await scene.picker("exec sleep 1000")
        let process = try PickerProcess(scene.folder + "/window")
        let error = await #expect(throws: CaptureError.self) { try await process.ready(within: .milliseconds(50)) }
        #expect(error?.code == .nobodyToAsk && error?.message.contains("did not answer") == true)
    }

    @Test func `a question that is taken back takes its window along`() async throws {
        let scene = try await Scene()
        let picker = try await scene.picker(
            #"echo '{"ready":{}}'; read -r line; echo $$ >"$1/new"; mv "$1/new" "$1/id"; exec sleep 1000"#
        )
        let task = Task { try await picker.begin(DesktopPickerTests.request, scene.browser)() }
        while scene.read("id").isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        let id = try #require(Int32(scene.read("id").trimmingCharacters(in: .whitespacesAndNewlines)))
        task.cancel()
        #expect(try await task.value == .withdrawn)
        #expect(kill(id, 0) == -1 && errno == ESRCH)
        #expect(scene.failures.withLock { $0 }.isEmpty)
    }

    @Test func `the program lies beside this one, or in libexec`() throws {
        let find = { (own: String, there: [String]) throws(CaptureError) in
            try PickerProgram.find(from: own) { there.contains($0) }
        }
        #expect(try find("/b/debug/capturectl", ["/b/debug/captured-picker"]) == "/b/debug/captured-picker")
        let installed = "/usr/local/libexec/captured-picker"
        #expect(try find("/usr/local/bin/capturectl", [installed, "/usr/local/bin/captured-picker"]) == installed)
        let error = #expect(throws: CaptureError.self) { try find("/usr/bin/capturectl", []) }
        #expect(error?.code == .nobodyToAsk && error?.message.contains("/usr/libexec/captured-picker") == true)
    }
}
