import CaptureCore

@testable import Authorization

/// Files: configuration, policy, and where programs say why they capture.
enum FuzzFiles {
    @Sendable static func keyFile(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.unicodeScalars.count { $0 == "\n" } + 1
        for dialect in [KeyFile.Dialect.systemd, .rules, .desktopEntry] {
            let file = KeyFile(parsing: text, path: "/f", dialect: dialect)
            FuzzTarget.hold(
                file.entries.allSatisfy { (1...lines).contains($0.line) }
                    && file.headers.allSatisfy { (1...lines).contains($0.line) }
                    && file.problems.allSatisfy { (0...lines).contains($0.line) },
                "everything stands on a line of the file"
            )
            FuzzTarget.hold(file == KeyFile(parsing: text, path: "/f", dialect: dialect), "it reads the same twice")
            for entry in file.entries { _ = file.value(entry.section, entry.key, locale: "de_AT.UTF-8@euro") }
        }
    }

    @Sendable static func configuration(_ bytes: [UInt8]) {
        var configuration = Configuration()
        let text = String(decoding: bytes, as: UTF8.self)
        configuration.apply(KeyFile(parsing: text, path: "/captured.conf", dialect: .systemd))
        let consent = configuration.consent
        FuzzTarget.hold(
            (.seconds(1) ... .seconds(3600)).contains(consent.promptTimeout)
                && (.zero ... .seconds(3600)).contains(consent.connectionGrace)
                && (1...100).contains(consent.promptLimitBurst)
                && (1000...1_000_000).contains(configuration.history.maxEntries)
                && (1...1000).contains(configuration.synthetic.speed)
                && configuration.recorder.socket.utf8.count < 108,
            "a value that was taken is in its range"
        )
        _ = (consent.lifetimes, consent.promptLimits, configuration.history.limits)
        for problem in configuration.problems { _ = "\(problem)" }
    }

    private static let clients: [ClientIdentity] = {
        let file = ExecutableFile(path: "/usr/bin/cheese", device: 1, inode: 2, isProtected: true)
        return [
            ClientIdentity(
                program: "exe:/usr/bin/cheese",
                tier: .claimed,
                user: 1000,
                name: "cheese",
                detail: "",
                executable: file
            ),
            ClientIdentity(program: "flatpak:a.b.c", tier: .sandboxed, user: 1000, name: "c", detail: ""),
            ClientIdentity(program: "uid:998", tier: .user, user: 998, name: "sensor", detail: ""),
        ]
    }()

    @Sendable static func policy(_ bytes: [UInt8]) {
        var policy = Policy()
        // Whom the machine knows is not what is tried here, and takes long to ask.
        policy.accounts = Accounts(
            user: { _ in .absent },
            name: { _ in .absent },
            group: { _ in .absent },
            groups: { _ in .found([1000]) }
        )
        let file = KeyFile(parsing: String(decoding: bytes, as: UTF8.self), path: "/p.conf", dialect: .rules)
        policy.take(file)
        FuzzTarget.hold(file.problems.isEmpty || !policy.faults.isEmpty, "what cannot be parsed is a fault")
        for client in clients {
            for service in Service.allCases {
                let verdict = policy.verdict(on: PolicySubject(client), service)
                FuzzTarget.hold(verdict.decision != .allow, "nobody but a service is allowed: \(client.program)")
                FuzzTarget.hold(policy.faults.isEmpty || verdict.decision == .restrict, "a fault restricts")
                _ = verdict.reason
            }
        }
        if let id = try? ProgramID("unit:door@1.service") {
            _ = policy.verdict(on: PolicySubject(named: id, user: nil), .camera)
        }
    }

    private struct Sandbox: SandboxFiles {
        var text: String
        func read(_ path: String, of client: ClientIdentity) -> SandboxFile { .text(text, place: "/app/" + path) }
    }

    @Sendable static func usage(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        let usage = MetadataUsageDescriptions(
            applications: [],
            units: [],
            overrides: [],
            sandboxes: Sandbox(text: text),
            locale: { _ in "de_AT.UTF-8" }
        )
        do throws(CaptureError) {
            let found = try usage.description(of: clients[1], for: [.camera, .microphone])
            FuzzTarget.hold(found.reasons.count == 2, "both are told")
            for shown in found.reasons.values { check(shown, limit: 300) }
            check(found.name ?? "", limit: 80)
        } catch {
            FuzzTarget.hold(error.code == .missingUsageDescription, "it is said what is missing")
        }
        if let command = KeyFile(parsing: text, path: "/e", dialect: .desktopEntry).value("Desktop Entry", "Exec") {
            _ = DesktopEntryPaths.runs(command, "/usr/bin/cheese")
        }
        check(DisplayText.neutralized(text, limit: 100), limit: 100)
    }

    /// A text that is shown draws nothing, and is no longer than it may be.
    static func check(_ shown: String, limit: Int) {
        let scalars = shown.unicodeScalars
        FuzzTarget.hold(
            scalars.allSatisfy { scalar in
                let category = scalar.properties.generalCategory
                return category != .control && category != .format && category != .lineSeparator
                    && category != .paragraphSeparator && !["<", ">", "&"].contains(scalar)
            },
            "a text that is shown draws nothing"
        )
        // Three marks may combine with each character; the dots come on top.
        FuzzTarget.hold(scalars.count <= limit * 4 + 1, "a text that is shown is short")
    }
}
