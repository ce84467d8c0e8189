import CaptureCore

/// The switches on disk.
///
/// Thread-safe; changes go through the gate, one at a time.
public struct SwitchFile: Sendable {
    private static let section = "Switches"
    private let file: StateFile

    /// The file of a daemon's state directory, which the store has made.
    public init(directory: String) {
        file = StateFile("switches", in: directory)
    }

    /// Reads the switches: all on where there is no file, all off where there is one that cannot be understood.
    public func load() -> Switches {
        var switches = Switches()
        switch file.read(limit: 4096) {
        case .absent: break
        case .unusable(let why): switches.fault = "the file of switches \(file.path) \(why)"
        case .text(let text):
            let lines = KeyFile(parsing: text, path: file.path, dialect: .rules)
            if let problem = lines.problems.first { switches.fault = "the file of switches is damaged: \(problem)" }
            // An empty file was cut off; a whole one has a line for each service.
            var known: Set<Service> = []
            for entry in lines.entries {
                guard entry.section == SwitchFile.section, let service = Service(rawValue: entry.key),
                    entry.value == "on" || entry.value == "off", known.insert(service).inserted
                else {
                    switches.fault = "the file of switches is damaged: \(file.path):\(entry.line)"
                    continue
                }
                if entry.value == "off" { switches.off.insert(service) }
            }
            if known.count < Service.allCases.count, switches.fault.isEmpty {
                switches.fault = "the file of switches \(file.path) is cut off"
            }
        }
        return switches
    }

    /// Writes the switches; on disk when it returns.
    ///
    /// - Throws: `inputOutput`; the file is then as before.
    func save(_ off: Set<Service>) throws(CaptureError) {
        let lines = Service.allCases.map { "\($0.rawValue)=\(off.contains($0) ? "off" : "on")\n" }
        try file.replace(with: "[\(SwitchFile.section)]\n\(lines.joined())")
    }
}
