@testable import Authorization
@testable import ProgramIdentity
import CaptureCore
import Foundation
import Testing

@Suite struct `An identity` {
    static let cheese = ExecutableFile(path: "/usr/bin/cheese", device: 1, inode: 2, isProtected: true)
    static let python = ExecutableFile(path: "/usr/bin/python3.11", device: 1, inode: 3, isProtected: true)

    private func facts(
        uid: UInt32 = 1000,
        _ executable: ProcessExecutable = .file(cheese),
        unit: String? = nil,
        unitUser: UInt32? = nil,
        userUnit: String? = nil,
        script: ScriptScope.Script? = nil,
        session: String? = nil,
        isLoginUser: Bool = true,
        isByPid: Bool = false
    ) -> ProcessFacts {
        ProcessFacts(
            pid: 42,
            uid: uid,
            executable: executable,
            systemUnit: unit,
            systemUnitUser: unitUser,
            userUnit: userUnit,
            script: script,
            session: session,
            isLoginUser: isLoginUser,
            isByPid: isByPid
        )
    }

    private func refusal(_ facts: ProcessFacts) -> CaptureError? {
        #expect(throws: CaptureError.self) { try ClientIdentity.identify(facts) }
    }

    @Test func `of a system unit with its uid is the service`() throws {
        let found = try ClientIdentity.identify(
            facts(uid: 990, unit: "motion.service", unitUser: 990, isLoginUser: false)
        )
        #expect(found.program == "unit:motion.service")
        #expect(found.tier == .service)
        #expect(found.user == 990)
        #expect(found.answerUser == 0)
        #expect(found.name == "motion")
        let root = try ClientIdentity.identify(facts(uid: 0, unit: "cam@front.service", unitUser: 0))
        #expect(root.program == "unit:cam@front.service")
        let unset = facts(uid: 0, unit: "motion.service", unitUser: .max)
        #expect(try ClientIdentity.identify(unset).program == "unit:motion.service")
        #expect(refusal(facts(uid: 1000, unit: "motion.service", unitUser: .max)) != nil)
    }

    @Test func `of a service does not hang on what it runs`() throws {
        let script = try ClientIdentity.identify(
            facts(uid: 990, .file(Self.python), unit: "motion.service", unitUser: 990, isLoginUser: false)
        )
        #expect(script.program == "unit:motion.service")
        let image = try ClientIdentity.identify(
            facts(uid: 990, .elsewhere(Self.cheese), unit: "motion.service", unitUser: 990, isLoginUser: false)
        )
        #expect(image.program == "unit:motion.service")
    }

    @Test func `of a system unit that runs as a person is that person's program, which others of hers could forge`()
        throws
    {
        let found = try ClientIdentity.identify(facts(unit: "doorbell.service", unitUser: 1000))
        #expect(found.program == "app:doorbell")
        #expect(found.tier == .claimed)
        #expect(found.user == 1000 && found.answerUser == 1000)
        #expect(found.executable == Self.cheese)
        #expect(found.detail.contains("the system unit doorbell.service, which runs as a person's account"))
        let script = facts(.file(Self.python), unit: "doorbell.service", unitUser: 1000)
        #expect(try ClientIdentity.identify(script).program == "app:doorbell")
        let passing = facts(unit: "run-u12.service", unitUser: 1000)
        #expect(try ClientIdentity.identify(passing).program == "exe:/usr/bin/cheese")
        let script2 = facts(.file(Self.python), unit: "run-u12.service", unitUser: 1000)
        #expect(refusal(script2)?.code == .notPermitted)
        #expect(refusal(facts(.elsewhere(Self.cheese), unit: "doorbell.service", unitUser: 1000)) != nil)
    }

