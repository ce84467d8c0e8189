import CaptureCore
import Foundation
import Testing

@testable import Authorization

/// A policy of files in folders of the test's own.
struct PolicyFolders {
    let vendor: TemporaryFolder
    let administrator: TemporaryFolder
    var accounts = Accounts(
        user: { ["alice": .found(1000), "bob": .found(1001)][$0] ?? .absent },
        name: { [1000: .found("alice"), 1001: .found("bob")][$0] ?? .absent },
        group: { ["guests": .found(50), "broken": .failed][$0] ?? .absent },
        groups: { [1000: .found([1000]), 1001: .found([1001, 50])][$0] ?? .absent }
    )

    init() throws {
        vendor = try TemporaryFolder()
        administrator = try TemporaryFolder()
    }

    func read(ownedBy owners: Set<UInt32>? = [geteuid()]) -> Policy {
        Policy(directories: [vendor.path, administrator.path], ownedBy: owners, accounts: accounts)
    }

    /// The policy of one file.
    func read(_ text: String) throws -> Policy {
        try administrator.write("policy.d/50-test.conf", text)
        return read()
    }
}

@Suite struct `The policy` {
    let folders: PolicyFolders

    init() throws {
        folders = try PolicyFolders()
    }

    private func decision(
        _ policy: Policy,
        _ client: ClientIdentity = .program(),
        _ service: Service = .camera
    ) -> Policy.Decision? {
        policy.verdict(on: PolicySubject(client), service).decision
    }

    private func service(_ unit: String = "doorbell.service", user: UInt32 = 990) -> ClientIdentity {
        ClientIdentity(
            program: "unit:\(unit)",
            tier: .service,
            user: user,
            name: unit,
            detail: "a test",
            executable: ExecutableFile(path: "/usr/bin/doorbell", device: 1, inode: 3, isProtected: true),
            groups: [user],
            units: [unit]
        )
    }

    @Test func `says nothing where there is none`() {
        let policy = folders.read()
        #expect(policy.faults.isEmpty)
        #expect(policy.verdict(on: PolicySubject(.program()), .camera) == PolicyVerdict())
    }

    @Test func `restricts what all conditions of a rule fit, and names its line`() throws {
        let policy = try folders.read(
            """
            # no cameras for guests
            [Rule]
            Service=camera
            Tier=claimed user
            Program=exe:/usr/bin/*
            Decision=restrict
            """
        )
        let verdict = policy.verdict(on: PolicySubject(.program()), .camera)
        #expect(verdict.decision == .restrict)
        #expect(verdict.place == "\(folders.administrator.path)/policy.d/50-test.conf:2")
        #expect(decision(policy, .program(), .microphone) == nil)
        #expect(decision(policy, .program("/opt/tool")) == nil)
        #expect(decision(policy, service()) == nil)
        #expect(policy.faults.isEmpty)
        #expect(policy.ruleCount == 1)
    }

    @Test func `of several rules takes the strictest, whatever their order`() throws {
        let rules = ["allow", "ask", "restrict"].map { decision in
            "[Rule]\nService=camera\nProgram=unit:doorbell.service\nDecision=\(decision)\n"
        }
        for (text, wanted) in [
            (rules[0], Policy.Decision.allow), (rules[0] + rules[1], .ask), (rules[1] + rules[0], .ask),
            (rules[2] + rules[0] + rules[1], .restrict), (rules[0] + rules[1] + rules[2], .restrict),
        ] {
            #expect(decision(try folders.read(text), service()) == wanted)
        }
    }

    @Test func `takes repeated lines as alternatives`() throws {
        let policy = try folders.read(
            "[Rule]\nProgram=exe:/usr/bin/a\nProgram=exe:/opt/My App/b\nService=camera\nService=microphone\n"
                + "Decision=restrict\n"
        )
        #expect(decision(policy, .program("/usr/bin/a"), .microphone) == .restrict)
        #expect(decision(policy, .program("/opt/My App/b")) == .restrict)
        #expect(decision(policy, .program("/usr/bin/c")) == nil)
    }

