import CaptureKit
import CaptureSystem
import CLinux
import Glibc

/// Reads what programs are made of. Remembers what it read of libraries. Thread-bound.
final class ProgramReader {
    /// What a file says of itself.
    struct Facts: Equatable {
        var uses: Set<Bridge> = []
        var obstacle: CaptureProgram.Obstacle?
        /// Whether it is a program of captured, or was made for it.
        var knowsCaptured = false
    }

    /// What libraries are for: the same processor and width.
    private struct Kind: Hashable {
        var bits: Int
        var machine: UInt16
    }
    private struct Wanted: Hashable {
        var name: String
        var kind: Kind
    }

    private let machine: Machine
    private let budget: ReadingBudget
    private var places: [Wanted: String?] = [:]
    private var libraryUses: [String: Set<Bridge>] = [:]
    private lazy var folders = libraryFolders()
    private lazy var own = own(of: "/proc/self/exe")

    init(_ machine: Machine, _ budget: ReadingBudget) {
        (self.machine, self.budget) = (machine, budget)
    }

    /// Looks at a program.
    ///
    /// - Parameter name: What it is called.
    /// - Returns: `nil` if it cannot be read, or is no program.
    func facts(of path: String, name: String) -> Facts? {
        guard let (descriptor, status, source) = open(path) else { return nil }
        var facts = Facts(uses: Set(CaptureEvidence.known[name] ?? []))
        if source.bytes(at: 0, 2) == Array("#!".utf8) {
            guard let text = source.bytes(at: 0, min(source.size, 1 << 16)) else { return facts }
            for word in CaptureEvidence.words where word.pattern.isIn(text) { facts.uses.insert(word.uses) }
            return facts
        }
        guard let file = ELFFile(source) else { return nil }
        facts.knowsCaptured = file.libraries.contains { $0.hasPrefix("libcapture.so") }
        facts.obstacle = obstacle(file, descriptor, status)
        facts.uses.formUnion(uses(of: file, at: path, depth: 0))
        look(into: file, &facts)
        return facts
    }

    private func obstacle(_ file: ELFFile, _ program: Descriptor, _ status: stat) -> CaptureProgram.Obstacle? {
        if let own, own != Kind(bits: file.bits, machine: file.machine) { return .isForeign(bits: file.bits) }
        if file.isGo { return .isGo }
        if !file.hasInterpreter { return .isStatic }
        if status.st_mode & (S_ISUID | S_ISGID) != 0 { return .isPrivileged }
        return clinux_has_capabilities(program.descriptor) != 0 ? .isPrivileged : nil
    }

    /// Looks for what a program opens or makes by name.
    private func look(into file: ELFFile, _ facts: inout Facts) {
        let callsItself = facts.obstacle == .isStatic || facts.obstacle == .isGo
        var patterns: [(BytePattern, Bridge)] = []
        if callsItself || ["ioctl", "__ioctl_time64"].contains(where: file.has) {
            patterns.append((CaptureEvidence.node, .v4l2))
        }
        if facts.obstacle == .isStatic { patterns.append((BytePattern("/dev/snd/pcm"), .alsa)) }
        if file.libraries.contains(where: { $0.hasPrefix("libgstreamer-1.0.so") }) {
            patterns += CaptureEvidence.elements
        }
        patterns.removeAll { facts.uses.contains($0.1) }
        if patterns.isEmpty { return }
        for number in file.texts(patterns.map(\.0)) { facts.uses.insert(patterns[number].1) }
    }

    /// What a file captures by, itself and through libraries that capture for nobody else.
    private func uses(of file: ELFFile, at path: String, depth: Int) -> Set<Bridge> {
        var found: Set<Bridge> = []
        for rule in CaptureEvidence.rules where file.libraries.contains(where: { $0.hasPrefix(rule.library) }) {
            let isCalled = rule.functions.contains {
                $0.hasSuffix("*") ? file.hasName(beginning: String($0.dropLast())) : file.has($0)
            }
            if isCalled { found.formUnion(rule.uses) }
        }
        guard depth < 8 else { return found }
        for name in file.libraries where !CaptureEvidence.isServant(name) {
            guard let place = place(of: name, for: file, at: path) else { continue }
            if let known = libraryUses[place] {
                found.formUnion(known)
                continue
            }
            // Libraries may need each other.
            libraryUses[place] = []
            let uses = read(place).map { self.uses(of: $0, at: place, depth: depth + 1) } ?? []
            libraryUses[place] = uses
            found.formUnion(uses)
        }
        return found
    }

    /// Opens a regular file.
    private func open(_ path: String) -> (Descriptor, stat, ByteSource)? {
        var status = stat()
        guard let file = try? Descriptor.open(machine.root + path, O_RDONLY | O_NONBLOCK | O_NOCTTY),
            unsafe fstat(file.descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG
        else { return nil }
        return (file, status, ByteSource(file, size: UInt64(status.st_size), budget: budget))
    }

    private func read(_ path: String) -> ELFFile? {
        open(path).flatMap { ELFFile($0.2) }
    }

    /// Where a library of that name is that a file would load: ld.so(8), without the environment.
    private func place(of name: String, for file: ELFFile, at path: String) -> String? {
        if name.contains("/") { return name.hasPrefix("/") && machine.exists(name) ? name : nil }
        let origin = path.split(separator: "/").dropLast().map { "/" + $0 }.joined()
        for folder in file.folders {
            let real = folder.replacing("${ORIGIN}", with: origin).replacing("$ORIGIN", with: origin)
            if real.hasPrefix("/"), machine.exists("\(real)/\(name)") { return "\(real)/\(name)" }
        }
        let wanted = Wanted(name: name, kind: Kind(bits: file.bits, machine: file.machine))
        if let known = places[wanted] { return known }
        let place = folders.lazy.map { "\($0)/\(name)" }.first {
            self.machine.exists($0) && self.own(of: $0) == wanted.kind
        }
        places[wanted] = .some(place)
        return place
    }

    private func own(of path: String) -> Kind? {
        read(path).map { Kind(bits: $0.bits, machine: $0.machine) }
    }

    private func libraryFolders() -> [String] {
        let architectures = machine.names(in: "/usr/lib").filter { $0.contains("-linux-") }
        let configured = machine.names(in: "/etc/ld.so.conf.d").filter { $0.hasSuffix(".conf") }.prefix(64).flatMap {
            machine.text(of: "/etc/ld.so.conf.d/\($0)").split(separator: "\n").filter { $0.hasPrefix("/") }.map(
                String.init
            )
        }
        var seen: Set<String> = []
        return
            (configured + architectures.map { "/usr/lib/\($0)" }
            + ["/usr/lib64", "/usr/lib", "/usr/lib32", "/lib64", "/lib", "/usr/local/lib"]).filter {
                seen.insert($0).inserted
            }
    }
}
