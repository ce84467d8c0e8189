import CaptureCore
import Glibc

/// The switches on disk: a small file in the state directory, replaced as a whole, so that a power cut leaves it as it was
/// before or as it was to be.
///
/// Thread-safe; changes go through the gate, one at a time.
public struct SwitchFile: Sendable {
    private static let section = "Switches"
    private let directory: String
    private var path: String { directory + "/switches" }

    /// The file of a daemon's state directory, which the store has made.
    public init(directory: String) {
        self.directory = directory
    }

    /// Reads the switches: all on where there is no file, all off where there is one that cannot be understood.
    public func load() -> Switches {
        var switches = Switches()
        switch SmallFile.read(path, limit: 4096, ownedBy: [geteuid()]) {
        case .absent: break
        case .unusable(let why): switches.fault = "the file of switches \(path) \(why)"
        case .text(let text):
            let file = KeyFile(parsing: text, path: path, dialect: .rules)
            if let problem = file.problems.first { switches.fault = "the file of switches is damaged: \(problem)" }
            // An empty file was cut off; a whole one has a line for each service.
            var known: Set<Service> = []
            for entry in file.entries {
                guard entry.section == SwitchFile.section, let service = Service(rawValue: entry.key),
                    entry.value == "on" || entry.value == "off", known.insert(service).inserted
                else {
                    switches.fault = "the file of switches is damaged: \(path):\(entry.line)"
                    continue
                }
                if entry.value == "off" { switches.off.insert(service) }
            }
            if known.count < Service.allCases.count, switches.fault.isEmpty {
                switches.fault = "the file of switches \(path) is cut off"
            }
        }
        return switches
    }

    /// Writes the switches; on disk when it returns.
    ///
    /// - Throws: `inputOutput`; the file is then as before.
    func save(_ off: Set<Service>) throws(CaptureError) {
        let lines = Service.allCases.map { "\($0.rawValue)=\(off.contains($0) ? "off" : "on")\n" }
        let bytes = Array("[\(SwitchFile.section)]\n\(lines.joined())".utf8)
        do throws(StoreFault) {
            let new = path + ".new"
            try StoreFiles.remove(new)
            let file = unsafe open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard file >= 0 else { throw SwitchFile.fault("\(new) cannot be made") }
            defer { close(file) }
            guard unsafe write(file, bytes, bytes.count) == bytes.count, fsync(file) == 0 else {
                throw SwitchFile.fault("\(new) cannot be written")
            }
            try StoreFiles.moveIntoPlace(new, path, in: directory)
        } catch {
            throw CaptureError(.inputOutput, error.message)
        }
    }

    private static func fault(_ action: String) -> StoreFault {
        StoreFault("\(action): \(SmallFile.text(of: errno))", isOfFile: true)
    }
}
