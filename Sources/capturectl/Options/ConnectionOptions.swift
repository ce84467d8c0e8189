import ArgumentParser
import CaptureKit

/// How pictures are turned and mirrored.
struct TurnOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Turn the picture clockwise: 90, 180 or 270 degrees.", valueName: "degrees"),
        completion: .list(["90", "180", "270"])
    )
    var rotate = 0

    @Flag(help: "Mirror the picture left to right, before it is turned.")
    var mirror = false

    /// The option that was given, for errors; `nil` for none.
    var given: String? { rotate != 0 ? "--rotate" : mirror ? "--mirror" : nil }

    /// The settings that were asked for.
    ///
    /// - Throws: `.usage` for an angle that is out of range.
    func settings() throws(CaptureError) -> ConnectionSettings {
        guard ConnectionSettings.rotations.contains(rotate) else {
            throw CaptureError(.usage, "--rotate: \(rotate) is out of range: 0, 90, 180 or 270")
        }
        var settings = ConnectionSettings()
        (settings.rotation, settings.isMirrored) = (rotate, mirror)
        return settings
    }
}

/// Options for the microphone's sound.
struct SoundOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Record these channels of the microphone alone, counted from 1, as in 1 or 2,1.",
            valueName: "list"
        )
    )
    var channels: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Make the sound louder by -60 to 40 decibels.", valueName: "dB")
    )
    var gain = 0.0

    /// The option that was given, for errors; `nil` for none.
    var given: String? { channels != nil ? "--channels" : gain != 0 ? "--gain" : nil }

    /// Adds what was asked for to settings.
    ///
    /// - Throws: `.usage` for a value that is out of range.
    func apply(to settings: inout ConnectionSettings) throws(CaptureError) {
        try SoundOptions.check(gain: gain, "--gain")
        settings.gain = gain
        for word in channels?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
            guard let channel = Int(word), (1...256).contains(channel), !settings.channels.contains(channel - 1) else {
                throw CaptureError(
                    .usage,
                    "--channels: '\(Printable.text(String(word)))' in '\(Printable.text(channels ?? ""))' is out of range: "
                        + "give different channels, counted from 1, as in 1 or 2,1"
                )
            }
            settings.channels.append(channel - 1)
        }
    }

    /// Refuses a gain that is out of range.
    static func check(gain: Double, _ option: String) throws(CaptureError) {
        guard ConnectionSettings.gains.contains(gain) else {
            throw CaptureError(.usage, "\(option): \(gain) is out of range: -60 to 40 decibels")
        }
    }
}

extension CaptureSession {
    /// Sets what becomes of pictures and sound on their way into an output.
    func apply(_ settings: ConnectionSettings, to output: String) async throws(CaptureError) {
        if let camera = connection(with: .video, to: output) {
            if settings.rotation != 0 { try await camera.setVideoRotationAngle(settings.rotation) }
            if settings.isMirrored { try await camera.setVideoMirrored(true) }
        }
        if let microphone = connection(with: .audio, to: output) {
            if !settings.channels.isEmpty { try await microphone.setChannels(settings.channels) }
            if settings.gain != 0 { try await microphone.setGain(settings.gain) }
        }
    }
}
