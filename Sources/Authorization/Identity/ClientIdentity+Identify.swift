public import CaptureCore

extension ClientIdentity {
    /// Makes out who a process is.
    ///
    /// In this order: a sandbox; a system unit that runs as the process's uid, unless people log in to that; a uid of the
    /// program's own; the user's own application unit or scope, or such a unit of the system; the executable. Root outside
    /// of a unit is claimed like any user: whoever is root can be anybody, but does not become a service by it.
    ///
    /// - Throws: `notPermitted` whenever there is a doubt, with what the doubt is.
    public static func identify(_ facts: ProcessFacts) throws(CaptureError) -> ClientIdentity {
        var found = try program(of: facts)
        // Its answers could never be changed; no name that systemd, a package or a desktop gives is like that.
        guard (try? ProgramID(found.program)) != nil else {
            throw doubt(facts, "'\(found.program)' is no name that a program can have in settings")
        }
        // Of the others the id says enough, and what a package manager links or moves is the same program all the while.
        if found.tier != .claimed { found.executable?.changed = nil }
        found.groups = facts.gids
        found.units = [facts.systemUnit, facts.userUnit].compactMap { $0 }
        return found
    }

    private static func program(of facts: ProcessFacts) throws(CaptureError) -> ClientIdentity {
        let (file, isHere) = try executable(of: facts)
        do throws(Sandbox.Doubt) {
            if let sandbox = try Sandbox.find(facts) { return sandboxed(sandbox, facts, file) }
        } catch {
            throw doubt(facts, error.why)
        }
        if let found = try service(facts, file) { return found }
        if !facts.isLoginUser, facts.session == nil {
            return ClientIdentity(
                program: "uid:\(facts.uid)",
                tier: .user,
                user: facts.uid,
                name: "user \(facts.uid)",
                detail: detail("the uid \(facts.uid), which nobody logs in to", facts, file),
                executable: file,
                pid: facts.pid,
                parts: IdentityParts(facts, nil)
            )
        }
        guard file.path.unicodeScalars.allSatisfy({ $0.value >= 32 && $0.value != 127 }) else {
            throw doubt(facts, "the path of its file contains control characters")
        }
        guard isHere else {
            throw doubt(facts, "\(file.path) is another file for it than for the rest of the system")
        }
        return try claimed(facts, file)
    }

    private static func executable(of facts: ProcessFacts) throws(CaptureError) -> (ExecutableFile, isHere: Bool) {
        switch facts.executable {
        case .file(let file): return (file, true)
        case .elsewhere(let file): return (file, false)
        case .deleted(let path):
            throw doubt(facts, "its file \(path) was removed or replaced since it was started; start it again")
        case .memory: throw doubt(facts, "it runs from memory, not from a file")
        case .unreadable(let why): throw doubt(facts, "its file cannot be read: \(why)")
        }
    }

    private static func sandboxed(
        _ sandbox: Sandbox,
        _ facts: ProcessFacts,
        _ file: ExecutableFile
    ) -> ClientIdentity {
        ClientIdentity(
            program: sandbox.program,
            tier: .sandboxed,
            user: facts.uid,
            name: sandbox.name,
            detail: detail("\(sandbox.words) in \(facts.place)", facts, file),
            executable: file,
            pid: facts.pid,
            parts: IdentityParts(facts, sandbox)
        )
    }

    /// - Returns: `nil` when the process is not in a system service, is a program's own user within one, or runs there as
    ///   somebody who logs in: any other program of theirs could trace it and be it.
    private static func service(_ facts: ProcessFacts, _ file: ExecutableFile) throws(CaptureError) -> ClientIdentity? {
        guard let unit = facts.systemService else { return nil }
        guard let reported = facts.systemUnitUser else {
            throw doubt(facts, "it is in the system unit \(unit), of which the uid cannot be told")
        }
        // The manager's word for a unit without `User=`, which the system's manager runs as root.
        let owner = reported == UInt32.max ? 0 : reported
        guard owner == facts.uid else {
            // A server that gives up root for a uid of its own is that uid; a user's job in cron.service is nobody.
            if !facts.isLoginUser { return nil }
            throw doubt(facts, "it is in the system unit \(unit), but runs as uid \(facts.uid) instead of \(owner)")
        }
        if facts.isLoginUser, facts.uid != 0 { return nil }
        return ClientIdentity(
            program: "unit:\(unit)",
            tier: .service,
            user: facts.uid,
            name: String(unit.dropLast(".service".count)),
            detail: detail("the system unit \(unit) with its uid \(facts.uid)", facts, file),
            executable: file,
            pid: facts.pid,
            parts: IdentityParts(facts, nil)
        )
    }

