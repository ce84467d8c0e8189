@testable import Authorization
import CaptureCore
import Foundation
import TestSupport
import Testing

@Suite struct `The store` {
    let folder: TemporaryFolder
    var file: String { folder.path + "/" + AuthorizationStore.fileName }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open() -> AuthorizationStore { AuthorizationStore(directory: folder.path) }

    private func answer(_ program: String = "exe:/usr/bin/cheese", _ service: Service = .camera) -> StoredAnswer {
        StoredAnswer(
            user: 1000,
            program: program,
            service: service,
            tier: .claimed,
            status: .authorized,
            reason: .answer,
            time: .now,
            executable: ExecutableFile(path: "/usr/bin/cheese", device: .max, inode: .max - 1, isProtected: true),
            detail: "the session 3"
        )
    }

    private func reason(_ store: AuthorizationStore) -> String {
        switch store.state {
        case .usable: ""
        case .unusable(let why): why
        }
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    /// The store refuses with a reason that contains a text, and the file is as it was.
    private func expectRefusal(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let before = try Data(contentsOf: URL(fileURLWithPath: file))
        let store = open()
        #expect(reason(store).contains(text), sourceLocation: sourceLocation)
        let error = #expect(throws: CaptureError.self, sourceLocation: sourceLocation) { try store.allAnswers() }
        #expect(error?.code == .inputOutput, sourceLocation: sourceLocation)
        #expect(error?.message.contains(file) == true, sourceLocation: sourceLocation)
        #expect(throws: CaptureError.self, sourceLocation: sourceLocation) { try store.put([answer()]) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before, sourceLocation: sourceLocation)
    }

    @Test func `is made when it is absent, for the daemon's eyes alone`() throws {
        let inner = folder.path + "/state"
        let store = AuthorizationStore(directory: inner)
        #expect(store.state == .usable)
        #expect(try mode(inner) == 0o700)
        #expect(try mode(inner + "/" + AuthorizationStore.fileName) == 0o600)
        #expect(try store.allAnswers().isEmpty)
    }

    @Test func `synchronizes fully, and says so when read back`() throws {
        let store = open()
        #expect(try store.pragma("synchronous") == "2")
        #expect(try store.pragma("journal_mode") == "truncate")
        try store.put([answer()])
        #expect(try store.pragma("synchronous") == "2")
    }

    @Test func `gives back what was put in, after it was opened again`() throws {
        let kept = answer()
        try open().put([kept, answer("exe:/usr/bin/cheese", .microphone)])
        let found = try open().answers(user: 1000, program: "exe:/usr/bin/cheese")
        #expect(found.first { $0.service == .camera } == kept)
        #expect(found.count == 2)
    }

    @Test func `keeps when a file was changed, which matters where not only root can replace it`() throws {
        var row = answer()
        row.executable = ExecutableFile(
            path: "/home/a/tool",
            device: 1,
            inode: 2,
            changed: .max - 3,
            isProtected: false
        )
        try open().put([row])
        #expect(try open().allAnswers() == [row])
        #expect(try open().allAnswers().first?.executable?.changed == .max - 3)
    }

    @Test func `keeps one answer to one question`() throws {
        let store = open()
        var row = answer()
        try store.put([row])
        row.status = .denied
        try store.put([row])
        #expect(try store.allAnswers().map(\.status) == [.denied])
    }

    @Test func `refuses random bytes and keeps them`() throws {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<8192).map { _ in UInt8.random(in: 0...255, using: &generator) }
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        try expectRefusal("damaged")
    }

    @Test func `refuses a file that was cut off to nothing, rather than forget every answer`() throws {
        try folder.write(AuthorizationStore.fileName, "", mode: 0o600)
        try expectRefusal("is empty: it was cut off; restore a copy, or start without any answer with: mv ")
        #expect(open().remedy == "mv '\(file)' '\(file).damaged'")
    }

    @Test(arguments: [1, 2])
    func `refuses a file that was cut off in the middle`(pages: Int) throws {
        let store = open()
        try store.put((0..<200).map { answer("exe:/usr/bin/program-\($0)") })
        let handle = try #require(FileHandle(forUpdatingAtPath: file))
        try handle.truncate(atOffset: UInt64(pages * 4096))
        try handle.close()
        try expectRefusal("damaged")
    }

    @Test func `refuses a file with a page of zeros in it`() throws {
        let store = open()
        try store.put((0..<200).map { answer("exe:/usr/bin/program-\($0)") })
        let handle = try #require(FileHandle(forUpdatingAtPath: file))
        try handle.seek(toOffset: 3 * 4096)
        try handle.write(contentsOf: Data(repeating: 0, count: 4096))
        try handle.close()
        try expectRefusal("damaged")
    }

    @Test(arguments: [0o644, 0o660, 0o666, 0o700])
    func `refuses a file of another mode`(mode: Int) throws {
        try open().put([answer()])
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        try expectRefusal("instead of 0600")
        #expect(open().remedy == "chmod 0600 '\(file)'")
    }

    @Test func `refuses a file of another version`() throws {
        _ = try open().pragma("user_version = \(StoreSchema.version + 1)")
        try expectRefusal("version \(StoreSchema.version + 1)")
    }

    @Test func `refuses somebody else's database`() throws {
        _ = try open().pragma("application_id = 1")
        try expectRefusal("not a store of answers")
    }