    @Test func `of a system unit that runs as a person is never allowed beforehand, and forbidden by its unit`() throws
    {
        let client = try ClientIdentity.identify(facts(unit: "doorbell.service", unitUser: 1000))
        func rule(_ decision: Policy.Decision) -> PolicyRule {
            var rule = PolicyRule(place: "a:1")
            rule.decision = decision
            rule.programs = [Glob(text: "unit:doorbell.service")]
            return rule
        }
        let accounts = Accounts.unknown
        #expect(rule(.allow).fits(PolicySubject(client), .camera, accounts) == .no)
        #expect(rule(.restrict).fits(PolicySubject(client), .camera, accounts) == .yes)
        var other = client
        other.units = ["user@1000.service", "doorbell.service"]
        #expect(rule(.restrict).fits(PolicySubject(other), .camera, accounts) == .no)
    }

    @Test func `of a person's process in a system unit is refused`() {
        let error = refusal(facts(unit: "cron.service", unitUser: 0))
        #expect(error?.code == .notPermitted)
        #expect(error?.message.contains("cron.service") == true)
    }

    @Test(arguments: [998, 1000] as [UInt32])
    func `of a system unit whose name no command could take is refused`(user: UInt32) {
        let unit = "a\u{1c}b.service"
        let error = refusal(facts(uid: user, unit: unit, unitUser: user, isLoginUser: user == 1000))
        #expect(error?.code == .notPermitted)
        #expect(error?.message.contains(unit) == false)
    }

    @Test func `of a system unit whose uid is unknown is refused`() {
        #expect(refusal(facts(uid: 990, unit: "motion.service", isLoginUser: false))?.code == .notPermitted)
    }

    @Test func `of a unit with a dynamic user, who has no entry, is the unit`() throws {
        let isLogin = ProcessFacts.isLoginUser(61999, shell: nil, hasSession: false)
        let found = try ClientIdentity.identify(
            facts(uid: 61999, unit: "doorbell.service", unitUser: 61999, isLoginUser: isLogin)
        )
        #expect(found.program == "unit:doorbell.service")
        #expect(found.tier == .service)
    }

    @Test func `of a uid that nobody logs in to is that user`() throws {
        let found = try ClientIdentity.identify(
            facts(uid: 33, unit: "apache2.service", unitUser: 0, isLoginUser: false)
        )
        #expect(found.program == "uid:33")
        #expect(found.tier == .user)
        #expect(found.answerUser == 0)
        #expect(try ClientIdentity.identify(facts(uid: 33, isLoginUser: false)).program == "uid:33")
        #expect(try ClientIdentity.identify(facts(uid: 33, session: "4", isLoginUser: false)).tier == .claimed)
    }

    @Test(
        arguments: [
            (UInt32(0), "/usr/sbin/nologin", false, true), (65534, "/usr/sbin/nologin", false, true),
            (33, "/usr/sbin/nologin", false, false), (33, "/bin/sh", false, false), (33, "/bin/sh", true, true),
            (1000, "/bin/bash", false, true), (1000, "/usr/sbin/nologin", false, false),
            (1000, "/bin/false", true, true),
            (61200, nil, false, false), (5000, nil, false, true),
        ] as [(UInt32, String?, Bool, Bool)]
    )
    func `knows whom people log in as`(uid: UInt32, shell: String?, hasSession: Bool, isLogin: Bool) {
        #expect(ProcessFacts.isLoginUser(uid, shell: shell, hasSession: hasSession) == isLogin)
    }

    @Test func `of the user's application unit is the application`() throws {
        for unit in ["app-gnome-org.gnome.Cheese-1234.scope", "app-org.gnome.Cheese@77.service"] {
            let found = try ClientIdentity.identify(facts(unit: "user@1000.service", userUnit: unit))
            #expect(found.program == "app:org.gnome.Cheese")
            #expect(found.tier == .claimed)
            #expect(found.name == "Cheese")
            #expect(found.answerUser == 1000)
            #expect(found.executable == Self.cheese)
        }
    }

