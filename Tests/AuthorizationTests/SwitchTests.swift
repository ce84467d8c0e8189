import CaptureCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Authorization

@Suite(.timeLimit(.minutes(10))) struct SwitchTests {
    let folder: TemporaryFolder
    let person = Person()
    let log = DecisionLog()
    let store = AuthorizationStore.inMemory()

    init() throws { folder = try TemporaryFolder() }

    private func makeGate() -> AuthorizationGate {
        AuthorizationGate(
            store: store,
            prompter: person,
            switches: SwitchFile(directory: folder.path),
            decisions: log.note
        )
    }

    private func write(_ text: String) throws {
        try folder.write("switches", text, mode: 0o600)
    }

    @Test func `an open session loses what is switched off, and its answer stays`() async throws {
        let gate = makeGate()
        let client = ClientIdentity.app("cheese", runs: "/usr/bin/cheese")
        try await gate.keep([.camera, .microphone], for: client)
        let grants = try await gate.request([.camera, .microphone], client)
        try await gate.setSwitch(.camera, isOn: false)
        #expect(grants[.camera]?.isLive == false)
        #expect(grants[.camera]?.withdrawnBy == .switchedOff)
        #expect(grants[.microphone]?.isLive == true)
        #expect(log.decisions.last?.cause == .switched)
        #expect(log.decisions.last?.status == .authorized)
        let error = await #expect(throws: CaptureError.self) { try await gate.request([.camera], client) }
        #expect(error?.code == .switchedOff)
        #expect(error?.code.exitCode == 77)
        #expect(error?.message.contains("capturectl switch camera on") == true)
        #expect(try await gate.status(.camera, for: client) == .authorized)
        _ = try await gate.request([.microphone], client)
        try await gate.setSwitch(.camera, isOn: true)
        _ = try await gate.request([.camera], client)
        #expect(person.asked.isEmpty)
    }

    @Test func `who was interrupted goes on with the answer that there was, and is never asked`() async throws {
        let gate = makeGate()
        let client = ClientIdentity.app("cheese", runs: "/usr/bin/cheese")
        try await gate.keep([.camera], for: client)
        try await gate.setSwitch(.camera, isOn: false)
        #expect(await gate.interruption(of: [.camera, .microphone], for: client)?.code == .switchedOff)
        #expect(await gate.interruption(of: [.microphone], for: client) == nil)
        // What is off is no matter of consent.
        try await gate.checkConsent(to: [.camera], for: client)
        #expect(await code { try await gate.checkConsent(to: [.camera, .microphone], for: client) } == .revoked)
        try await gate.setSwitch(.camera, isOn: true)
        #expect(await gate.interruption(of: [.camera], for: client) == nil)
        let requester = Requester(client: client, session: "") { client }
        let grants = try await gate.requestAccess([.camera], for: requester, mayAsk: false)
        #expect(grants[.camera]?.isLive == true)
        let refused = await code {
            _ = try await gate.requestAccess([.microphone], for: requester, mayAsk: false)
        }
        #expect(refused == .revoked)
        #expect(log.decisions.last?.message.contains("start again to be asked") == true)
        try await gate.set(user: 1000, program: "app:cheese", service: .camera, status: .denied)
        #expect(await code { try await gate.checkConsent(to: [.camera], for: client) } == .denied)
        #expect(person.asked.isEmpty)
    }

    @Test func `nobody is asked about what is off, and an open question is taken away`() async throws {
        let gate = makeGate()
        try await gate.setSwitch(.camera, isOn: false)
        #expect(await code { _ = try await gate.request([.camera, .microphone]) } == .switchedOff)
        #expect(person.asked.isEmpty)
        try await gate.setSwitch(.camera, isOn: true)
        let asking = Task { try await gate.request([.camera]) }
        await person.wasAsked()
        try await gate.setSwitch(.camera, isOn: false)
        #expect(await code { _ = try await asking.value } == .switchedOff)
        #expect(try await gate.list().isEmpty)
    }

    @Test func `it lasts over a restart`() async throws {
        try await makeGate().setSwitch(.microphone, isOn: false)
        let gate = makeGate()
        #expect(await gate.currentSwitches == Switches(off: [.microphone]))
        try await gate.setSwitch(.microphone, isOn: true)
        #expect(await makeGate().currentSwitches == Switches())
    }

    @Test(arguments: [
        "", "[Switches]\ncamera=off\n", "[Switches]\ncamera=perhaps\n", "[Other]\ncamera=on\n", "garbage",
        "[Switches]\ncamera=on\ncamera=on\nmicrophone=on\nlibrary-add=on\nlibrary-read-write=on\n",
    ])
    func `what cannot be understood is off, until one is turned`(_ text: String) async throws {
        try write(text)
        let gate = makeGate()
        let error = await #expect(throws: CaptureError.self) { try await gate.request([.microphone]) }
        #expect(error?.code == .switchedOff)
        #expect(error?.message.contains(folder.path + "/switches") == true)
        try await gate.setSwitch(.microphone, isOn: true)
        #expect(await makeGate().currentSwitches == Switches(off: [.camera, .libraryAdd, .libraryReadWrite]))
        try await gate.setSwitch(.camera, isOn: true)
        #expect(await gate.currentSwitches.isOff(.camera) == false)
    }

    @Test func `a file that others could have written is not believed`() async throws {
        try await makeGate().setSwitch(.camera, isOn: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: folder.path + "/switches")
        #expect(await makeGate().currentSwitches.isOff(.camera))
    }

    @Test func `what cannot be kept is off all the same, and never on`() async throws {
        let gate = AuthorizationGate(
            store: store,
            prompter: person,
            switches: SwitchFile(directory: folder.path + "/absent")
        )
        #expect(await code { try await gate.setSwitch(.camera, isOn: false) } == .inputOutput)
        #expect(await gate.currentSwitches.isOff(.camera))
        #expect(await code { try await gate.setSwitch(.camera, isOn: true) } == .inputOutput)
        #expect(await gate.currentSwitches.isOff(.camera))
    }

    @Test func `who turns one is told of all as they stand then, once it was kept`() async throws {
        let gate = makeGate()
        let told = Mutex<[Switches]>([])
        let kept = SwitchFile(directory: folder.path)
        for isOn in [true, false, false, true] {
            try await gate.setSwitch(.camera, isOn: isOn) { switches in
                #expect(kept.load() == switches)
                told.withLock { $0.append(switches) }
            }
        }
        #expect(told.withLock { $0 } == [Switches(off: [.camera]), Switches()])
    }

    @Test func `many that turn one at a time are told in the order in which it was turned`() async throws {
        let gate = makeGate()
        let positions = Positions()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    try await gate.setSwitch(.camera, isOn: number % 2 == 0) { switches in
                        positions.told.withLock { $0.append(switches.isOff(.camera)) }
                    }
                }
            }
            try await group.waitForAll()
        }
        let told = positions.told.withLock { $0 }
        #expect(told == told.indices.map { $0 % 2 == 0 })
        #expect(await gate.currentSwitches.isOff(.camera) == (told.last ?? false))
    }
}

/// Whether a switch was off each time that it had been turned.
private final class Positions: Sendable {
    let told = Mutex<[Bool]>([])
}
