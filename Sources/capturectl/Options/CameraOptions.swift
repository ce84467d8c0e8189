import ArgumentParser
import CaptureKit

/// Which camera a command uses, and in which format.
struct CameraOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: .camera, completion: .cameras())
    var camera: String?

    @Option(name: .shortAndLong, help: .preset, completion: .presets)
    var preset: Preset?

    @Option(help: .videoFormat, completion: .videoFormats)
    var videoFormat: String?

    /// The camera as an input.
    ///
    /// - Throws: `usage` for a format that cannot be read, or beside a preset.
    func input() throws(CaptureError) -> CaptureDeviceInput {
        try InputOptions.camera(camera, preset, videoFormat)
    }
}
