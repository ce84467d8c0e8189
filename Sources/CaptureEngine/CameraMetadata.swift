import CaptureCore

/// The metadata of a camera's frames, as a source beside the camera's own: opened with the camera's grant, shared and
/// moved to other rings as any source is.
extension DeviceDescription {
    private static let mark = "#metadata"

    /// The source of a camera's metadata.
    ///
    /// - Throws: `.noSuchDevice` for a camera without it.
    func metadataPart() throws(CaptureError) -> DeviceDescription {
        guard metadata != nil else {
            throw CaptureError(
                .noSuchDevice,
                "the camera \(name) has no metadata; 'capturectl devices --json' shows which cameras have"
            )
        }
        var part = self
        part.id = DeviceID(rawValue: id.rawValue + Self.mark)
        part.mediaType = .metadata
        return part
    }

    /// The camera behind a source of metadata; any other device is itself.
    var camera: DeviceDescription {
        guard mediaType == .metadata else { return self }
        var camera = self
        camera.id = DeviceID(rawValue: String(id.rawValue.dropLast(Self.mark.count)))
        camera.mediaType = .video
        return camera
    }
}

extension InputDescription {
    /// The input of the camera whose metadata this one is.
    var cameraOfMetadata: InputDescription { InputDescription(name: name, mediaType: .video, device: device) }
}

extension SessionDescription {
    /// Refuses metadata of a camera that is no input itself: it comes while the camera streams.
    ///
    /// - Throws: `CaptureError.Code.invalidArgument` with what would be right.
    func checkMetadata() throws(CaptureError) {
        for input in inputs where input.mediaType == .metadata {
            guard !inputs.contains(where: { $0.mediaType.isFrames && $0.device == input.device }) else { continue }
            throw CaptureError(
                .invalidArgument,
                "the input '\(input.name)' is the metadata of a camera that is no input; add an input of media type video with "
                    + (input.device.map { "the device '\($0)'" } ?? "no device, which is the first camera")
            )
        }
    }
}
