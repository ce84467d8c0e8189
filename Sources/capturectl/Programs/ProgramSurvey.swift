import CaptureKit
import Glibc

/// The installed programs that capture without knowing captured: those on the path, and those of desktop entries.
struct ProgramSurvey {
    /// By name.
    var programs: [CaptureProgram] = []
    /// How many files were looked at.
    var looked = 0
    /// Whether all of them were looked at.
    var isWhole = true

    /// The environment's word on where programs are.
    struct Places {
        var path = Environment.value("PATH") ?? ""
        var data = Environment.value("XDG_DATA_DIRS") ?? ""
        var home = Environment.value("HOME") ?? ""
    }

    private static let usualFolders = [
        "/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/games", "/usr/games",
    ]

    /// Looks at the machine.
    static func take(
        _ machine: Machine,
        _ budget: ReadingBudget = .usual,
        places: Places = Places()
    ) -> ProgramSurvey {
        var survey = ProgramSurvey()
        let reader = ProgramReader(machine, budget)
        var found: [FileIdentity: Int] = [:]
        var seen: Set<FileIdentity> = []

        /// - Returns: Where in the list it is now.
        func look(_ path: String, _ name: String) -> Int? {
            guard let identity = machine.program(at: path) else { return nil }
            if let known = found[identity] {
                if !survey.programs[known].names.contains(name) { survey.programs[known].names.append(name) }
                return known
            }
            let known = CaptureEvidence.known[name] != nil
            // Read once, unless the name itself says more.
            guard seen.insert(identity).inserted || known, !budget.isSpent else { return nil }
            survey.looked += 1
            guard let facts = reader.facts(of: path, name: name), !facts.uses.isEmpty, !facts.knowsCaptured,
                !CaptureEvidence.servers.contains(name), !own.contains(name)
            else { return nil }
            found[identity] = survey.programs.count
            survey.programs.append(
                CaptureProgram(
                    names: [name],
                    path: path,
                    uses: Bridge.listed.filter(facts.uses.contains),
                    obstacle: facts.obstacle
                )
            )
            return survey.programs.count - 1
        }

        // What a menu has comes first, should the budget not last.
        let folders = (places.path.split(separator: ":").map(String.init) + usualFolders).filter { $0.hasPrefix("/") }
        for entry in DesktopEntry.all(machine, places) {
            if let program = entry.flatpak.flatMap({ flatpak($0, machine, places) }) {
                if !survey.programs.contains(where: { $0.path == program.path }) { survey.programs.append(program) }
                continue
            }
            let path =
                entry.command.hasPrefix("/")
                ? entry.command : folders.lazy.map { "\($0)/\(entry.command)" }.first { machine.exists($0) }
            guard let path, let name = path.split(separator: "/").last.map(String.init) else { continue }
            if let place = look(path, name) { survey.programs[place].isOnDesktop = true }
        }
        var visited: Set<FileIdentity> = []
        for folder in folders {
            guard let identity = machine.identity(of: folder), visited.insert(identity).inserted else { continue }
            for name in machine.names(in: folder) where !budget.isSpent { _ = look("\(folder)/\(name)", name) }
        }
        survey.isWhole = !budget.isSpent
        for place in survey.programs.indices { survey.programs[place].order(machine) }
        survey.programs.sort { ($0.name, $0.path) < ($1.name, $1.path) }
        return survey
    }

    /// Programs of captured.
    private static let own: Set<String> = ["capturectl", "capture-run", "captured"]

    /// A program in a Flatpak that may open nodes itself or reach PipeWire; most others only play.
    private static func flatpak(_ id: String, _ machine: Machine, _ places: Places) -> CaptureProgram? {
        guard !id.contains("/") else { return nil }
        let folders = ["/var/lib/flatpak", places.home + "/.local/share/flatpak"]
        guard let path = machine.first(of: folders.map { "\($0)/app/\(id)/current/active/metadata" }) else {
            return nil
        }
        let context = DesktopEntry.values(machine.text(of: path, limit: 1 << 16), in: "Context")
        func has(_ key: String, _ value: String) -> Bool {
            context[key]?.split(separator: ";").contains { $0 == value || $0.hasPrefix(value + ":") } == true
        }
        var uses: [Bridge] = []
        if has("devices", "all") { uses.append(.v4l2) }
        if has("filesystems", "xdg-run/pipewire-0") { uses.append(.pipewire) }
        if uses.isEmpty { return nil }
        if has("sockets", "pulseaudio") { uses.append(.pulse) }
        return CaptureProgram(
            names: [id],
            path: path,
            uses: Bridge.listed.filter(uses.contains),
            obstacle: .isFlatpak,
            isOnDesktop: true
        )
    }
}

extension CaptureProgram {
    /// Has it be the file that its links lead to, and puts the name of that first.
    fileprivate mutating func order(_ machine: Machine) {
        path = machine.real(path)
        let real = path.split(separator: "/").last.map(String.init)
        names.sort { first, second in
            (first == real ? 0 : 1, first) < (second == real ? 0 : 1, second)
        }
    }
}

extension Machine {
    /// A path without links: realpath(3).
    fileprivate func real(_ path: String) -> String {
        guard let real = unsafe realpath(root + path, nil) else { return path }
        defer { unsafe free(real) }
        let text = unsafe String(cString: real)
        return text.hasPrefix(root + "/") ? String(text.dropFirst(root.count)) : path
    }

    /// Which file a program is; `nil` if it may not be run.
    fileprivate func program(at path: String) -> FileIdentity? {
        var status = stat()
        guard unsafe stat(root + path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o111 != 0
        else {
            return nil
        }
        return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }
}
