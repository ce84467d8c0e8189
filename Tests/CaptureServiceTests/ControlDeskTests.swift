import BusSupport
import CLinux
import CaptureCore
import CaptureSystem
import Foundation
import Testing

@testable import CaptureKit
@testable import CaptureService

/// The control socket, with real processes that accept callers.
@Suite struct ControlDeskTests {
    private let folder: String
    private let desk: ControlDesk

    init() async throws {
        folder = "/tmp/captured-control-\(UInt32.random(in: 0...UInt32.max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        desk = ControlDesk(program: TestPrograms.path("captured-door")) { request, caller in
            guard case .reset(_, let program, _) = request else {
                return [.failed(CaptureError(.denied, "\(caller.user) \(request)"))]
            }
            guard program != "none" else { return [.done(count: 0)] }
            var session = SessionSummary()
            session.id = 7
            session.status = SessionStatus(.running)
            session.program = program
            session.user = "\(caller.pid)"
            session.isAttached = true
            return [.session(session), .done(count: 3)]
        }
        try await desk.open(in: folder)
    }

    private var socket: ControlSocket { ControlSocket(path: folder + "/control") }

    @Test func `answers callers, one after the other and side by side`() async throws {
        for _ in 0..<6 { #expect(try await socket.reset(program: "exe:/bin/x") == 3) }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<3 { group.addTask { try await socket.reset(program: "none") } }
            for try await count in group { #expect(count == 0) }
        }
    }

    @Test func `returns errors with their codes, and knows its caller`() async throws {
        let error = await #expect(throws: CaptureError.self) { try await socket.setSwitch(.camera, isOn: false) }
        #expect(error?.code == .denied && error?.message.hasPrefix("\(getuid()) ") == true)
    }

    @Test func `refuses malformed requests and goes on`() async throws {
        let caller = try PacketSocket.connect(to: folder + "/control")
        for text in ["", "nonsense", "message=explode\n", "message=switch\nservice=camera\non=7\n"] {
            try caller.send(text.isEmpty ? "\n" : text)
            let answer = try #require(try await caller.next())
            guard case .failed(let error) = try ControlAnswer(text: answer.text) else {
                Issue.record("'\(text)' was answered by \(answer.text)")
                return
            }
            #expect(error.code == .badData)
        }
        #expect(try await socket.reset(program: "none") == 0)
    }

    @Test func `a caller that speaks as the door does is still who it is`() async throws {
        let claims = ControlReport.caller(ControlCaller(pid: 1, user: 4242, groups: [])).text
        let request = ControlRequest.turn(service: "camera", isOn: true).text
        for first in [ControlReport.left.text, ControlReport.refused.text, ControlReport.said("").text, claims] {
            let caller = try PacketSocket.connect(to: folder + "/control")
            // At once, so that the desk finds them in its first moment with the caller.
            for text in [first, claims, request] { try caller.send(text) }
            var errors: [CaptureError] = []
            while errors.count < 3, let answer = try await caller.next() {
                if case .failed(let error) = try ControlAnswer(text: answer.text) { errors.append(error) }
            }
            #expect(errors.prefix(2).allSatisfy { $0.code == .badData } && errors.count == 3)
            #expect(errors.last?.message.hasPrefix("\(getuid()) ") == true)
        }
    }

    @Test func `a caller that sends a message of no bytes is let go`() async throws {
        let caller = try PacketSocket.connect(to: folder + "/control")
        try caller.send("nonsense")
        #expect(try await caller.next() != nil)
        // Its door does not wait for more.
        try caller.send("")
        #expect(try await caller.next() == nil)
        #expect(try await socket.reset(program: "none") == 0)
    }

    @Test func `silent callers and descriptors that cannot be closed lock nobody out`() async throws {
        var silent: [PacketSocket] = []
        var hostile: [LingeringSocket] = []
        for _ in 0..<(ControlDesk.mostOfUser * 3) {
            let caller = try PacketSocket.connect(to: folder + "/control")
            let lingering = try LingeringSocket()
            try caller.send("message=sessions\n", with: [lingering.file])
            // If the desk has killed the process with the other copy, this is the last one.
            try WorkerThread.detached(name: "leave") { lingering.leave() }
            silent.append(caller)
            hostile.append(lingering)
        }
        #expect(try await socket.reset(program: "none") == 0)
        #expect(try await ControlSocket(path: folder + "/control-root").reset(program: "none") == 0)
        withExtendedLifetime((silent, hostile)) {}
    }

    @Test func `callers that leave at once cost no process each`() async throws {
        let place = folder + "/counted"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        let program = place + "/door"
        let words = "#!/bin/sh\necho >>\(place)/started\nexec \(TestPrograms.path("captured-door")) \"$@\"\n"
        try words.write(toFile: program, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        let desk = ControlDesk(program: program) { _, _ in [.done(count: 5)] }
        try await desk.open(in: place)
        // They wait for the desk, which answers on the threads that tests run on.
        let control = place + "/control"
        var (before, fewest) = (0, Int.max)
        // A caller that the machine slows down, so that it leaves too late, costs a process.
        for _ in 0..<6 where fewest >= 60 {
            try await WorkerThread.run("callers") { () throws(CaptureError) in
                do throws(SystemError) {
                    for _ in 0..<300 { _ = try PacketSocket.connect(to: control) }
                } catch {
                    throw CaptureError(.inputOutput, error)
                }
            }
            #expect(try await ControlSocket(path: place + "/control").reset(program: "none") == 5)
            let started = try String(contentsOfFile: place + "/started", encoding: .utf8).count
            fewest = min(fewest, started - before)
            before = started
        }
        #expect(fewest < 60)
        withExtendedLifetime(desk) {}
    }

    @Test(.enabled(if: geteuid() == 0)) func `callers of too many groups hold up nobody`() async throws {
        // A pause of a second after each would be ten in every turn. A turn may be slow because the machine is.
        var fastest = Int64.max
        for _ in 0..<6 where fastest >= 8_000_000_000 {
            let before = Timestamp.now
            // Those that are served take a process each, too, and no pause.
            for _ in 0..<20 { #expect(try await socket.reset(program: "none") == 0) }
            let begun = Timestamp.now
            try await callWithTooManyGroups()
            fastest = min(fastest, (Timestamp.now - begun) - (begun - before))
        }
        #expect(fastest < 8_000_000_000)
        #expect(try await socket.reset(program: "none") == 0)
    }

    /// Twenty callers, one after the other, that are turned away.
    private func callWithTooManyGroups() async throws {
        let crowd = Process()
        crowd.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        crowd.arguments = [
            "-c",
            """
            import os, socket, sys
            os.setgroups(range(1, 3000))
            for _ in range(20):
                caller = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                caller.connect(sys.argv[1])
                assert caller.recv(100) == b""
            """,
            folder + "/control",
        ]
        try crowd.run()
        await crowd.ended()
        #expect(crowd.terminationStatus == 0)
    }

    /// What the test puts in place of `captured-door`: nothing, or a program that ends at once.
    @Test(arguments: [nil, "/bin/false"])
    func `processes start again after one could not start or failed`(_ first: String?) async throws {
        let place = folder + "/broken"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        let program = place + "/door"
        if let first { try FileManager.default.createSymbolicLink(atPath: program, withDestinationPath: first) }
        let desk = ControlDesk(program: program) { _, _ in [.done(count: 5)] }
        try await desk.open(in: place)
        if first != nil { try FileManager.default.removeItem(atPath: program) }
        try FileManager.default.createSymbolicLink(
            atPath: program,
            withDestinationPath: TestPrograms.path("captured-door")
        )
        #expect(try await ControlSocket(path: place + "/control").reset(program: "none") == 5)
        withExtendedLifetime(desk) {}
    }

    /// Includes processes that a caller woke but that did not get it.
    @Test func `processes end with the daemon`() async throws {
        let path = folder + "/alone"
        let listening = Descriptor(
            owning: try SystemError.check("listen") { unsafe clinux_seqpacket_listen(path, 0o600) }
        )
        var ends: [PacketSocket] = []
        let children = try (0..<8).map { _ in
            let (ours, theirs) = try PacketSocket.pair()
            ends.append(ours)
            return try ChildProcess.spawn(
                TestPrograms.path("captured-door"),
                ["control"],
                standardInput: listening,
                standardOutput: theirs.file
            )
        }
        defer { for child in children { kill(child, SIGKILL) } }
        var callers: [PacketSocket] = []
        for _ in 0..<7 {
            try await until { children.allSatisfy { Self.state(of: $0) == "S" } }
            // All of them try to accept the caller at the same moment.
            for child in children { kill(child, SIGSTOP) }
            try await until { children.allSatisfy { Self.state(of: $0) == "T" } }
            callers.append(try PacketSocket.connect(to: path))
            for child in children { kill(child, SIGCONT) }
            let sockets = ends.map(\.file.descriptor)
            try await until { try sockets.contains { try Poll.wait($0, timeout: 0) == .readable } }
            for end in ends where try Poll.wait(end.file.descriptor, timeout: 0) == .readable { _ = try end.receive() }
        }
        ends = []
        try await until { children.allSatisfy { Self.state(of: $0) == "Z" } }
        #expect(children.map { ChildProcess.reap($0) } == Array(repeating: 0, count: 8))
        withExtendedLifetime(callers) {}
    }

    /// A process's state as ps(1) shows it: S is sleeping, Z is a zombie.
    private static func state(of process: Int32) -> Substring? {
        Files.line(of: "/proc/\(process)/stat")?.split(separator: " ").dropFirst(2).first
    }

    @Test func `only root can use root's socket`() throws {
        let modes = try ["control", "control-root"].map { name in
            try FileManager.default.attributesOfItem(atPath: folder + "/" + name)[.posixPermissions] as? Int
        }
        #expect(modes == [0o666, 0o600])
    }
}