    @Test func `refuses a link to a file and a file of two names`() throws {
        try open().put([answer()])
        try FileManager.default.linkItem(atPath: file, toPath: file + ".other")
        try expectRefusal("not a regular file of one name")
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: file + ".other")
        try expectRefusal("not a regular file of one name")
    }

    @Test func `refuses a folder that others can reach`() throws {
        try open().put([answer()])
        for mode in [0o755, 0o777, 0o1777] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path)
            let store = open()
            #expect(reason(store).contains("instead of 0700"))
            #expect(store.remedy == "chmod 0700 '\(folder.path)'")
        }
    }

    @Test func `takes a folder that was just made for it`() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        #expect(open().state == .usable)
        #expect(try mode(folder.path) == 0o700)
    }

    @Test func `is usable again when what was wrong is mended, without a restart`() throws {
        try open().put([answer()])
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        let store = open()
        #expect(throws: CaptureError.self) { try store.allAnswers() }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        #expect(try store.allAnswers().count == 1)
        #expect(store.state == .usable)
        #expect(store.remedy == "")
    }

    @Test func `shows what was mended, or spoiled, when it is looked at`() throws {
        let store = open()
        for (mode, isUsable) in [(0o644, false), (0o600, true)] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
            store.look()
            #expect((store.state == .usable) == isUsable)
        }
    }

    @Test func `notices that its file was moved away, swapped or opened to others while in use`() throws {
        let store = open()
        try store.put([answer()])
        try FileManager.default.moveItem(atPath: file, toPath: file + ".kept")
        #expect(try store.allAnswers().isEmpty)
        try store.put([answer("exe:/usr/bin/other")])
        #expect(try open().allAnswers().map(\.program) == ["exe:/usr/bin/other"])
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.moveItem(atPath: file + ".kept", toPath: file)
        #expect(try store.allAnswers().map(\.program) == ["exe:/usr/bin/cheese"])
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file)
        #expect(throws: CaptureError.self) { try store.allAnswers() }
        #expect(reason(store).contains("instead of 0600"))
    }

    @Test func `is not confused by what a crash in the making of it left`() throws {
        try folder.write(AuthorizationStore.fileName + ".new", "half", mode: 0o600)
        try folder.write(AuthorizationStore.fileName + "-journal", "of a store that is gone", mode: 0o600)
        let store = open()
        #expect(store.state == .usable)
        try store.put([answer()])
        #expect(try open().allAnswers().count == 1)
    }

    @Test func `keeps all answers of one prompt or none`() throws {
        let store = open()
        let pages = try store.pragma("page_count")
        _ = try store.pragma("max_page_count = \(pages)")
        let many = (0..<500).map { answer("exe:/usr/bin/program-\($0)") }
        let error = #expect(throws: CaptureError.self) { try store.put(many) }
        #expect(error?.code == .inputOutput)
        #expect(error?.message.contains("full") == true)
        #expect(try open().allAnswers().isEmpty)
    }

    @Test(.enabled(if: SmallDisk.isPossible))
    func `refuses on a full disk, and serves again when there is room`() throws {
        let disk = try SmallDisk(kilobytes: 128)
        let store = AuthorizationStore(directory: disk.path + "/state")
        try store.put([answer()])
        try disk.fill()
        #expect(throws: CaptureError.self) {
            for index in 0..<1000 { try store.put([answer("exe:/usr/bin/program-\(index)")]) }
        }
        #expect(reason(store).contains("full"))
        #expect(throws: CaptureError.self) { try store.answers(user: 1000, program: "exe:/usr/bin/cheese") }
        #expect(reason(AuthorizationStore(directory: disk.path + "/state")) != "")
        #expect(reason(AuthorizationStore(directory: disk.path + "/fresh")) != "")
        try disk.makeRoom()
        #expect(try store.answers(user: 1000, program: "exe:/usr/bin/cheese").count == 1)
        #expect(store.state == .usable)
        #expect(AuthorizationStore(directory: disk.path + "/fresh").state == .usable)
    }

    @Test(.enabled(if: SmallDisk.isPossible))
    func `refuses on a disk that is read-only`() throws {
        let disk = try SmallDisk(kilobytes: 128)
        try AuthorizationStore(directory: disk.path + "/state").put([answer()])
        try disk.makeReadOnly()
        #expect(reason(AuthorizationStore(directory: disk.path + "/state")) != "")
        #expect(reason(AuthorizationStore(directory: disk.path + "/fresh")) != "")
    }

    @Test(.enabled(if: geteuid() == 0))
    func `refuses a file or folder of somebody else`() throws {
        try open().put([answer()])
        try own(file, 12345)
        try expectRefusal("belongs to uid 12345")
        #expect(open().remedy == "chown 0 '\(file)'")
        try own(file, 0)
        try own(folder.path, 12345)
        #expect(reason(open()).contains("belongs to uid 12345"))
        #expect(open().remedy == "chown 0 '\(folder.path)'")
        try own(folder.path, 0)
    }

    private func own(_ path: String, _ user: Int) throws {
        try FileManager.default.setAttributes([.ownerAccountID: user], ofItemAtPath: path)
    }

    @Test(.enabled(if: geteuid() != 0))
    func `refuses a folder that it cannot write`() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder.path)
        #expect(reason(open()) != "")
    }

    @Test func `does not count a yes that could not be kept`() async throws {
        let store = open()
        let person = Person()
        let gate = AuthorizationGate(store: store, prompter: person)
        var client = ClientIdentity.program()
        client.detail = String(repeating: "long ", count: 10_000)
        let request = Task { [client] in await code { _ = try await gate.request([.camera], client) } }
        await person.wasAsked()
        _ = try store.pragma("max_page_count = \(try store.pragma("page_count"))")
        person.answers([.camera: true])
        #expect(await request.value == .inputOutput)
        #expect(try open().allAnswers().isEmpty)
    }
}
