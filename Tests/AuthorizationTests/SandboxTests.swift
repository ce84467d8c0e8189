@testable import Authorization
import CaptureCore
import Testing

@Suite struct `A sandbox` {
    private static let proxy = ExecutableFile(path: "/usr/bin/xdg-dbus-proxy", device: 1, inode: 2, isProtected: true)
    private static let metadata = """
        [Application]
        name=org.gnome.Cheese
        runtime=runtime/org.gnome.Platform/x86_64/45

        [Instance]
        instance-id=2718281828
        app-path=/var/lib/flatpak/app/org.gnome.Cheese/x86_64/stable/0a/files

        [Session Bus Policy]
        org.gnome.Cheese.*=own
        """
    private static let scope = "app-flatpak-org.gnome.Cheese-4711.scope"

    private static func file(
        _ text: String = metadata,
        owner: UInt32 = 1000,
        isInMemory: Bool = true,
        isOnOwnRoot: Bool = true
    ) -> ProcessFacts.FlatpakFile {
        .file(text: text, owner: owner, isInMemory: isInMemory, isOnOwnRoot: isOnOwnRoot)
    }

    private func facts(
        _ file: ProcessFacts.FlatpakFile = .absent,
        uid: UInt32 = 1000,
        runs executable: ProcessExecutable = .elsewhere(proxy),
        unit: String? = "user@1000.service",
        unitUser: UInt32? = nil,
        userUnit: String? = scope,
        session: String? = nil,
        label: String = ""
    ) -> ProcessFacts {
        ProcessFacts(
            pid: 42,
            uid: uid,
            executable: executable,
            systemUnit: unit,
            systemUnitUser: unitUser,
            userUnit: userUnit,
            session: session,
            isLoginUser: true,
            label: label,
            flatpakInfo: file,
            isByPid: true,
            startTime: 7
        )
    }

