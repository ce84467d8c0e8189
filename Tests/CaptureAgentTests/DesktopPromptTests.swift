import BusSupport
import CaptureBus
import CaptureCore
import Foundation
import Synchronization
import Testing

@testable import CaptureAgent
@testable import CaptureKit

@Suite(.timeLimit(.minutes(10)))
struct DesktopPromptTests {
    private static let both = PromptRequest(
        Question(
            cookie: "c",
            program: "flatpak:org.example.Calls",
            tier: "sandboxed",
            name: "Calls"
        ),
        services: [.camera, .microphone],
        reasons: [.camera: "to show you", .microphone: "to hear you"]
    )

    /// The files of one folder, not the machine's.
    private static func portals(in folder: String) -> PortalFiles {
        PortalFiles { $0 == "XDG_DESKTOP_PORTAL_DIR" ? folder : nil }
    }

    /// Asks on a desktop where the person does as told.
    private func ask(
        _ request: PromptRequest = both,
        _ person: @escaping FakeDesktop.Person
    ) async throws -> (answer: PromptAnswer, dialogs: [FakeDesktop.Dialog], failure: CaptureError?) {
        let bus = try PrivateBus()
        let desktop = try await FakeDesktop(on: bus, person)
        let failure = Mutex<CaptureError?>(nil)
        let none = DesktopPromptTests.portals(in: "/nowhere")
        let prompt = try await DesktopPrompt.connect(to: bus.kind, none) { error in
            failure.withLock { $0 = error }
        }
        #expect(prompt.backend == FakeDesktop.name)
        let answer = await prompt.ask(request)
        return (answer, desktop.dialogs, failure.withLock { $0 })
    }

    private static func pairs(_ camera: String, _ microphone: String) -> BusValue {
        .array(
            "(ss)",
            [
                .structure([.string("camera"), .string(camera)]),
                .structure([.string("microphone"), .string(microphone)]),
            ]
        )
    }

    @Test func `camera and microphone are one dialog of two rows, answered apart`() async throws {
        let (answer, dialogs, _) = try await ask { _ in (0, DesktopPromptTests.pairs("true", "false")) }
        #expect(answer == .answered([.camera: true, .microphone: false]))
        #expect(dialogs.map(\.rows) == [["camera", "microphone", "details"]])
    }

    @Test func `the rows are understood as xdg-desktop-portal-gtk returns them`() async throws {
        let (answer, _, _) = try await ask { _ in
            (0, .properties(["camera": .string("false"), "microphone": .string("true")]))
        }
        #expect(answer == .answered([.camera: false, .microphone: true]))
    }

    @Test func `no is no to every row, and a closed dialog is no answer`() async throws {
        #expect(try await ask { _ in (1, nil) }.answer == .answered([.camera: false, .microphone: false]))
        #expect(try await ask { _ in (2, nil) }.answer == .dismissed)
        // Whatever else a desktop makes up is not a yes.
        #expect(try await ask { _ in (7, DesktopPromptTests.pairs("true", "true")) }.answer == .dismissed)
    }

    @Test func `one service is a dialog without rows but that for details`() async throws {
        var request = DesktopPromptTests.both
        request.services = [.microphone]
        let (answer, dialogs, _) = try await ask(request) { _ in (0, nil) }
        #expect(answer == .answered([.microphone: true]))
        #expect(dialogs.map(\.rows) == [["details"]])
    }

    @Test func `on a desktop without rows the services are asked one after the other`() async throws {
        let (answer, dialogs, _) = try await ask { dialog in
            dialog.title.contains("microphone") && !dialog.title.contains("camera") ? (1, nil) : (0, nil)
        }
        #expect(answer == .answered([.camera: true, .microphone: false]))
        #expect(dialogs.count == 3)
        #expect(dialogs.dropFirst().allSatisfy { $0.rows == ["details"] })
    }

    @Test func `details are shown on demand, and the question is put again with them`() async throws {
        let (answer, dialogs, _) = try await ask { dialog in
            dialog.rows.contains("details")
                ? (
                    0,
                    .properties(["camera": "true", "microphone": "true", "details": "true"].mapValues { .string($0) })
                )
                : (0, DesktopPromptTests.pairs("false", "true"))
        }
        #expect(dialogs.map(\.rows) == [["camera", "microphone", "details"], ["camera", "microphone"]])
        #expect(answer == .answered([.camera: false, .microphone: true]))
    }

    @Test func `there, one that is closed leaves nothing answered`() async throws {
        let (answer, _, _) = try await ask { dialog in dialog.title.contains("camera") ? (0, nil) : (2, nil) }
        #expect(answer == .dismissed)
    }

    @Test func `a desktop that is gone answers nothing, so that another agent is asked`() async throws {
        let (answer, _, failure) = try await ask { _ throws(CaptureError) in
            throw CaptureError(.unreachable, "no display")
        }
        #expect(answer == .withdrawn)
        #expect(failure?.code == .unreachable)
        #expect(failure?.message.contains("no display") == true)
    }

    @Test func `a dialog that the desktop refuses counts as closed, and is told`() async throws {
        let (answer, _, failure) = try await ask { _ throws(CaptureError) in
            throw CaptureError(.internalFault, "another stands")
        }
        #expect(answer == .dismissed)
        #expect(failure?.code == .internalFault)
        #expect(failure?.message.contains("another stands") == true)
    }

    @Test func `a desktop without dialogs is told with the package to install`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("portals-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let backend = "[portal]\nDBusName=org.example.Gone\nInterfaces=org.freedesktop.impl.portal.Access\n"
        try Data(backend.utf8).write(to: folder.appendingPathComponent("gone.portal"))
        let bus = try PrivateBus()
        let error = await #expect(throws: CaptureError.self) {
            _ = try await DesktopPrompt.connect(to: bus.kind, DesktopPromptTests.portals(in: folder.path)) { _ in }
        }
        #expect(error?.code == .nobodyToAsk)
        #expect(error?.message.contains("gone.portal names org.example.Gone") == true)
        #expect(error?.message.contains("install xdg-desktop-portal-gtk") == true)
    }
}
