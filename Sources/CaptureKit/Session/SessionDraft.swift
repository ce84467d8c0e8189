import CaptureBus
import CaptureCore

/// A session's configuration on the client's side.
struct SessionDraft: Sendable {
    var inputs: [CaptureDeviceInput] = []
    var outputs: [any CaptureOutput] = []
    var connections: [ConnectionDescription] = []
    var preset = Preset.high

    mutating func add(_ input: CaptureDeviceInput, connecting: Bool) throws(CaptureError) {
        if inputs.contains(where: { $0.name == input.name }) {
            throw CaptureError(.usage, "the session has an input '\(input.name)' already; give this one another name")
        }
        inputs.append(input)
        guard connecting else { return }
        for output in outputs where fits(input, output) {
            connections.append(ConnectionDescription(input: input.name, output: output.name))
        }
    }

    mutating func add(_ output: any CaptureOutput, connecting: Bool) throws(CaptureError) {
        if outputs.contains(where: { $0.name == output.name }) {
            throw CaptureError(.usage, "the session has an output '\(output.name)' already; give this one another name")
        }
        outputs.append(output)
        guard connecting else { return }
        for input in inputs where fits(input, output) {
            connections.append(ConnectionDescription(input: input.name, output: output.name))
        }
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

    /// Whether an output takes an input's kind and is not fed by one of it yet.
    private func fits(_ input: CaptureDeviceInput, _ output: any CaptureOutput) -> Bool {
        guard output.mediaTypes.contains(input.mediaType) else { return false }
        let feeding = connections.filter { $0.output == output.name }.map(\.input)
        return !inputs.contains { feeding.contains($0.name) && $0.mediaType == input.mediaType }
    }

    func description(isAttached: Bool) -> SessionDescription {
        SessionDescription(
            inputs: inputs.map { $0.description(preset: preset) },
            outputs: outputs.map(\.description),
            connections: connections,
            isAttached: isAttached
        )
    }

    /// `a{sh}`: the files of the outputs that the daemon does not know yet.
    func files(without known: Set<String>) -> BusValue {
        .dictionary(
            "sh",
            outputs.compactMap { output in
                guard !known.contains(output.name), let file = output.file else { return nil }
                return BusEntry(.string(output.name), .descriptor(file))
            }
        )
    }
}