    private func refusal(_ facts: ProcessFacts, sourceLocation: SourceLocation = #_sourceLocation) -> String {
        let error = #expect(throws: CaptureError.self, sourceLocation: sourceLocation) {
            try ClientIdentity.identify(facts)
        }
        #expect(error?.code == .notPermitted, sourceLocation: sourceLocation)
        return error?.message ?? ""
    }

    @Test func `of Flatpak is known by the file on its root and the scope that Flatpak made`() throws {
        let found = try ClientIdentity.identify(facts(Self.file()))
        #expect(found.program == "flatpak:org.gnome.Cheese")
        #expect(found.tier == .sandboxed)
        #expect(found.user == 1000)
        #expect(found.answerUser == 1000)
        #expect(found.name == "org.gnome.Cheese")
        #expect(
            found.detail == "the Flatpak sandbox of org.gnome.Cheese (instance 2718281828) in the unit \(Self.scope), "
                + "found by pid; runs /usr/bin/xdg-dbus-proxy"
        )
        #expect(
            found.parts
                == IdentityParts(
                    unit: Self.scope,
                    sandbox: "Flatpak instance 2718281828",
                    sandboxFolder: "/var/lib/flatpak/app/org.gnome.Cheese/x86_64/stable/0a/files",
                    isByPid: true,
                    startTime: 7
                )
        )
    }

    @Test(arguments: [
        ("app-org.gnome.Cheese-12.scope", "instead of a scope"), ("app-gnome-org.gnome.Cheese-12.scope", "instead of"),
        ("app-flatpak-org.evil.Tool-12.scope", "its scope is that of org.evil.Tool"),
        ("app-flatpak-org.gnome.Cheese@12.service", "instead of a scope"), ("vte-spawn-1.scope", "instead of a scope"),
        ("snap.org.gnome.Cheese-12.scope", "instead of a scope"), (nil, "instead of a scope"),
    ])
    func `of Flatpak is nobody's in another unit, as of a program that makes such a file itself`(
        unit: String?,
        why: String
    ) {
        let message = refusal(facts(Self.file(), userUnit: unit))
        #expect(message.contains(why))
    }

    @Test func `of Flatpak is nobody's in a unit of somebody else's manager`() {
        #expect(refusal(facts(Self.file(), unit: "user@1001.service")).contains("user@1001.service"))
        #expect(refusal(facts(Self.file(), unit: "motion.service", unitUser: 1000)).contains("motion.service"))
        #expect(refusal(facts(Self.file(), unit: "session-3.scope", session: "3")).contains("session-3.scope"))
        #expect(refusal(facts(Self.file(), unit: nil)).contains("instead of a scope"))
    }

    @Test func `of Flatpak is nobody's when its file is not what Flatpak makes`() {
        #expect(refusal(facts(Self.file(owner: 1001))).contains("belongs to uid 1001"))
        #expect(refusal(facts(Self.file(owner: 0))).contains("belongs to uid 0"))
        #expect(refusal(facts(Self.file(isInMemory: false))).contains("on a disk"))
        #expect(refusal(facts(Self.file(isOnOwnRoot: false))).contains("root of the whole system"))
    }

    @Test func `of Flatpak that cannot be read is nobody's, and never the host`() {
        #expect(refusal(facts(.unusable("cannot be opened (Permission denied)"))).contains("Permission denied"))
        let tool = ProcessExecutable.file(Self.proxy)
        let inSession = facts(.unusable("is not a regular file"), runs: tool, unit: nil, userUnit: nil, session: "3")
        #expect(refusal(inSession).contains("is not a regular file"))
        #expect(refusal(facts(.absent, runs: tool)).contains("no /.flatpak-info"))
    }

    @Test(arguments: [
        "", "[Application]\n", "name=org.gnome.Cheese\n", "[Application]\nname=\n[Instance]\ninstance-id=1\n",
        "[Application]\nname=org.gnome.Cheese\n", "[Application]\nname=org.gnome.Cheese\n[Instance]\ninstance-id=x\n",
        "[Application]\nname=org.gnome.Cheese\n[Instance]\ninstance-id=-1\n",
        "[Application]\nname=../etc/passwd\n[Instance]\ninstance-id=1\n",
        "[Runtime]\nname=org.gnome.Platform\n[Instance]\ninstance-id=1\n",
        "[Application]\nname=org.gnome.Cheese\n[Runtime]\nname=a.b.c\n[Instance]\ninstance-id=1\n",
    ])
    func `of Flatpak is nobody's when its file does not say which application, or is that of a runtime`(text: String) {
        #expect(!refusal(facts(Self.file(text))).isEmpty)
    }

    @Test(arguments: [
        ("org.gnome.Cheese", true), ("io.github.a_b.C-d", true), ("_a._b._c", true), ("org.gnome", false),
        ("org..Cheese", false), (".org.gnome.Cheese", false), ("org.gnome.", false), ("org.3d.Tool", false),
        ("org.a-b.Tool", false), ("org.gnome.Che ese", false), ("org.gnome.K\u{E4}se", false), ("a.b.c/d", false),
        ("", false), ("a.b." + String(repeating: "c", count: 252), false),
    ])
    func `has an id by Flatpak's rules`(id: String, isID: Bool) {
        #expect(FlatpakInfo.isID(id) == isID)
    }

    @Test func `of Flatpak is another one in another instance`() throws {
        let one = try ClientIdentity.identify(facts(Self.file()))
        let text = Self.metadata.replacing("2718281828", with: "3")
        #expect(try !one.isUnchanged(in: ClientIdentity.identify(facts(Self.file(text)))))
    }

    @Test func `is told by its id alone, whatever links a package manager makes to its files`() throws {
        func running(_ changed: Int64) throws -> ClientIdentity {
            let file = ExecutableFile(
                path: "/app/bin/cheese",
                device: 3,
                inode: 4,
                changed: changed,
                isProtected: false
            )
            return try ClientIdentity.identify(facts(Self.file(), runs: .elsewhere(file)))
        }
        #expect(try running(5).tier == .sandboxed)
        #expect(try running(5).isUnchanged(in: running(6)))
    }

    // MARK: Snap

    private static let snapScope = "snap.cheese.cheese-0b9c.scope"
    private static let inSnap = ProcessExecutable.file(
        ExecutableFile(path: "/snap/cheese/12/usr/bin/cheese", device: 3, inode: 4, isProtected: true)
    )

    @Test(arguments: [
        "snap.cheese.cheese-0b9c.scope", "snap.cheese.cheese.0b9c.scope", "snap.cheese.hook.configure-1.scope",
        "snap.cheese.web.service",
    ])
    func `of Snap is known by its unit and its security label`(unit: String) throws {
        let found = try ClientIdentity.identify(
            facts(runs: .elsewhere(Self.proxy), userUnit: unit, label: "snap.cheese.cheese (enforce)")
        )
        #expect(found.program == "snap:cheese")
        #expect(found.tier == .sandboxed)
        #expect(found.parts.unit == unit)
        #expect(found.parts.label == "snap.cheese.cheese (enforce)")
        #expect(found.detail.contains("by its unit and its security label"))
    }

    @Test func `of Snap is known by its unit and its file where the kernel gives no label`() throws {
        for label in ["", "system_u:system_r:unconfined_service_t:s0"] {
            let found = try ClientIdentity.identify(facts(runs: Self.inSnap, userUnit: Self.snapScope, label: label))
            #expect(found.program == "snap:cheese")
        }
        let copy = ExecutableFile(path: "/snap/cheese/12/x", device: 3, inode: 4, isProtected: false)
        let other = ExecutableFile(path: "/snap/cheese2/1/x", device: 3, inode: 4, isProtected: true)
        for file in [.file(copy), .file(other), .file(Self.proxy), .elsewhere(Self.proxy)] as [ProcessExecutable] {
            #expect(refusal(facts(runs: file, userUnit: Self.snapScope)).contains("runs no file of it"))
        }
    }

    @Test(arguments: [
        (snapScope, "snap.evil.tool (enforce)", "that of evil"), (snapScope, "unconfined", "'unconfined'"),
        (snapScope, "/usr/bin/evince (enforce)", "evince"), (snapScope, ":lxd:snap.cheese.cheese (enforce)", ":lxd:"),
        (snapScope, "snap.cheese.cheese//&unconfined (mixed)", "'snap.cheese"),
        ("app-cheese-1.scope", "snap.cheese.cheese (enforce)", "but it is in the unit app-cheese-1.scope"),
        ("snap.Cheese.x-1.scope", "snap.cheese.cheese (enforce)", "names no snap"),
        ("snap.cheese.scope", "snap.cheese.cheese (enforce)", "names no snap"),
    ])
    func `of Snap is nobody's where unit and label disagree`(unit: String, label: String, why: String) {
        #expect(refusal(facts(runs: Self.inSnap, userUnit: unit, label: label)).contains(why))
    }

    @Test func `of a snap's daemon is the unit of the system, unless its label is another's`() throws {
        let unit = "snap.cheese.watch.service"
        let found = try ClientIdentity.identify(
            facts(uid: 0, unit: unit, unitUser: 0, userUnit: nil, label: "snap.cheese.watch (enforce)")
        )
        #expect(found.program == "unit:" + unit)
        #expect(found.tier == .service)
        let forged = facts(uid: 0, unit: unit, unitUser: 0, userUnit: nil, label: "unconfined")
        #expect(refusal(forged).contains("'unconfined'"))
    }

    @Test func `of Flatpak in the clothes of a snap is nobody's`() {
        #expect(refusal(facts(Self.file(), label: "snap.cheese.cheese (enforce)")).contains("cheese"))
    }

    @Test(arguments: [
        ("cheese", true), ("my-app_2", true), ("a1", true), ("Cheese", false), ("-a", false), ("a--b", false),
        ("1", false),
        ("a_b_c", false), ("a_", false), ("", false), (String(repeating: "a", count: 41), false),
    ])
    func `has a name by Snap's rules`(name: String, isName: Bool) {
        #expect(SnapName.isName(name) == isName)
    }

    @Test func `is not made of a security label that is no snap's`() throws {
        let found = try ClientIdentity.identify(
            facts(runs: .file(Self.proxy), userUnit: "app-tool-1.scope", label: "unconfined")
        )
        #expect(found.program == "app:tool")
        #expect(found.parts.label == "unconfined")
    }
}
