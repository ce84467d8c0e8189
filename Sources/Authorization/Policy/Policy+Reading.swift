import CaptureCore
import Glibc

extension Policy {
    /// The folder of drop-ins below a folder of the configuration.
    static let folder = "policy.d"
    /// The most files: more than any administrator writes.
    private static let mostFiles = 1024

    /// Reads the policy. Never fails: what is wrong is in `faults`, by which everything is restricted.
    ///
    /// Files count in the order of their names, whatever folder they lie in; one in a later folder hides one of the same
    /// name in an earlier one (an empty file, or a link to `/dev/null`, hides it for good).
    ///
    /// - Parameters:
    ///   - directories: Folders of the configuration, the vendor's first and the administrator's last.
    ///   - owners: The uids that files and folders may belong to, without others being able to write to them; `nil` trusts
    ///     anybody, as is right for a daemon of one's own.
    ///   - accounts: Who is asked about users and groups, now and whenever a rule names one.
    public init(directories: [String], ownedBy owners: Set<UInt32>?, accounts: Accounts) {
        self.accounts = accounts
        var paths: [String: String] = [:]
        for directory in directories {
            for name in names(in: directory, ownedBy: owners) { paths[name] = "\(directory)/\(Policy.folder)/\(name)" }
        }
        for (_, path) in paths.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            read(path, ownedBy: owners)
        }
    }

    /// The names of the files in a folder. That there is no folder is as good as an empty one only where nobody but its
    /// owner could have taken it away.
    private mutating func names(in directory: String, ownedBy owners: Set<UInt32>?) -> [String] {
        let folder = directory + "/" + Policy.folder
        for path in [directory, folder] {
            var status = stat()
            guard unsafe stat(path, &status) == 0 else {
                let code = errno
                if code != ENOENT { fault(path, "cannot be examined: \(SmallFile.text(of: code))") }
                return []
            }
            guard status.st_mode & S_IFMT == S_IFDIR else {
                fault(path, "is not a folder")
                return []
            }
            guard let owners else { continue }
            guard owners.contains(status.st_uid) else {
                fault(path, "belongs to uid \(status.st_uid), which is not trusted here")
                return []
            }
            guard status.st_mode & 0o022 == 0 else {
                fault(path, "can be written by others than its owner")
                return []
            }
        }
        guard let handle = unsafe opendir(folder) else {
            fault(folder, "cannot be read: \(SmallFile.text(of: errno))")
            return []
        }
        unsafe closedir(handle)
        let names = FolderListing.names(in: folder, suffix: ".conf", limit: Policy.mostFiles + 1)
        if names.count > Policy.mostFiles { fault(folder, "has more than \(Policy.mostFiles) files") }
        return names
    }

    private mutating func read(_ path: String, ownedBy owners: Set<UInt32>?) {
        if SmallFile.isNull(path) { return }
        switch SmallFile.read(path, limit: 1 << 20, ownedBy: owners) {
        // It was listed: a link that leads nowhere.
        case .absent: fault(path, "leads nowhere")
        case .unusable(let why): fault(path, why)
        case .text(let text): take(KeyFile(parsing: text, path: path, dialect: .rules))
        }
    }

    private mutating func fault(_ path: String, _ message: String) {
        faults.append(KeyFileProblem(file: path, line: 0, message: message))
    }

    /// Takes a file's rules over. Sections and keys that begin with `X-` are somebody else's.
    mutating func take(_ file: KeyFile) {
        faults += file.problems
        for (index, header) in file.headers.enumerated() where !header.name.hasPrefix("X-") {
            guard header.name == "Rule" else {
                let message = "unknown section [\(KeyFile.shown(header.name))], expected [Rule]"
                faults.append(KeyFileProblem(file: file.path, line: header.line, message: message))
                continue
            }
            let end = index + 1 < file.headers.count ? file.headers[index + 1].line : Int.max
            let entries = file.entries.filter { $0.line > header.line && $0.line < end }
            guard var rule = PolicyRule(header, entries, of: file.path, &faults) else { continue }
            if let why = rule.refusal {
                let message = "the rule has no effect: \(why)"
                refusals.append(KeyFileProblem(file: file.path, line: header.line, message: message))
            } else {
                remark(on: rule, file.path, header.line)
                rule.followLinks()
                rules.append(rule)
            }
        }
    }

    /// Tells of names that nobody has: a slip there would forbid nothing.
    private mutating func remark(on rule: PolicyRule, _ path: String, _ line: Int) {
        let users = rule.users.compactMap { $0.missing(accounts.user) }.map { "user '\($0)'" }
        let groups = rule.groups.compactMap { $0.missing(accounts.group) }.map { "group '\($0)'" }
        for what in users + groups {
            let message = "there is no \(what) on this machine, so that name in the rule matches nobody"
            remarks.append(KeyFileProblem(file: path, line: line, message: message))
        }
    }
}

extension PolicyRule.Account {
    /// The name, when it is of nobody.
    fileprivate func missing(_ look: (String) -> Lookup<UInt32>) -> String? {
        guard case .name(let name) = self, look(name) == .absent else { return nil }
        return KeyFile.shown(name)
    }
}
