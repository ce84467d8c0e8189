@testable import Authorization
import CaptureCore
import Foundation
import TestSupport
import Testing

@Suite struct `A script that capturectl run starts` {
    private static let scope = ScriptScope(path: "/home/alice/my tools/gauge-2.py", device: 64769, inode: 7, changed: 9)
    private static let file = ExecutableFile(path: scope.path, device: 64769, inode: 7, changed: 9, isProtected: false)
    private static let python = ExecutableFile(path: "/usr/bin/python3.11", device: 1, inode: 3, isProtected: true)

    private func facts(
        _ script: ScriptScope.Script?,
        _ executable: ProcessExecutable = .file(python),
        unit: String? = "user@1000.service",
        isLoginUser: Bool = true
    ) -> ProcessFacts {
        ProcessFacts(
            pid: 42,
            uid: 1000,
            executable: executable,
            systemUnit: unit,
            systemUnitUser: isLoginUser ? nil : 1000,
            userUnit: try? Self.scope.unit(run: 5),
            script: script,
            isLoginUser: isLoginUser
        )
    }

    @Test func `has a scope of which the name says its file`() throws {
        let name = try Self.scope.unit(run: 0x7f3a)
        #expect(name == #"captured-run-64769.7.9.7f3a-home-alice-my\x20tools-gauge\x2d2.py.scope"#)
        #expect(ScriptScope(unit: name) == Self.scope)
    }

    @Test(
        arguments: [
            "captured-run-1.2.3-home-a.scope", "captured-run-1.2.3.4.scope", "captured-run-1.2.3.4-.scope",
            "captured-run-1.2.3.4--a.scope", "captured-run-1.2.3.4-home-\\x2e\\x2e-a.scope",
            "captured-run-1.2.x.4-home-a.scope", "captured-run-1.2.3.4-home-a.service", "app-a-1.scope",
            "captured-run-1.2.3.4-home-a\\x2fb.scope", "captured-run-99999999999999999999999.2.3.4-a.scope",
        ]
    ) func `no other name passes for one`(unit: String) {
        #expect(ScriptScope(unit: unit) == nil)
    }

    @Test func `is refused where its path is too long for a name`() {
        let long = ScriptScope(path: "/" + String(repeating: "é", count: 60), device: 1, inode: 2, changed: 3)
        let error = #expect(throws: CaptureError.self) { try long.unit(run: 1) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("too long") == true)
    }

    @Test func `is the program, whatever interprets it`() throws {
        let found = try ClientIdentity.identify(facts(.file(Self.file)))
        #expect(found.program == "exe:/home/alice/my tools/gauge-2.py")
        #expect(found.tier == .claimed)
        #expect(found.name == "gauge-2.py")
        #expect(found.executable == Self.file)
        #expect(found.interpreter == Self.python)
        #expect(found.running == Self.python)
        #expect(found.runsInterpreter)
        #expect(found.detail.contains("capturectl run"))
        let itself = try ClientIdentity.identify(facts(.file(Self.file), .file(Self.file)))
        #expect(itself.interpreter == nil)
        #expect(itself.running == Self.file)
    }

    @Test(arguments: ["/home/alice/a\nb.py", "/home/alice/a\u{7F}b.py"])
    func `is refused where its path cannot be shown`(path: String) {
        let odd = ExecutableFile(path: path, device: 1, inode: 7, changed: 9, isProtected: false)
        let error = #expect(throws: CaptureError.self) { try ClientIdentity.identify(facts(.file(odd))) }
        #expect(error?.message.contains("control characters") == true)
    }

    @Test func `is refused once its file was changed or cannot be looked at`() {
        for script in [ScriptScope.Script.changed("/a"), .hidden("/a")] {
            #expect(code { try ClientIdentity.identify(facts(script)) } == .notPermitted)
        }
    }

    @Test func `does not take the place of a service or a user of a program's own`() throws {
        let facts = facts(.file(Self.file), unit: "motion.service", isLoginUser: false)
        #expect(try ClientIdentity.identify(facts).program == "unit:motion.service")
    }

