@testable import Authorization
import CaptureCore
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct `The gate` {
    let person = Person()
    let log = DecisionLog()
    let store = AuthorizationStore.inMemory()

    func makeGate(timeout: Duration = .seconds(60)) -> AuthorizationGate {
        AuthorizationGate(
            store: store,
            usage: FixedUsageDescriptions("to see you"),
            prompter: person,
            promptTimeout: timeout,
            decisions: log.note
        )
    }

    @Test func `grants what was answered yes and never asks again`() async throws {
        let gate = makeGate()
        async let first = gate.request([.camera])
        await person.wasAsked()
        #expect(person.asked.first?.reasons == [.camera: "to see you"])
        #expect(person.asked.first?.session == "3")
        person.answers([.camera: true])
        let grant = try #require(try await first[.camera])
        #expect(grant.isLive)
        #expect(grant.service == .camera)
        #expect(grant.program == "exe:/usr/bin/cheese")
        #expect(grant.user == 1000)
        let again = try await gate.request([.camera])
        #expect(again[.camera]?.isLive == true)
        #expect(person.asked.count == 1)
        #expect(log.decisions.map(\.cause) == [.answer, .storedAnswer, .storedAnswer])
        #expect(log.decisions.allSatisfy { $0.status == .authorized && $0.pid == 100 && $0.tier == .claimed })
    }

    @Test func `tells the journal of each service in a sentence of its own`() async throws {
        let gate = makeGate()
        let unanswered = Task { await code { _ = try await gate.request([.camera, .microphone]) } }
        await person.wasAsked()
        person.fails(.timedOut)
        _ = await unanswered.value
        let answered = Task { await code { _ = try await gate.request([.camera, .microphone]) } }
        await person.wasAsked(2)
        person.answers([.camera: true, .microphone: true])
        _ = await answered.value
        #expect(log.decisions.count == 6)
        #expect(Set(log.decisions.map(\.message)).count == 6)
        #expect(log.decisions.allSatisfy { $0.message.contains($0.service.rawValue) })
        #expect(log.decisions.allSatisfy { $0.message.contains("exe:/usr/bin/cheese") })
    }

    @Test func `refuses what was answered no and never asks again`() async throws {
        let gate = makeGate()
        let first = Task { await code { _ = try await gate.request([.camera]) } }
        await person.wasAsked()
        person.answers([.camera: false])
        #expect(await first.value == .denied)
        #expect(await code { _ = try await gate.request([.camera]) } == .denied)
        #expect(try await gate.status(.camera, for: .program()) == .denied)
        #expect(person.asked.count == 1)
    }

    @Test func `has the answer in the store before anybody is told`() async throws {
        let gate = makeGate()
        let seen = Mutex<[StoredAnswer]>([])
        let first = Task {
            let grants = try await gate.request([.camera])
            let rows = try await gate.list()
            seen.withLock { $0 = rows }
            return grants
        }
        await person.wasAsked()
        #expect(try await gate.list().isEmpty)
        person.answers([.camera: true])
        _ = try await first.value
        #expect(seen.withLock { $0.map(\.status) } == [.authorized])
        let row = try #require(seen.withLock { $0.first })
        #expect(row.reason == .answer)
        #expect(row.executable?.inode == 7)
        #expect(row.time.wall > 1_600_000_000_000)
        #expect(row.time.sinceBoot > 0)
    }

    @Test func `asks for camera and microphone in one question and keeps each answer`() async throws {
        let gate = makeGate()
        let both = Task { await code { _ = try await gate.request([.camera, .microphone]) } }
        await person.wasAsked()
        #expect(person.asked.first?.services == [.camera, .microphone])
        person.answers([.camera: true, .microphone: false])
        #expect(await both.value == .denied)
        #expect(try await gate.status(.camera, for: .program()) == .authorized)
        #expect(try await gate.status(.microphone, for: .program()) == .denied)
        #expect(
            log.decisions.map { "\($0.service) \($0.status) \($0.cause.rawValue)" } == [
                "camera authorized answer", "microphone denied answer", "camera authorized stored-answer",
                "microphone denied stored-answer",
            ]
        )
        #expect(try await gate.request([.camera])[.camera]?.isLive == true)
        #expect(person.asked.count == 1)
    }

    @Test func `names what was denied`() async throws {
        let gate = makeGate()
        try await gate.set(user: 1000, program: "exe:/usr/bin/cheese", service: .microphone, status: .denied)
        let error = await #expect(throws: CaptureError.self) { try await gate.request([.camera, .microphone]) }
        #expect(error?.message.contains("the microphone") == true)
        #expect(error?.message.contains("the camera") == false)
        #expect(person.asked.isEmpty)
    }

    @Test func `asks only for what is still undecided`() async throws {
        let gate = makeGate()
        async let camera = gate.request([.camera])
        await person.wasAsked()
        person.answers([.camera: true])
        _ = try await camera
        async let both = gate.request([.camera, .microphone])
        await person.wasAsked(2)
        #expect(person.asked.last?.services == [.microphone])
        person.answers([.microphone: true])
        #expect(try await both.count == 2)
    }

    @Test(arguments: [CaptureError.Code.dismissed, .nobodyToAsk, .timedOut])
    func `stores nothing when there was no answer`(why: CaptureError.Code) async throws {
        let gate = makeGate()
        let first = Task { await code { _ = try await gate.request([.camera, .microphone]) } }
        await person.wasAsked()
        person.fails(why)
        #expect(await first.value == why)
        #expect(try await gate.list().isEmpty)
        #expect(try await gate.status(.camera, for: .program()) == .notDetermined)
        async let second = gate.request([.camera])
        await person.wasAsked(2)
        person.answers([.camera: true])
        _ = try await second
    }

    @Test func `takes a service without an answer as not answered`() async throws {
        let gate = makeGate()
        let both = Task { await code { _ = try await gate.request([.camera, .microphone]) } }
        await person.wasAsked()
        person.answers([.camera: true, .libraryAdd: true])
        #expect(await both.value == .dismissed)
        #expect(try await gate.list().map(\.service) == [.camera])
    }

    @Test func `gives up in time and takes the question away`() async throws {
        let gate = makeGate(timeout: .milliseconds(50))
        #expect(await code { _ = try await gate.request([.camera]) } == .timedOut)
        while person.withdrawn == 0 { await Task.yield() }
        #expect(person.withdrawn == 1)
        #expect(try await gate.list().isEmpty)
    }

    @Test func `never prompts for a status`() async throws {
        let gate = makeGate()
        #expect(try await gate.status(.camera, for: .program()) == .notDetermined)
        #expect(person.asked.isEmpty)
    }

    @Test func `keeps an answer to its user, program and service`() async throws {
        let gate = makeGate()
        async let first = gate.request([.camera])
        await person.wasAsked()
        person.answers([.camera: true])
        _ = try await first
        #expect(try await gate.status(.microphone, for: .program()) == .notDetermined)
        #expect(try await gate.status(.camera, for: .program(user: 1001)) == .notDetermined)
        #expect(try await gate.status(.camera, for: .program("/usr/bin/other")) == .notDetermined)
    }

    @Test func `refuses a program that does not say why`() async throws {
        let gate = AuthorizationGate(
            store: store,
            usage: MetadataUsageDescriptions(applications: [], units: [], overrides: ["/nonexistent/apps.d"]),
            prompter: person,
            decisions: log.note
        )
        let error = await #expect(throws: CaptureError.self) { try await gate.request([.camera]) }
        #expect(error?.code == .missingUsageDescription)
        #expect(error?.message.contains("X-Capture-CameraUsageDescription=") == true)
        #expect(error?.message.contains("~/.config/captured/apps.d/usr-bin-cheese.desktop") == true)
        #expect(person.asked.isEmpty)
        #expect(log.decisions.map(\.cause) == [.missingUsageDescription])
    }

    @Test func `refuses a program that is another one after the answer and stores nothing`() async throws {
        let gate = makeGate()
        let looks = Atomic<Int>(0)
        let first = Task {
            await code {
                let requester = Requester(client: .program(), session: "") {
                    looks.add(1, ordering: .relaxed).newValue <= 2 ? .program() : .program("/usr/bin/evil")
                }
                _ = try await gate.requestAccess([.camera], for: requester)
            }
        }
        await person.wasAsked()
        person.answers([.camera: true])
        #expect(await first.value == .notPermitted)
        #expect(try await gate.list().isEmpty)
        #expect(log.decisions.map(\.cause) == [.identityChanged])
    }

    @Test func `gives no yes to whatever runs in a unit of a name`() async throws {
        let gate = makeGate()
        let cheese = ClientIdentity.app("cheese", runs: "/usr/bin/cheese")
        let error = await #expect(throws: CaptureError.self) {
            try await gate.set(user: 1000, program: "app:cheese", service: .camera, status: .authorized)
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("'capturectl auth reset app:cheese camera'") == true)
        #expect(try await gate.list().isEmpty)
        // One of before that names no file counts for none.
        var row = StoredAnswer(
            user: 1000,
            program: "app:cheese",
            service: .camera,
            tier: .claimed,
            status: .authorized,
            reason: .settings,
            time: .now,
            executable: nil,
            detail: "set by id"
        )
        try store.put([row])
        #expect(try await gate.status(.camera, for: cheese) == .notDetermined)
        // Nor is it shown as a yes, or said to decide.
        #expect(try await gate.list().isEmpty)
        let explanation = try await gate.explain([.camera], program: "app:cheese", user: 1000).explanations.first
        #expect(explanation?.answer == nil)
        row.status = .denied
        try store.put([row])
        #expect(try await gate.status(.camera, for: cheese) == .denied)
    }

    @Test func `refuses a program that cannot be identified again`() async throws {
        let gate = makeGate()
        let cheese = ClientIdentity.app("cheese", runs: "/x")
        try await gate.keep([.camera], for: cheese)
        let result = await code {
            let requester = Requester(client: cheese, session: "") { () throws(CaptureError) in
                throw CaptureError(.notPermitted, "it is gone")
            }
            _ = try await gate.requestAccess([.camera], for: requester)
        }
        #expect(result == .notPermitted)
    }

    @Test func `refuses every start while the store cannot be used`() async throws {
        let folder = try TemporaryFolder()
        let gate = AuthorizationGate(store: try folder.damagedStore(), prompter: person, decisions: log.note)
        #expect(await code { _ = try await gate.request([.camera]) } == .inputOutput)
        #expect(await code { _ = try await gate.status(.camera, for: .program()) } == .inputOutput)
        #expect(person.asked.isEmpty)
        #expect(log.decisions.map(\.cause) == [.store])
    }

    @Test func `tells programs of one claimed unit apart by their files`() async throws {
        let gate = makeGate()
        async let first = gate.request([.camera], .app("org.gnome.Cheese", runs: "/usr/bin/cheese"))
        await person.wasAsked()
        person.answers([.camera: true])
        _ = try await first
        let other = ClientIdentity.app("org.gnome.Cheese", runs: "/usr/bin/evil")
        #expect(try await gate.status(.camera, for: other) == .notDetermined)
        let live = try #require(
            try await gate.request([.camera], .app("org.gnome.Cheese", runs: "/usr/bin/cheese"))[.camera]
        )
        async let second = gate.request([.camera], other)
        await person.wasAsked(2)
        person.answers([.camera: false])
        _ = try? await second
        #expect(try await gate.status(.camera, for: .app("org.gnome.Cheese", runs: "/usr/bin/cheese")) == .authorized)
        #expect(try await gate.status(.camera, for: other) == .denied)
        #expect(live.isLive)
    }

    @Test func `takes a package's upgrade as the same program and a user's new file as another`() async throws {
        let gate = makeGate()
        async let packaged = gate.request([.camera], .program(inode: 1, isProtected: true))
        await person.wasAsked()
        person.answers([.camera: true])
        _ = try await packaged
        #expect(try await gate.status(.camera, for: .program(inode: 2, isProtected: true)) == .authorized)
        #expect(try await gate.status(.camera, for: .program(inode: 2, isProtected: false)) == .notDetermined)

        async let own = gate.request([.camera], .program("/home/a/tool", inode: 1, isProtected: false))
        await person.wasAsked(2)
        person.answers([.camera: true])
        _ = try await own
        #expect(
            try await gate.status(.camera, for: .program("/home/a/tool", inode: 2, isProtected: false))
                == .notDetermined
        )
    }

    /// As after `rm` and a new file, which gets the same inode on many file systems, or a file that was written over.
    @Test func `takes a user's file that was changed for another program, though its inode is the same`() async throws {
        let gate = makeGate()
        func tool(_ changed: Int64?) -> ClientIdentity {
            .program("/home/a/tool", inode: 1, changed: changed, isProtected: false)
        }
        async let first = gate.request([.camera], tool(5))
        await person.wasAsked()
        person.answers([.camera: true])
        _ = try await first
        #expect(try await gate.status(.camera, for: tool(5)) == .authorized)
        #expect(try await gate.status(.camera, for: tool(6)) == .notDetermined)
        #expect(try await gate.status(.camera, for: tool(nil)) == .notDetermined)
        // It has become one that only root can replace, or ceased to be.
        let protected = ClientIdentity.program("/home/a/tool", inode: 1)
        #expect(try await gate.status(.camera, for: protected) == .notDetermined)

        async let changed = gate.request([.camera], tool(6))
        await person.wasAsked(2)
        person.answers([.camera: false])
        _ = try? await changed
        // A no stays, or a program could have itself asked about again and again by touching its file.
        #expect(try await gate.status(.camera, for: tool(7)) == .denied)
        #expect(await code { _ = try await gate.request([.camera], tool(7)) } == .denied)
        #expect(person.asked.count == 2)
    }

    @Test func `refuses a program whose file is changed while the person thinks`() async throws {
        let gate = makeGate()
        let before = ClientIdentity.program("/home/a/tool", changed: 5, isProtected: false)
        let after = ClientIdentity.program("/home/a/tool", changed: 6, isProtected: false)
        let isChanged = Atomic<Bool>(false)
        let asking = Task {
            await code {
                let requester = Requester(client: before, session: "3") {
                    isChanged.load(ordering: .acquiring) ? after : before
                }
                _ = try await gate.requestAccess([.camera], for: requester)
            }
        }
        await person.wasAsked()
        isChanged.store(true, ordering: .releasing)
        person.answers([.camera: true])
        #expect(await asking.value == .notPermitted)
        #expect(try await gate.list().isEmpty)
    }

    @Test func `serves a machine without a seat by what root has set`() async throws {
        let gate = makeGate()
        let service = ClientIdentity(
            program: "unit:motion.service",
            tier: .service,
            user: 61234,
            name: "motion",
            detail: ""
        )
        try await gate.set(user: 0, program: "unit:motion.service", service: .camera, status: .authorized)
        let grant = try await gate.request([.camera], service)[.camera]
        #expect(grant?.user == 0)
        #expect(person.asked.isEmpty)
    }
}
