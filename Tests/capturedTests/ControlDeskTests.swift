import CaptureCore
import CaptureSystem
import Foundation
import Testing

@testable import CaptureKit
@testable import captured

/// The control socket, with real processes that accept its callers.
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
            return program == "none"
                ? [.done(count: 0)]
                : [
                    .session(
                        ControlSession(
                            id: 7,
                            state: "running",
                            reason: nil,
                            program: program,
                            user: "\(caller.pid)",
                            isAttached: true
                        )
                    ), .done(count: 3),
                ]
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

    @Test func `tells errors with their codes, and who calls`() async throws {
        let error = await #expect(throws: CaptureError.self) { try await socket.setSwitch(.camera, isOn: false) }
        #expect(error?.code == .denied && error?.message.hasPrefix("\(getuid()) ") == true)
    }

    @Test func `refuses what is no request, and goes on`() async throws {
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

    @Test func `callers that say nothing and descriptors that cannot be closed lock nobody out`() async throws {
        var silent: [PacketSocket] = []
        var hostile: [LingeringSocket] = []
        for _ in 0..<(ControlDesk.mostOfUser * 3) {
            let caller = try PacketSocket.connect(to: folder + "/control")
            let lingering = try LingeringSocket()
            try caller.send("message=sessions\n", with: [lingering.file])
            try lingering.leave()
            silent.append(caller)
            hostile.append(lingering)
        }
        #expect(try await socket.reset(program: "none") == 0)
        #expect(try await ControlSocket(path: folder + "/control-root").reset(program: "none") == 0)
        withExtendedLifetime((silent, hostile)) {}
    }

    @Test func `root's socket is root's`() throws {
        let modes = try ["control", "control-root"].map { name in
            try FileManager.default.attributesOfItem(atPath: folder + "/" + name)[.posixPermissions] as? Int
        }
        #expect(modes == [0o666, 0o600])
    }
}
