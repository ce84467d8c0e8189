import CaptureBus
public import CaptureCore

/// Inputs that feed outputs, running in the daemon.
///
/// As AVFoundation's class of the same kind: add inputs and outputs, which are connected where they fit, then start.
/// The session lives in the daemon under a number, so that another process can stop it; an attached one ends with the
/// process that made it. No frame and no sample passes through this actor.
///
/// One task configures a session at a time; everything else may be called from anywhere.
public actor CaptureSession {
    let daemon: CaptureDaemon
    /// Whether the session ends when the process that made it leaves the bus.
    public nonisolated let isAttached: Bool

    var draft = SessionDraft()
    private var applied = SessionDraft()
    private var depth = 0
    var hub: SessionHub?

    /// A session without inputs and outputs; the daemon hears of it at the start.
    ///
    /// - Parameters:
    ///   - daemon: `nil` for the shared connection.
    ///   - isAttached: False for a session that goes on when this process ends.
    public init(on daemon: CaptureDaemon? = nil, isAttached: Bool = true) async throws(CaptureError) {
        self.daemon = try await CaptureDaemon.given(daemon)
        self.isAttached = isAttached
    }

    init(_ daemon: CaptureDaemon, _ hub: SessionHub) {
        self.daemon = daemon
        self.hub = hub
        isAttached = false
    }

    // MARK: Configuration

    /// The devices.
    public var inputs: [CaptureDeviceInput] { draft.inputs }
    /// What is made of them.
    public var outputs: [any CaptureOutput] { draft.outputs }
    /// Which input feeds which output.
    public var connections: [ConnectionDescription] { draft.connections }
    /// What cameras are asked for that have no request of their own.
    public var preset: Preset { draft.preset }

    /// The session as it would be sent to the daemon.
    public var description: SessionDescription { draft.description(isAttached: isAttached) }

    /// Puts off that changes take effect until the matching `commitConfiguration`.
    public func beginConfiguration() {
        depth += 1
    }

    /// Applies what changed since `beginConfiguration`: to a running session at once, or not at all.
    ///
    /// - Throws: What the daemon refused; the session and its configuration here are as before.
    public func commitConfiguration() async throws(CaptureError) {
        guard depth > 0 else { throw CaptureError(.usage, "a configuration is committed that was not begun") }
        depth -= 1
        try await apply()
    }

    /// Sets the preset; takes effect where a camera is opened next.
    public func setPreset(_ preset: Preset) async throws(CaptureError) {
        draft.preset = preset
        try await apply()
    }

    /// Adds an input, connected with every output that takes its kind and has none of it yet, unless told not to.
    ///
    /// - Throws: `usage` when the name is taken.
    public func addInput(_ input: CaptureDeviceInput, connecting: Bool = true) async throws(CaptureError) {
        try draft.add(input, connecting: connecting)
        try await apply()
    }

    /// Adds an output, connected with the first input of each kind that it takes, unless told not to. Of a session that runs
    /// the person is asked for what it takes to save it into the media library, as the start does.
    ///
    /// - Throws: `usage` when the name is taken; of a session that runs what `MediaLibrary.requestSaving()` throws.
    public func addOutput(_ output: any CaptureOutput, connecting: Bool = true) async throws(CaptureError) {
        try draft.add(output, connecting: connecting)
        try await apply()
    }

    /// Connects an input with an output, by their names.
    ///
    /// - Throws: `usage` when one is not there or the output cannot be fed by it.
    public func addConnection(from input: String, to output: String) async throws(CaptureError) {
        try draft.connect(input, output)
        try await apply()
    }

    /// Takes an input and its connections away.
    public func removeInput(_ name: String) async throws(CaptureError) {
        draft.inputs.removeAll { $0.name == name }
        draft.connections.removeAll { $0.input == name }
        try await apply()
    }

    /// Takes an output and its connections away; its file is finished.
    public func removeOutput(_ name: String) async throws(CaptureError) {
        draft.outputs.removeAll { $0.name == name }
        draft.connections.removeAll { $0.output == name }
        try await apply()
    }

    private func apply() async throws(CaptureError) {
        guard depth == 0, let hub else { return }
        let known = Set(applied.outputs.map(\.name))
        let wanted = draft
        do throws(CaptureError) {
            let isNewSaved = wanted.outputs.contains { !known.contains($0.name) && $0.description.library != nil }
            // Before a start that is left to the start, which asks for the devices as well.
            if isNewSaved, hub.status.state != .configured { try await MediaLibrary(on: daemon).requestSaving() }
            try await daemon.call(
                hub.path,
                CaptureNames.session,
                "Configure",
                "a{sv}a{sh}",
                [
                    wanted.description(isAttached: isAttached).busValue,
                    wanted.files(without: known),
                ]
            )
            applied = wanted
        } catch {
            draft = applied
            throw error
        }
    }

    /// Makes the session in the daemon, once.
    func create() async throws(CaptureError) -> SessionHub {
        if let hub { return hub }
        let wanted = draft
        let answer = try await daemon.manage(
            "CreateSession",
            "a{sv}a{sh}",
            [wanted.description(isAttached: isAttached).busValue, wanted.files(without: [])]
        )
        guard let path = answer.first?.text else { throw CaptureDaemon.malformed("CreateSession") }
        let hub = SessionHub(daemon, path: path)
        self.hub = hub
        applied = wanted
        try await hub.connect(isOwn: true)
        return hub
    }
}