    @Test func `of another user's unit does not count`() throws {
        let sudo = facts(uid: 0, unit: "user@1000.service", userUnit: "app-org.gnome.Cheese-1.scope", session: "3")
        #expect(try ClientIdentity.identify(sudo).program == "exe:/usr/bin/cheese")
        #expect(try ClientIdentity.identify(sudo).user == 0)
    }

    @Test func `of a session is the executable`() throws {
        let found = try ClientIdentity.identify(facts(unit: "session-3.scope", session: "3"))
        #expect(found.program == "exe:/usr/bin/cheese")
        #expect(found.tier == .claimed)
        #expect(found.detail.contains("session 3"))
        let terminal = facts(unit: "user@1000.service", userUnit: "vte-spawn-3f.scope")
        #expect(try ClientIdentity.identify(terminal).program == "exe:/usr/bin/cheese")
        #expect(try ClientIdentity.identify(facts(uid: 0)).program == "exe:/usr/bin/cheese")
    }

    @Test(arguments: [
        "bash", "dash", "sh", "zsh", "busybox", "python3", "python3.11", "perl5.36.0", "ruby3.1", "node", "lua5.4",
        "php8.2",
        "vim.basic", "vim.tiny", "perl5.36-x86_64-linux-gnu", "emacs-gtk", "emacs-nox", "bash-static", "zsh5-static",
        "python3.11-dbg", "ruby-3.1", "luajit-2.1.0-beta3", "php-cgi8.2", "gdb-multiarch", "sh.distrib", "beam.smp",
        "bsd-csh", "original-awk", "mono-sgen", "pypy3", "js78",
        "ld-linux-x86-64.so.2", "python3.13t", "wine64", "qemu-aarch64-static", "gdb", "java", "gjs-console",
    ])
    func `is never an interpreter or a shell`(name: String) throws {
        let file = ExecutableFile(path: "/usr/bin/\(name)", device: 1, inode: 3, isProtected: true)
        let error = refusal(facts(.file(file), unit: "session-3.scope", session: "3"))
        #expect(error?.code == .notPermitted)
        #expect(error?.message.contains("systemd-run") == true)
        let app = facts(.file(file), unit: "user@1000.service", userUnit: "app-org.kde.tool-1.scope")
        #expect(try ClientIdentity.identify(app).program == "app:org.kde.tool")
        let service = facts(.file(file), unit: "user@1000.service", userUnit: "webcam-watch.service")
        #expect(try ClientIdentity.identify(service).program == "app:webcam-watch")
        #expect(refusal(facts(.file(file), unit: "user@1000.service", userUnit: "run-u12.service")) != nil)
        #expect(refusal(facts(.file(file), unit: "user@1000.service", userUnit: "dbus.service")) != nil)
    }

    @Test(arguments: [
        "cheese", "es2gears", "qemu-system-x86_64", "pythonista", "nodejitsu", "shotwell", "javaws-launcher",
        "capturectl", "python-editor-app", "vim-adventures", "node-red", "emacsclient", "perlbrew-gtk", "bash-",
        "-static",
    ])
    func `may be a program whose name begins like one`(name: String) throws {
        let file = ExecutableFile(path: "/usr/bin/\(name)", device: 1, inode: 3, isProtected: true)
        #expect(try ClientIdentity.identify(facts(.file(file), session: "3")).program == "exe:/usr/bin/\(name)")
    }

    @Test(arguments: [
        ProcessExecutable.deleted("/usr/bin/cheese"), .memory("/memfd:x (deleted)"), .unreadable("Permission denied"),
        .elsewhere(cheese), .file(ExecutableFile(path: "/tmp/a\u{1B}[2J", device: 1, inode: 1, isProtected: false)),
    ])
    func `is refused when the file behind it is in doubt`(executable: ProcessExecutable) {
        #expect(refusal(facts(executable, session: "3"))?.code == .notPermitted)
        #expect(refusal(facts(executable, userUnit: "app-cheese-1.scope"))?.code == .notPermitted)
    }