    @Test func `means a file in whatever unit of the user's it runs, and not in a sandbox`() throws {
        let policy = try folders.read("[Rule]\nProgram=exe:/usr/bin/cheese\nDecision=restrict\n")
        #expect(decision(policy, .app("org.gnome.Cheese", runs: "/usr/bin/cheese")) == .restrict)
        var boxed = ClientIdentity.app("org.gnome.Cheese", runs: "/usr/bin/cheese")
        boxed.tier = .sandboxed
        boxed.program = "flatpak:org.gnome.Cheese"
        #expect(decision(policy, boxed) == nil)
    }

    @Test func `means the file that a path leads to, by links on its way too`() throws {
        let folder = try TemporaryFolder()
        try folder.write("real/tool", "x")
        for (link, target) in [("bin", "real"), ("real/alias", "tool")] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder.path)/\(link)",
                withDestinationPath: target
            )
        }
        let real = URL(fileURLWithPath: folder.path).resolvingSymlinksInPath().path
        for (pattern, file) in [
            ("bin/tool", "real/tool"), ("bin/alias", "real/tool"), ("bin/t*", "real/tool"), ("bin/*/b", "real/a/b"),
            // Not installed yet.
            ("bin/later", "real/later"), ("bin/x/later", "real/x/later"),
        ] {
            let policy = try folders.read("[Rule]\nProgram=exe:\(folder.path)/\(pattern)\nDecision=restrict\n")
            #expect(decision(policy, .program("\(real)/\(file)")) == .restrict, "\(pattern)")
            #expect(decision(policy, .program("\(real)/real")) == nil)
        }
    }

    @Test func `knows users by name and number, and restricts who cannot be told from them`() throws {
        let policy = try folders.read("[Rule]\nUser=alice 1005\nDecision=restrict\n")
        #expect(decision(policy, .program(user: 1000)) == .restrict)
        #expect(decision(policy, .program(user: 1001)) == nil)
        #expect(decision(policy, .program(user: 1005)) == .restrict)
        // Without a name of its own: whether it is alice by another number cannot be told.
        #expect(decision(policy, .program(user: 1007)) == .restrict)
    }

    @Test func `knows groups by what connected and by what the database has`() throws {
        let policy = try folders.read("[Rule]\nGroup=guests\nDecision=restrict\n")
        #expect(decision(policy, .program(user: 1000)) == nil)
        #expect(decision(policy, .program(user: 1001)) == .restrict)
        var member = ClientIdentity.program(user: 1000)
        member.groups = [1000, 50]
        #expect(decision(policy, member) == .restrict)
        // Whose groups cannot be told is restricted, and a group that cannot be looked up restricts everybody.
        #expect(decision(policy, .program(user: 1009)) == .restrict)
        #expect(decision(try folders.read("[Rule]\nGroup=broken\nDecision=restrict\n")) == .restrict)
    }

    @Test func `knows the units of system and user`() throws {
        let policy = try folders.read("[Rule]\nUnit=app-*.scope\nUnit=cron.service\nDecision=restrict\n")
        var client = ClientIdentity.program()
        client.units = ["user@1000.service", "app-gnome-x-1.scope"]
        #expect(decision(policy, client) == .restrict)
        client.units = ["session-3.scope"]
        #expect(decision(policy, client) == nil)
        #expect(decision(policy, service("cron.service", user: 0)) == .restrict)
    }

    @Test func `allows system units that it names, and nobody else beforehand`() throws {
        let policy = try folders.read(
            "[Rule]\nService=camera\nProgram=unit:door@*.service\nUser=990\nDecision=allow\n"
        )
        #expect(policy.refusals.isEmpty)
        #expect(decision(policy, service("door@front.service")) == .allow)
        #expect(decision(policy, service("door@front.service"), .microphone) == nil)
        #expect(decision(policy, service("door@front.service", user: 991)) == nil)
        #expect(decision(policy, service("doorman.service")) == nil)
        // The same words, from a tier that could be forged.
        var forged = service("door@front.service")
        for tier in Tier.allCases where tier != .service {
            forged.tier = tier
            #expect(decision(policy, forged) == nil)
        }
    }

    @Test(
        arguments: [
            ("Tier=claimed\nService=camera\nProgram=exe:/usr/bin/cheese", "not claimed or exe:/usr/bin/cheese"),
            ("Service=camera microphone\nProgram=app:org.gnome.Cheese", "allowed beforehand, not"),
            ("Service=microphone\nProgram=flatpak:org.gnome.Cheese", "only system units"),
            ("Service=camera\nProgram=uid:990", "only system units"),
            ("Tier=service user\nService=camera\nUnit=a.service", "not user"),
            ("Service=camera\nTier=service", "must name the units"),
            ("Service=camera", "must name the units"),
            ("Program=unit:doorbell.service", "must name the services"),
            ("Service=camera\nProgram=unit:*.service", "more than one system unit"),
            ("Service=camera\nProgram=unit:door*@x.service", "more than one system unit"),
            ("Service=camera\nUnit=app-*.scope", "more than one system unit"),
            ("Service=camera\nUnit=session-3.scope", "more than one system unit"),
        ]
    )
    func `refuses a rule that allows too much, and counts it as nothing`(_ conditions: String, _ why: String) throws {
        let policy = try folders.read("\n[Rule]\n\(conditions)\nDecision=allow\n")
        let problem = try #require(policy.refusals.first)
        #expect(problem.description.contains("/policy.d/50-test.conf:2: the rule has no effect: "))
        #expect(problem.message.contains(why))
        #expect(policy.faults.isEmpty)
        #expect(policy.ruleCount == 0)
        for client in [ClientIdentity.program(), service(), .app("org.gnome.Cheese", runs: "/usr/bin/cheese")] {
            #expect(decision(policy, client) == nil)
        }
    }

    static let damages: [(text: String, line: Int, why: String)] = [
        ("[Rule]\nService=camera\n", 1, "has no Decision="),
        ("[Rule]\n", 1, "has no Decision="),
        ("[Rule]\nDecision=restrict\nDecision=allow\n", 3, "was already given on line 2"),
        ("[Rule]\nDecision=forbid\n", 2, "'forbid' is not a value for Decision=, expected ask, restrict or allow"),
        ("[Rule]\nDecision=\n", 2, "Decision= is empty"),
        ("[Rule]\nDecision=restrict\nService=\n", 3, "Service= is empty"),
        ("[Rule]\nDecision=restrict\nService=camera webcam\n", 3, "'camera webcam' is not a value for Service="),
        ("[Rule]\nDecision=restrict\nTier=claimant\n", 3, "'claimant' is not a value for Tier="),
        ("[Rule]\nDecision=restrict\nProgram=cheese\n", 3, "'cheese' is not a value for Program="),
        ("[Rule]\nDecision=restrict\nProgram=exe:cheese\n", 3, "is not a value for Program="),
        ("[Rule]\nDecision=restrict\nProgram=unit:cheese\n", 3, "is not a value for Program="),
        ("[Rule]\nDecision=restrict\nProgram=*\n", 3, "is not a value for Program="),
        ("[Rule]\nDecision=restrict\nUnit=cron\n", 3, "is not a value for Unit="),
        ("[Rule]\nDecision=restrict\nUser=4294967295\n", 3, "is not a value for User="),
        ("[Rule]\nDecision=restrict\nUser=al*\n", 3, "is not a value for User="),
        ("[Rule]\nDecision=restrict\nGroup=a,b\n", 3, "is not a value for Group="),
        ("[Rule]\nDecision=restrict\nProgramm=exe:/a\n", 3, "unknown key 'Programm'"),
        ("[Rule]\nDecision=restrict\nProgram[de]=exe:/a\n", 3, "unknown key 'Program'"),
        ("[Rule]\nDecision=restrict\nProgram=exe:/\u{FFFD}\n", 3, "is not UTF-8"),
        ("[Rule]\nDecision restrict\n", 2, "has no '='"),
        ("[Rules]\nDecision=restrict\n", 1, "unknown section [Rules], expected [Rule]"),
        ("[Rule\nDecision=restrict\n", 1, "is no section header"),
        ("Decision=restrict\n", 1, "stands outside of a section"),
        ("[Rule]\nDecision=restr\0ict\n", 2, "zero byte"),
        // One rule that is whole does not make up for another that is not.
        ("[Rule]\nDecision=ask\n[Rule]\nDecision=no\n", 4, "'no' is not a value"),
    ]

    @Test(arguments: damages)
    func `restricts everything where it cannot be understood`(_ damage: (text: String, line: Int, why: String)) throws {
        try folders.vendor.write(
            "policy.d/10-allow.conf",
            "[Rule]\nService=camera\nProgram=unit:doorbell.service\nDecision=allow\n"
        )
        let policy = try folders.read(damage.text)
        let fault = try #require(policy.faults.first)
        #expect(fault.line == damage.line)
        #expect(fault.message.contains(damage.why))
        for client in [ClientIdentity.program(), service()] {
            for service in Service.allCases {
                let verdict = policy.verdict(on: PolicySubject(client), service)
                #expect(verdict.decision == .restrict)
                #expect(verdict.place == "\(folders.administrator.path)/policy.d/50-test.conf:\(damage.line)")
                #expect(verdict.fault == fault.message)
            }
        }
        #expect(decision(try folders.read(""), service()) == .allow)
    }

    @Test func `leaves sections and keys of others alone`() throws {
        let policy = try folders.read("[X-Site]\nDecision=what\n[Rule]\nX-Ticket=7\nDecision=restrict\n")
        #expect(policy.faults.isEmpty)
        #expect(decision(policy) == .restrict)
    }

    @Test func `keeps an empty line of one rule from another rule`() throws {
        // systemd's "an empty value takes back" must not reach across rules: the first would lose its decision.
        let policy = try folders.read("[Rule]\nDecision=restrict\n[Rule]\nDecision=\n")
        #expect(policy.faults.map(\.line) == [4])
        #expect(decision(policy) == .restrict)
    }

    @Test func `lets the administrator hide a file of the vendor's`() throws {
        try folders.vendor.write("policy.d/20-a.conf", "[Rule]\nDecision=restrict\n")
        #expect(decision(folders.read()) == .restrict)
        try folders.administrator.write("policy.d/20-a.conf", "")
        #expect(decision(folders.read()) == nil)
        let hidden = folders.administrator.path + "/policy.d/20-a.conf"
        try FileManager.default.removeItem(atPath: hidden)
        try FileManager.default.createSymbolicLink(atPath: hidden, withDestinationPath: "/dev/null")
        #expect(decision(folders.read()) == nil)
        #expect(folders.read().faults.isEmpty)
        try FileManager.default.removeItem(atPath: hidden)
        // Other names hide nothing and say nothing.
        try folders.administrator.write("policy.d/20-a.conf.bak", "[Rule]\nDecision=what\n")
        #expect(decision(folders.read()) == .restrict)
        #expect(folders.read().faults.isEmpty)
    }

    @Test func `restricts everything where a file is somebody's who has no say, and says which`() throws {
        let file = try folders.administrator.write("policy.d/20-a.conf", "", mode: 0o646)
        #expect(folders.read().faults.map(\.description) == ["\(file): can be written by others than its owner"])
        #expect(decision(folders.read()) == .restrict)
        #expect(decision(folders.read(ownedBy: nil)) == nil)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        #expect(folders.read().faults.isEmpty)
        let stranger = folders.read(ownedBy: [geteuid() + 1])
        #expect(stranger.faults.first?.message.contains("which is not trusted here") == true)
        #expect(decision(stranger) == .restrict)
    }

    @Test(arguments: ["", "/policy.d"])
    func `restricts everything where others could have taken files away`(_ folder: String) throws {
        try folders.administrator.write("policy.d/20-a.conf", "")
        let path = folders.administrator.path + folder
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path)
        #expect(folders.read().faults.map(\.description) == ["\(path): can be written by others than its owner"])
        #expect(decision(folders.read()) == .restrict)
    }

    @Test func `restricts everything where a file is no file, or leads nowhere`() throws {
        try FileManager.default.createDirectory(
            atPath: folders.administrator.path + "/policy.d/a.conf",
            withIntermediateDirectories: true
        )
        #expect(folders.read().faults.map(\.message) == ["is not a regular file"])
        try FileManager.default.createSymbolicLink(
            atPath: folders.administrator.path + "/policy.d/b.conf",
            withDestinationPath: "/nonexistent/b.conf"
        )
        #expect(folders.read().faults.map(\.message) == ["is not a regular file", "leads nowhere"])
        let other = try PolicyFolders()
        try other.administrator.write("policy.d", "")
        #expect(other.read().faults.map(\.message) == ["is not a folder"])
        #expect(decision(other.read()) == .restrict)
    }

    @Test func `tells of users and groups who are not there`() throws {
        let policy = try folders.read("[Rule]\nUser=alcie alice\nGroup=guest\nDecision=restrict\n")
        #expect(policy.remarks.map(\.line) == [1, 1])
        #expect(policy.remarks.map(\.message).joined().contains("there is no user 'alcie' on this machine"))
        #expect(policy.faults.isEmpty)
        #expect(decision(policy, .program(user: 1000)) == nil)
    }

    @Test func `tells apart what is not known of a program that is only named`() throws {
        let policy = try folders.read(
            "[Rule]\nProgram=exe:/usr/bin/cheese\nDecision=restrict\n[Rule]\nUser=990\nDecision=restrict\n"
        )
        let app = PolicySubject(named: .app("org.gnome.Cheese"), user: 1000)
        #expect(policy.verdict(on: app, .camera).decision == nil)
        #expect(policy.verdict(on: app, .camera).possible.map(\.place).map { $0.hasSuffix(".conf:1") } == [true])
        let unit = PolicySubject(named: .unit("doorbell.service"), user: nil)
        #expect(policy.verdict(on: unit, .camera).possible.count == 2)
        let known = PolicySubject(named: .unit("doorbell.service"), user: 990)
        #expect(policy.verdict(on: known, .camera).decision == .restrict)
        #expect(policy.verdict(on: known, .camera).possible.isEmpty)
    }

    @Test(
        arguments: [
            ("exe:/a*", "exe:/a/b/c", true), ("exe:/a?c", "exe:/abc", true), ("exe:/a?c", "exe:/ac", false),
            ("*", "", true), ("", "", true), ("", "a", false), ("a*b*c", "aXbYbZc", true), ("a*b", "ab", true),
            ("a*b", "abc", false), ("**a", "a", true), ("exe:/[x]", "exe:/[x]", true), ("exe:/[x]", "exe:/x", false),
            ("app\\x2d*", "app\\x2dfoo", true),
        ]
    )
    func `knows patterns with stars and question marks`(_ pattern: String, _ text: String, _ fits: Bool) {
        #expect(Glob(text: pattern).matches(text) == fits)
    }

    @Test func `is not held up by a pattern of many stars`() {
        let pattern = Glob(text: String(repeating: "*a", count: 200) + "b")
        #expect(!pattern.matches(String(repeating: "a", count: 4000)))
    }
}
