import CaptureBus
import CaptureCore
import CaptureMessages
import Glibc

/// A session's configuration on the client's side.
struct SessionDraft: Sendable {
    /// An output, with a number that tells it from earlier ones of the same name.
    struct Entry: Sendable {
        let number: Int
        let output: any CaptureOutput
        var name: String { output.name }
    }

    var inputs: [CaptureDeviceInput] = []
    private(set) var entries: [Entry] = []
    private var lastNumber = 0
    var connections: [ConnectionDescription] = []
    /// By output name, what becomes of pictures and sound on their way into it, if that was set.
    private var settings: [String: ConnectionSettings] = [:]
    var preset = Preset.high

    var outputs: [any CaptureOutput] { entries.map(\.output) }

    /// Why an input cannot be added; `nil` if it can.
    func refusal(of input: CaptureDeviceInput) -> CaptureError? {
        refusal(of: "input", input.name, among: inputs.map(\.name))
    }

    /// Why an output cannot be added; `nil` if it can.
    func refusal(of output: any CaptureOutput) -> CaptureError? {
        refusal(of: "output", output.name, among: entries.map(\.name))
    }

    private func refusal(of what: String, _ name: String, among names: [String]) -> CaptureError? {
        if names.contains(name) {
            return CaptureError(
                .usage,
                "the session has an \(what) '\(Printable.text(name))' already; give this one another name"
            )
        }
        guard names.count < SessionDescription.mostParts else {
            return CaptureError(
                .usage,
                "the session has \(names.count) \(what)s already, and at most \(SessionDescription.mostParts) are possible"
            )
        }
        return nil
    }

    mutating func add(_ input: CaptureDeviceInput, connecting: Bool) throws(CaptureError) {
        if let refusal = refusal(of: input) { throw refusal }
        inputs.append(input)
        guard connecting else { return }
        for output in outputs where fits(input, output) {
            connections.append(ConnectionDescription(input: input.name, output: output.name))
        }
    }

    mutating func add(_ output: any CaptureOutput, connecting: Bool) throws(CaptureError) {
        if let refusal = refusal(of: output) { throw refusal }
        lastNumber += 1
        entries.append(Entry(number: lastNumber, output: output))
        guard connecting else { return }
        // Of a session with colours and distances, photos are of the colours.
        for kind in output.mediaTypes {
            for input in inputs where input.mediaType == kind && fits(input, output) {
                connections.append(ConnectionDescription(input: input.name, output: output.name))
            }
        }
    }

    mutating func removeInput(_ name: String) {
        inputs.removeAll { $0.name == name }
        connections.removeAll { $0.input == name }
    }

    /// Removes the output of a number, and its connections.
    mutating func removeOutput(_ number: Int) {
        if let entry = entries.first(where: { $0.number == number }) { removeOutput(entry.name) }
    }

    mutating func removeOutput(_ name: String) {
        settings[name] = nil
        entries.removeAll { $0.name == name }
        connections.removeAll { $0.output == name }
    }

    /// Changes what becomes of what a connection brings.
    ///
    /// - Parameter kind: What its input has to be.
    mutating func adjust(
        _ connection: ConnectionDescription,
        _ kind: MediaType,
        _ edit: (inout ConnectionSettings) -> Void
    ) throws(CaptureError) {
        let description = description(isAttached: false)
        var (input, output) = try description.parts(of: connection)
        guard input.mediaType == kind else {
            let name = AuthorizationService(kind).rawValue
            throw CaptureError(.invalidArgument, "the input '\(input.name)' is no \(name), which this setting is for")
        }
        edit(&output.settings)
        let feeding = description.connections.filter { $0.output == output.name }.map(\.input)
        let kinds = Set(description.inputs.filter { feeding.contains($0.name) }.map(\.mediaType))
        try output.checkSettings(hasPictures: kinds.contains(where: \.isFrames), hasSound: kinds.contains(.audio))
        settings[output.name] = output.settings
    }

    /// Notes a gain that the daemon was told.
    mutating func note(gain: Double, of output: String) {
        guard let entry = entries.first(where: { $0.name == output }) else { return }
        settings[output, default: entry.output.description.settings].gain = gain
    }

    mutating func connect(_ input: String, _ output: String) throws(CaptureError) {
        guard let from = inputs.first(where: { $0.name == input }) else {
            throw CaptureError(.usage, "the session has no input '\(Printable.text(input))'")
        }
        guard let to = outputs.first(where: { $0.name == output }) else {
            throw CaptureError(.usage, "the session has no output '\(Printable.text(output))'")
        }
        guard fits(from, to) else {
            throw CaptureError(
                .usage,
                "the output '\(output)' takes no \(AuthorizationService(from.mediaType).rawValue), or has one already"
            )
        }
        connections.append(ConnectionDescription(input: input, output: output))
    }

    mutating func disconnect(_ input: String, _ output: String) throws(CaptureError) {
        let connection = ConnectionDescription(input: input, output: output)
        guard let place = connections.firstIndex(of: connection) else {
            throw CaptureError(
                .usage,
                "the session has no connection from '\(Printable.text(input))' to '\(Printable.text(output))'"
            )
        }
        connections.remove(at: place)
    }

    /// Whether an output takes an input's kind and is not fed by one of it yet.
    private func fits(_ input: CaptureDeviceInput, _ output: any CaptureOutput) -> Bool {
        guard output.mediaTypes.contains(input.mediaType) else { return false }
        let feeding = connections.filter { $0.output == output.name }.map(\.input)
        // Frames are frames, whether of colours or distances.
        return !inputs.contains {
            feeding.contains($0.name)
                && ($0.mediaType == input.mediaType || $0.mediaType.isFrames && input.mediaType.isFrames)
        }
    }

    /// The session as the bus describes it.
    func description(isAttached: Bool) -> SessionDescription {
        SessionDescription(
            inputs: inputs.map { $0.description(preset: preset) },
            outputs: entries.map { entry in
                var output = entry.output.limitedDescription
                if let settings = settings[entry.name] { output.settings = settings }
                return output
            },
            connections: connections,
            isAttached: isAttached
        )
    }

    /// `a{sh}`: the files of the outputs that the daemon does not know yet.
    func files(without known: Set<Int>) -> BusValue {
        .dictionary(
            "sh",
            entries.compactMap { entry in
                guard !known.contains(entry.number), let file = entry.output.file else { return nil }
                return BusEntry(.string(entry.name), .descriptor(file))
            }
        )
    }
}

enum ProcessLimits {
    /// Bytes that a file of this process may have; 0 without a limit.
    static var file: Int64 {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { return 0 }
        // Without a limit it is the largest number there is.
        return limit.rlim_cur > UInt64(Int64.max) ? 0 : max(Int64(limit.rlim_cur), 1)
    }
}

extension CaptureOutput {
    /// Its description, with this process's own limit for files: a recorder writes its file, and is to keep to that.
    var limitedDescription: OutputDescription {
        var description = description
        if description.takesFile { description.sizeLimit = ProcessLimits.file }
        return description
    }
}
