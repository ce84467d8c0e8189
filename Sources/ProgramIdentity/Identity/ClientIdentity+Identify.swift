public import CaptureCore

extension ClientIdentity {
    /// Identifies a process.
    ///
    /// In this order: a sandbox; a system unit that runs as the process's uid, unless people log in as that user; a uid of
    /// the program's own; the user's own application unit or scope, or such a unit of the system; the executable. Root
    /// outside a unit is claimed like any user: root can pretend to be anybody, but is not a service for that reason.
    ///
    /// - Throws: `notPermitted` if there is any doubt, with the doubt as its message.
    public static func identify(_ facts: ProcessFacts) throws(CaptureError) -> ClientIdentity {
        var found = try program(of: facts)
        // Its answers could never be changed; no name that systemd, a package or a desktop gives is like that.
        guard (try? ProgramID(found.program)) != nil else {
            throw doubt(facts, "'\(found.program)' cannot be a program's name in settings")
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
            if let sandbox = try Sandbox.find(facts) {
                let place = "\(sandbox.words) in \(facts.place)"
                return identity(sandbox.program, .sandboxed, sandbox.name, facts, file, place, sandbox)
            }
        } catch {
            throw doubt(facts, error.why)
        }
        if let found = try service(facts, file) { return found }
        if !facts.isLoginUser, facts.session == nil {
            let place = "the uid \(facts.uid), which nobody logs in to"
            return identity("uid:\(facts.uid)", .user, "user \(facts.uid)", facts, file, place)
        }
        try checkPath(file.path, facts)
        guard isHere else {
            throw doubt(facts, "it sees another file at \(file.path) than the rest of the system does")
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

    /// - Returns: `nil` when the process is not in a system service, is a program's own user within one, or runs there as
    ///   somebody who logs in: any other program of theirs could trace it and be it.
    private static func service(_ facts: ProcessFacts, _ file: ExecutableFile) throws(CaptureError) -> ClientIdentity? {
        guard let unit = facts.systemService else { return nil }
        guard let reported = facts.systemUnitUser else {
            throw doubt(facts, "it is in the system unit \(unit), whose uid is unknown")
        }
        // The manager's word for a unit without `User=`, which the system's manager runs as root.
        let owner = reported == UInt32.max ? 0 : reported
        guard owner == facts.uid else {
            // A server that gives up root for a uid of its own is that uid; a user's job in cron.service is nobody.
            if !facts.isLoginUser { return nil }
            throw doubt(facts, "it is in the system unit \(unit), but runs as uid \(facts.uid) instead of \(owner)")
        }
        if facts.isLoginUser, facts.uid != 0 { return nil }
        let name = String(unit.dropLast(".service".count))
        let place = "the system unit \(unit) with its uid \(facts.uid)"
        return identity("unit:\(unit)", .service, name, facts, file, place)
    }

    private static func claimed(_ facts: ProcessFacts, _ file: ExecutableFile) throws(CaptureError) -> ClientIdentity {
        // A unit of another user's, whose name says nothing about this process, can hold a process of this one: by sudo.
        if let script = facts.script, facts.systemUnit == nil || facts.ownUnit != nil {
            return try run(script, by: file, facts)
        }
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
            throw nobody(file.path, facts)
        }
        let place =
            if let unit { "the unit \(unit)" } else if let session = facts.session { "the session \(session)" } else {
                "no unit and no session"
            }
        let name = file.path.split(separator: "/").last.map(String.init) ?? file.path
        return claimed("exe:\(file.path)", name, facts, file, place)
    }

    private static func nobody(_ path: String, _ facts: ProcessFacts) -> CaptureError {
        doubt(
            facts,
            "\(path) runs programs of others, so it has no identity; start a script with: capturectl run SCRIPT, or a "
                + "program in a unit of its own: systemd-run --user --scope --unit=app-NAME-1 …"
        )
    }

    private static func checkPath(_ path: String, _ facts: ProcessFacts) throws(CaptureError) {
        guard path.unicodeScalars.allSatisfy({ $0.value >= 32 && $0.value != 127 }) else {
            throw doubt(facts, "the path of its file contains control characters")
        }
    }

    /// A script that `capturectl run` started, or a program that it started.
    private static func run(
        _ script: ScriptScope.Script,
        by interpreter: ExecutableFile,
        _ facts: ProcessFacts
    ) throws(CaptureError) -> ClientIdentity {
        switch script {
        case .file(let file):
            try checkPath(file.path, facts)
            if file.isNoScript { throw nobody(file.path, facts) }
            let name = file.path.split(separator: "/").last.map(String.init) ?? file.path
            let place = "the script \(file.path), started by capturectl run"
            var found = claimed("exe:\(file.path)", name, facts, interpreter, place)
            found.executable = file
            if file != interpreter { found.interpreter = interpreter }
            return found
        case .changed(let path):
            throw doubt(
                facts,
                "its script \(path) was changed, removed or replaced since it was started; start it again"
            )
        case .hidden(let path):
            throw doubt(facts, "its script \(path) is in a folder that captured cannot read")
        case .open(let path, let place):
            throw doubt(facts, "its script \(path) can be replaced by other users, who can change \(place)")
        }
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
        identity(program, .claimed, DisplayText.neutralized(name, limit: 80), facts, file, place)
    }

    /// - Parameter place: What it rests on, in words. How the process was found stands in `detail` before its path, which
    ///   may be long.
    private static func identity(
        _ program: String,
        _ tier: Tier,
        _ name: String,
        _ facts: ProcessFacts,
        _ file: ExecutableFile,
        _ place: String,
        _ sandbox: Sandbox? = nil
    ) -> ClientIdentity {
        let pinning = facts.isByPid ? ", found by pid" : ""
        let number = file.isProtected ? "" : " (device \(file.device), inode \(file.inode))"
        return ClientIdentity(
            program: program,
            tier: tier,
            user: facts.uid,
            name: name,
            detail: DisplayText.neutralized("\(place)\(pinning); runs \(file.path)\(number)", limit: 400),
            executable: file,
            pid: facts.pid,
            parts: IdentityParts(facts, sandbox)
        )
    }

    private static func doubt(_ facts: ProcessFacts, _ why: String) -> CaptureError {
        let text = DisplayText.neutralized(why, limit: 600)
        return CaptureError(.notPermitted, "the program behind process \(facts.pid) cannot be identified: \(text)")
    }
}