    @Test func `is told from a file that was changed, on a real disk`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/gauge"
        try Data("#!/bin/sh\n".utf8).write(to: URL(fileURLWithPath: path))
        let file = try #require(ExecutableFile.inspect(path))
        let scope = ScriptScope(of: file)
        #expect(scope.look(for: getuid(), below: "") == .file(file))
        // The file system's clock stands still for some milliseconds.
        var now = scope.look(for: getuid(), below: "")
        let end = ContinuousClock.now + .seconds(300)
        while now == .file(file), ContinuousClock.now < end {
            #expect(unsafe chmod(path, 0o755) == 0)
            now = scope.look(for: getuid(), below: "")
        }
        #expect(now == .changed(path))
        #expect(unsafe unlink(path) == 0)
        #expect(scope.look(for: getuid(), below: "") == .changed(path))
    }

    @Test func `is refused where another user could put another file`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/gauge"
        try Data("#!/bin/sh\n".utf8).write(to: URL(fileURLWithPath: path))
        let stranger = getuid() + 1
        #expect(ExecutableFile.placeOpenToOthers(path, than: stranger) == (getuid() == 0 ? nil : path))
        #expect(unsafe chmod(folder.path, 0o777) == 0)
        #expect(ExecutableFile.placeOpenToOthers(path, than: getuid()) == folder.path)
        let scope = ScriptScope(of: try #require(ExecutableFile.inspect(path)))
        #expect(scope.look(for: getuid(), below: "") == .open(path, toOthersAt: folder.path))
        // As /tmp is: nobody can rename what is another's there.
        #expect(unsafe chmod(folder.path, 0o1777) == 0)
        #expect(ExecutableFile.placeOpenToOthers(path, than: getuid()) == nil)
        #expect(unsafe chmod(path, 0o662) == 0)
        #expect(ExecutableFile.placeOpenToOthers(path, than: getuid()) == path)
    }

    @Test func `says nothing about a file in a closed folder, unless its numbers are known`() throws {
        let scope = ScriptScope(path: "/etc/shadow", device: 1, inode: 1, changed: 0)
        #expect(scope.look(for: 1000, below: "") == .changed("/etc/shadow"))
        let shell = ScriptScope(path: "/usr/bin/env", device: 1, inode: 1, changed: 0)
        #expect(shell.look(for: 1000, below: "") != .changed("/usr/bin/env"))
    }

    @Test func `counts in the user's own unit alone`() throws {
        // By sudo, in the unit of another user's manager.
        let error = #expect(throws: CaptureError.self) {
            try ClientIdentity.identify(facts(.file(Self.file), unit: "user@1001.service"))
        }
        #expect(error?.message.contains("has no identity") == true)
    }

    @Test func `hides neither from a rule nor from its own questions what file the process runs`() throws {
        let tool = ExecutableFile(path: "/home/alice/evil", device: 1, inode: 9, changed: 9, isProtected: false)
        let itself = try ClientIdentity.identify(facts(nil, .file(tool)))
        let hidden = try ClientIdentity.identify(facts(.file(Self.file), .file(tool)))
        #expect(hidden.program != itself.program)
        #expect(hidden.isSameProgram(as: itself) && itself.isSameProgram(as: hidden))
        #expect(PolicySubject(hidden).paths == [Self.file.path, tool.path])
        // Two scripts share their interpreter, and are two programs.
        let other = ExecutableFile(path: "/home/alice/b.py", device: 1, inode: 8, changed: 9, isProtected: false)
        let one = try ClientIdentity.identify(facts(.file(Self.file)))
        #expect(!one.isSameProgram(as: try ClientIdentity.identify(facts(.file(other)))))
    }
}

@Suite struct `What a program of a person's own says` {
    private let person = Person()
    private let store = AuthorizationStore.inMemory()

    private func gate(_ person: Person) -> AuthorizationGate {
        AuthorizationGate(
            store: store,
            usage: MetadataUsageDescriptions(applications: [], units: [], overrides: ["/nonexistent/apps.d"]),
            prompter: person
        )
    }

    @Test func `is shown, and kept with the answer`() async throws {
        person.knows([.camera: "Reads a gauge"])
        let gate = gate(person)
        async let first = gate.request([.camera])
        await person.wasAsked()
        #expect(person.asked.first?.reasons == [.camera: "Reads a gauge"])
        person.answers([.camera: true])
        _ = try await first
        #expect(try store.allAnswers().map(\.usage) == ["Reads a gauge"])
        // What it says later changes nothing.
        person.knows([.camera: "Something else"])
        _ = try await gate.request([.camera])
        #expect(person.asked.count == 1)
        #expect(try store.allAnswers().map(\.usage) == ["Reads a gauge"])
    }

    @Test func `is not expected of who came through a bridge`() async throws {
        person.knows([:], bridge: .v4l2)
        let gate = gate(person)
        async let first = gate.request([.camera])
        await person.wasAsked()
        #expect(person.asked.first?.bridge == .v4l2)
        #expect(person.asked.first?.reasons == [:])
        person.answers([.camera: true])
        _ = try await first
        #expect(try store.allAnswers().map(\.usage) == [nil])
        // Another connection of the same program has the answer, however it came.
        person.knows([:])
        _ = try await gate.request([.camera])
        #expect(person.asked.count == 1)
    }

    @Test func `is expected for the media library all the same`() async {
        person.knows([:], bridge: .alsa)
        #expect(await code { try await gate(person).request([.libraryReadWrite]) } == .missingUsageDescription)
        #expect(person.asked.isEmpty)
    }

    @Test func `has to be about each service`() async {
        person.knows([.camera: "Reads a gauge"])
        let error = await #expect(throws: CaptureError.self) { try await gate(person).request([.camera, .microphone]) }
        #expect(error?.code == .missingUsageDescription)
        #expect(error?.message.contains("X-Capture-MicrophoneUsageDescription=") == true)
        #expect(error?.message.contains("~/.config/captured/apps.d") == true)
        #expect(person.asked.isEmpty)
    }

    @Test func `is looked for once, however many services are explained`() async {
        person.knows([.microphone: "Tunes a guitar"])
        let found = await gate(person).explain(Service.allCases, for: .program())
        #expect(person.looks == 1)
        let asked = found.filter { if case .asks = $0.outcome { true } else { false } }
        #expect(asked.map(\.service) == [.microphone])
    }

    @Test(arguments: [Tier.sandboxed, .service, .user])
    func `counts for nobody else`(tier: Tier) async {
        person.knows([.camera: "Reads a gauge"], bridge: .pipewire)
        var client = ClientIdentity.program()
        client.tier = tier
        let other = client
        let error = await #expect(throws: CaptureError.self) { try await gate(person).request([.camera], other) }
        #expect(error?.code == .missingUsageDescription)
        #expect(error?.message.contains("/nonexistent/apps.d") == true)
    }
}