    @Test func `of a service is refused, too, when its file cannot be read`() {
        #expect(refusal(facts(uid: 990, .unreadable("x"), unit: "a.service", unitUser: 990, isLoginUser: false)) != nil)
    }

    @Test func `says whether it was found by pid, and is made of parts`() throws {
        let file = ExecutableFile(path: "/home/me/tool", device: 5, inode: 6, isProtected: false)
        let held = try ClientIdentity.identify(facts(.file(file), session: "3"))
        #expect(held.detail == "the session 3; runs /home/me/tool (device 5, inode 6)")
        #expect(held.parts == IdentityParts(session: "3"))
        let byPid = try ClientIdentity.identify(
            facts(.file(file), unit: "user@1000.service", userUnit: "app-tool-1.scope", isByPid: true)
        )
        #expect(byPid.detail == "the unit app-tool-1.scope, found by pid; runs /home/me/tool (device 5, inode 6)")
        #expect(byPid.parts == IdentityParts(unit: "app-tool-1.scope", isByPid: true))
        let service = facts(uid: 990, unit: "motion.service", unitUser: 990, isLoginUser: false, isByPid: true)
        #expect(try ClientIdentity.identify(service).parts.unit == "motion.service")
        #expect(try ClientIdentity.identify(service).detail.contains("by pid"))
    }

    @Test func `is another one when process, program, file or user differ`() {
        let one = ClientIdentity.program()
        #expect(one.isUnchanged(in: .program()))
        #expect(!one.isUnchanged(in: .program(pid: 101)))
        #expect(!one.isUnchanged(in: .program(user: 1001)))
        #expect(!one.isUnchanged(in: .program(inode: 8)))
        #expect(!one.isUnchanged(in: .program("/usr/bin/evil")))
        let own = ClientIdentity.program(changed: 5, isProtected: false)
        #expect(own.isUnchanged(in: .program(changed: 5, isProtected: false)))
        #expect(!own.isUnchanged(in: .program(changed: 6, isProtected: false)))
        // Of a file that only root can replace it is no matter when that was.
        #expect(one.isUnchanged(in: .program(changed: 6)))
        var later = one
        later.parts.startTime += 1
        #expect(!one.isUnchanged(in: later))
        later = one
        later.parts.label = "snap.cheese.cheese (enforce)"
        #expect(!one.isUnchanged(in: later))
    }

    @Test(arguments: [
        ("app-gnome-firefox-1234.scope", "firefox", "gnome"),
        ("app-firefox-1234.scope", "firefox", ""),
        ("app-org.kde.konsole@9af.service", "org.kde.konsole", ""),
        ("app-org.kde.konsole.service", "org.kde.konsole", ""),
        ("app-KDE-org.kde.okular@9.service", "org.kde.okular", "KDE"),
        ("app-gnome-org.gnome.Evolution\\x2dalarm\\x2dnotify-2345.scope", "org.gnome.Evolution-alarm-notify", "gnome"),
        ("app-flatpak-org.gnome.Cheese-99.scope", "org.gnome.Cheese", "flatpak"),
        ("app-caf\\xc3\\xa9-1.scope", "café", ""),
    ])
    func `reads the names of application units`(unit: String, id: String, launcher: String) {
        #expect(UnitName.application(unit) == UnitName.Application(id: id, launcher: launcher))
    }

    @Test(arguments: [
        "app-firefox.scope", "app-.scope", "app--.scope", "app-firefox-.scope", "firefox-1.scope",
        "app-firefox-1.slice",
        "app", "app-", "app-\\x2-1.scope", "app-\\xff-1.scope", "app-a\\x2fb-1.scope", "app-a\\x0ab-1.scope",
        "app-a\\q-1.scope", "app-@1.service", "app-..-1.scope", "app-\\x20-1.scope",
    ])
    func `reads nothing into other names`(unit: String) {
        #expect(UnitName.application(unit) == nil)
    }

