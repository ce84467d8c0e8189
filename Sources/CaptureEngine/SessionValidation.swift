import CaptureCore

extension SessionDescription {
    /// Checks everything that can be known without a device.
    ///
    /// - Parameters:
    ///   - files: The names of the outputs that have a descriptor.
    ///   - finished: The outputs that have finished and stay so, whatever the description says about them.
    /// - Throws: `.invalidArgument` with the name that is wrong and what would be right.
    func validate(files: Set<String>, finished: Set<String> = []) throws(CaptureError) {
        func wrong(_ text: String) -> CaptureError { CaptureError(.invalidArgument, text) }
        guard question == nil else { throw wrong("a session gets its question when it is made, and not later") }
        guard !inputs.isEmpty else { throw wrong("a session needs an input: a camera or a microphone") }
        guard !outputs.isEmpty else { throw wrong("a session needs an output") }
        if let name = SessionDescription.twice(inputs.map(\.name)) { throw wrong("two inputs are named '\(name)'") }
        if let name = SessionDescription.twice(outputs.map(\.name)) { throw wrong("two outputs are named '\(name)'") }
        for connection in connections {
            guard inputs.contains(where: { $0.name == connection.input }) else {
                throw wrong("a connection names the input '\(connection.input)', which the session does not have")
            }
            guard outputs.contains(where: { $0.name == connection.output }) else {
                throw wrong("a connection names the output '\(connection.output)', which the session does not have")
            }
        }
        if Set(connections).count != connections.count { throw wrong("a connection is given twice") }
        try checkMetadata()
        for output in outputs where !finished.contains(output.name) {
            try validate(output, hasFile: files.contains(output.name))
        }
        if let stray = files.first(where: { name in !outputs.contains { $0.name == name } }) {
            throw wrong("a file came for the output '\(stray)', which the session does not have")
        }
    }

    /// Checks one of its outputs.
    func validate(_ output: OutputDescription, hasFile: Bool) throws(CaptureError) {
        func wrong(_ text: String) -> CaptureError {
            CaptureError(.invalidArgument, "output '\(output.name)' (\(output.kind.rawValue)): \(text)")
        }
        let allowed = OutputDescription.formats(of: output.kind)
        guard allowed.contains(output.format) else {
            throw wrong("unknown format '\(output.format)', expected one of \(allowed.joined(separator: ", "))")
        }
        guard (1...100).contains(output.quality) else {
            throw wrong("quality \(output.quality) is not within 1 to 100")
        }
        let presets = OutputDescription.encoderPresets
        guard presets.contains(output.encoderPreset) else {
            throw wrong("unknown preset '\(output.encoderPreset)', expected one of \(presets.joined(separator: ", "))")
        }
        guard output.duration >= 0, output.frameCount >= 0, output.videoBitRate >= 0 else {
            throw wrong("a duration, a count or a bit rate is negative")
        }
        try validateLimits(of: output, wrong)
        let fed = inputs(of: output.name)
        let pictures = fed.count { $0.mediaType.isFrames }
        let sounds = fed.count { $0.mediaType == .audio }
        guard output.kind == .buffer || fed.count == pictures + sounds else {
            throw wrong("takes no metadata of a camera; connect that to an output of kind buffer")
        }
        guard !fed.contains(where: { $0.mediaType == .depth }) || [.photo, .photos, .buffer].contains(output.kind)
        else {
            throw wrong("takes no depth; connect that to a photo or to an output of kind buffer")
        }
        switch output.kind {
        case .movie:
            guard pictures <= 1, sounds <= 1, !fed.isEmpty else {
                throw wrong("needs a camera, a microphone or one of each")
            }
        case .sound, .samples:
            guard pictures == 0, sounds == 1 else { throw wrong("needs one microphone and no camera") }
        case .photo, .photos, .frames:
            guard pictures == 1, sounds == 0 else { throw wrong("needs one camera and no microphone") }
        case .buffer:
            guard fed.count == 1 else { throw wrong("needs exactly one input") }
        }
        try output.checkSettings(hasPictures: pictures > 0, hasSound: sounds > 0)
        if output.library != nil {
            guard [.movie, .sound, .photo].contains(output.kind) else {
                throw wrong("the media library only takes movies, sound and photos; give a file to write to")
            }
            if hasFile { throw wrong("takes no file: it is saved into the media library") }
        } else if !output.kind.hasRecorder {
            if hasFile {
                let why = output.kind == .buffer ? "readers map the ring" : "each photo has its own"
                throw wrong("takes no file: \(why)")
            }
        } else if !hasFile {
            throw wrong("came without a file to write to")
        }
    }

    private func validateLimits(
        of output: OutputDescription,
        _ wrong: (String) -> CaptureError
    ) throws(CaptureError) {
        guard output.maxFileSize >= 0, output.minFreeSpace >= 0 else {
            throw wrong("a greatest size or a least free space is negative")
        }
        try output.checkSegments()
        try output.checkPreRoll()
        try output.checkMetadata()
        try output.checkFragments()
        try output.checkTags()
        guard output.maxFileSize > 0 || output.minFreeSpace > 0 else { return }
        guard output.kind.hasRecorder, output.kind != .photo else {
            throw wrong("has no length that a greatest size or a least free space could end")
        }
        let least = OutputDescription.leastMaxFileSize
        guard output.maxFileSize == 0 || output.maxFileSize >= least else {
            throw wrong("a greatest size of \(output.maxFileSize) bytes has no room; give \(least) or more")
        }
    }

    /// The inputs that feed an output.
    func inputs(of output: String) -> [InputDescription] {
        inputs.filter { connections.contains(ConnectionDescription(input: $0.name, output: output)) }
    }

    private static func twice(_ names: [String]) -> String? {
        var seen: Set<String> = []
        return names.first { !seen.insert($0).inserted }
    }
}
