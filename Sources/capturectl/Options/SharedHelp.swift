import ArgumentParser
import CaptureKit

/// What several commands say of the same argument or option.
extension ArgumentHelp {
    static let session = ArgumentHelp("The session's number, as 'start' and 'sessions' print it.", valueName: "id")
    static let program = ArgumentHelp("The program's id, as 'auth list' prints it, or its path.", valueName: "program")
    static let album = ArgumentHelp("The album, by name or id.", valueName: "album")
    static let camera = ArgumentHelp("The camera, as 'devices' lists it.", valueName: "id")
    static let preset = ArgumentHelp(
        "The approximate size and rate: \(Preset.words.joined(separator: ", ")) or AVFoundation's name.",
        valueName: "preset"
    )
    static let videoFormat = ArgumentHelp("The camera's exact format, as in YUYV:1280x720@30.", valueName: "format")
    static let audioFormat = ArgumentHelp("The microphone's exact format, as in S16_LE:48000x2.", valueName: "format")
    static let duration = ArgumentHelp("End after this time, as in 90, 10s or 1m30s.", valueName: "time")
    static let overwriting: ArgumentHelp =
        "Replace the file if it exists; for a symbolic link, replace the file that it points to."
}