    @Test func `knows a file that only root can replace from one that anybody can`() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("tool", "x", mode: 0o755)
        let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let own = try #require(ExecutableFile.inspect(real))
        // The folder lies in /tmp, which everybody can write.
        #expect(!own.isProtected)
        func examine(_ link: String, _ device: UInt64 = 1, _ inode: UInt64 = 1) -> ProcessExecutable {
            ProcessExecutable.examine(link: link, device: device, inode: inode, changed: 5)
        }
        #expect(examine(real, own.device, own.inode) == .file(own))
        let other = ExecutableFile(
            path: real,
            device: own.device,
            inode: own.inode + 1,
            changed: 5,
            isProtected: false
        )
        #expect(examine(real, own.device, own.inode + 1) == .elsewhere(other))
        #expect(examine(real + " (deleted)") == .deleted(real))
        #expect(examine("/memfd:a (deleted)") == .memory("/memfd:a (deleted)"))
        let env = URL(fileURLWithPath: "/usr/bin/env").resolvingSymlinksInPath().path
        #expect(ExecutableFile.inspect(env)?.isProtected == true)
        #expect(ExecutableFile.inspect(env)?.changed == nil)
        #expect(ExecutableFile.inspect("/nonexistent") == nil)
        #expect(ExecutableFile.inspect("relative") == nil)
    }

    @Test func `finds a program below the root that the rest of the system sees`() throws {
        let root = try TemporaryFolder()
        let path = try root.write("tool", "x", mode: 0o755)
        let name = "/" + (path.split(separator: "/").last.map(String.init) ?? "")
        let seen = try #require(ExecutableFile.inspect(name, below: root.path))
        #expect(seen.path == name)
        func examine(below root: String) -> ProcessExecutable {
            ProcessExecutable.examine(link: name, device: seen.device, inode: seen.inode, changed: 5, below: root)
        }
        #expect(examine(below: root.path) == .file(seen))
        guard case .elsewhere = examine(below: "") else {
            Issue.record("\(name) was found without the root")
            return
        }
    }

    @Test func `knows a file that was written over, linked or given another mode from what it was`() throws {
        let folder = try TemporaryFolder()
        let path = URL(fileURLWithPath: try folder.write("tool", "x", mode: 0o755)).resolvingSymlinksInPath().path
        let changes: [(String, () throws -> Void)] = [
            (
                "written over",
                {
                    let file = try #require(FileHandle(forWritingAtPath: path))
                    try file.write(contentsOf: Data("y".utf8))
                    try file.close()
                }
            ),
            ("another mode", { try #require(unsafe chmod(path, 0o700) == 0) }),
            ("another link", { try #require(unsafe link(path, path + ".link") == 0) }),
        ]
        var before = try #require(ExecutableFile.inspect(path))
        for (what, change) in changes {
            // Files are stamped by a clock that stands still for some milliseconds.
            let changed = try #require(before.changed)
            while coarseTime() <= changed { usleep(500) }
            try change()
            let after = try #require(ExecutableFile.inspect(path))
            #expect(after.inode == before.inode)
            #expect(!before.isSameProgram(as: after), "\(what)")
            #expect(before.isInPlace(of: after))
            #expect(after.isSameProgram(as: try #require(ExecutableFile.inspect(path))))
            before = after
        }
    }

    /// The clock that file systems stamp files by, in nanoseconds.
    private func coarseTime() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return FileStamp.nanoseconds(time)
    }

    @Test func `takes any time that a file system may name`() {
        #expect(FileStamp.nanoseconds(timespec(tv_sec: .max, tv_nsec: 1)) != FileStamp.nanoseconds(timespec()))
        #expect(FileStamp.nanoseconds(timespec(tv_sec: .min, tv_nsec: .max)) != 0)
    }
}