    private static func claimed(_ facts: ProcessFacts, _ file: ExecutableFile) throws(CaptureError) -> ClientIdentity {
        // Without a unit of the system's manager there may be one of the user's all the same, as in a container.
        let unit = facts.systemUnit == nil ? facts.userUnit : facts.ownUnit ?? facts.systemService
        if let unit {
            let application = UnitName.application(unit)
            if application?.launcher.hasPrefix("flatpak") == true || unit.hasPrefix("snap.") {
                throw doubt(facts, "it is in the sandbox \(unit), which cannot be identified")
            }
            if let id = application?.id {
                return claimed(
                    "app:\(id)",
                    String(id.split(separator: ".").last ?? "\(id)"),
                    facts,
                    file,
                    "the unit \(unit)"
                )
            }
        }
        // Of a system unit root says what runs in it, so that its name says more than its file.
        if let unit = facts.systemService, let id = serviceName(unit) {
            return claimed("app:\(id)", id, facts, file, "the system unit \(unit), which runs as a person's account")
        }
        guard !Interpreters.contains(file.path) else {
            if let unit, let id = serviceName(unit) {
                return claimed("app:\(id)", id, facts, file, "the unit \(unit)")
            }
            throw doubt(
                facts,
                "\(file.path) runs programs of others, so it is nobody by itself; start the program in a unit of its own: "
                    + "systemd-run --user --scope --unit=app-NAME-1 …"
            )
        }
        let place =
            if let unit { "the unit \(unit)" } else if let session = facts.session { "the session \(session)" } else {
                "no unit and no session"
            }
        let name = file.path.split(separator: "/").last.map(String.init) ?? file.path
        return claimed("exe:\(file.path)", name, facts, file, place)
    }

    /// The name of a service that runs one program; not of those which many share.
    private static func serviceName(_ unit: String) -> String? {
        guard unit.hasSuffix(".service"), !unit.hasPrefix("run-"), !unit.hasPrefix("dbus") else { return nil }
        let name = unit.dropLast(".service".count)
        guard !name.contains("terminal"), let plain = UnitName.unescape(name), !plain.contains("/") else { return nil }
        return plain
    }

    private static func claimed(
        _ program: String,
        _ name: String,
        _ facts: ProcessFacts,
        _ file: ExecutableFile,
        _ place: String
    ) -> ClientIdentity {
        ClientIdentity(
            program: program,
            tier: .claimed,
            user: facts.uid,
            name: DisplayText.neutralized(name, limit: 80),
            detail: detail(place, facts, file),
            executable: file,
            pid: facts.pid,
            parts: IdentityParts(facts, nil)
        )
    }

    /// What an identity is made of, in words. How the process was found stands before its path, which may be long.
    private static func detail(_ place: String, _ facts: ProcessFacts, _ file: ExecutableFile) -> String {
        let pinning = facts.isByPid ? ", found by pid" : ""
        let number = file.isProtected ? "" : " (device \(file.device), inode \(file.inode))"
        return DisplayText.neutralized("\(place)\(pinning); runs \(file.path)\(number)", limit: 400)
    }

    private static func doubt(_ facts: ProcessFacts, _ why: String) -> CaptureError {
        let text = DisplayText.neutralized(why, limit: 600)
        return CaptureError(.notPermitted, "the program behind process \(facts.pid) cannot be identified: \(text)")
    }
}
