public import CaptureCore

/// A device as an input of a session, with the requested format.
public struct CaptureDeviceInput: Hashable, Sendable {
    /// The name by which connections refer to it; unique in a session.
    public var name: String
    /// Camera, its depth alone, microphone, or the metadata of a camera's frames.
    public var mediaType: MediaType
    /// An id or alias; `nil` for the first of its kind.
    public var device: String?
    /// The format requested from a camera; `nil` takes the session's preset.
    public var video: VideoFormatRequest?
    /// The format requested from a microphone.
    public var audio: AudioFormatRequest

    /// The given device, with the requested format.
    public init(
        _ device: CaptureDevice,
        name: String? = nil,
        video: VideoFormatRequest? = nil,
        audio: AudioFormatRequest = AudioFormatRequest()
    ) {
        self.init(
            device.mediaType,
            device: device.id.rawValue,
            name: name ?? AuthorizationService(device.mediaType).rawValue,
            video: video,
            audio: audio
        )
    }

    private init(
        _ mediaType: MediaType,
        device: String?,
        name: String,
        video: VideoFormatRequest?,
        audio: AudioFormatRequest
    ) {
        self.name = name
        self.mediaType = mediaType
        self.device = device
        self.video = video
        self.audio = audio
    }

    /// A camera of an id or alias, not looked up yet; `nil` for the first.
    public static func camera(
        _ id: String? = nil,
        name: String = "camera",
        request: VideoFormatRequest? = nil
    ) -> CaptureDeviceInput {
        CaptureDeviceInput(.video, device: id, name: name, video: request, audio: AudioFormatRequest())
    }

    /// The distances that a depth camera of an id or alias measures, not looked up yet; `nil` for the first that has depth
    /// formats. Its frames are in one of them, in millimetres, whatever the request says about the size.
    ///
    /// It feeds a `DepthDataOutput` and photos, and no movie. A camera delivers one format at a time, so its colours need
    /// a second device node, as such cameras have.
    public static func depth(
        _ id: String? = nil,
        name: String = "depth",
        request: VideoFormatRequest? = nil
    ) -> CaptureDeviceInput {
        CaptureDeviceInput(.depth, device: id, name: name, video: request, audio: AudioFormatRequest())
    }

    /// A microphone of an id or alias, not looked up yet; `nil` for the first.
    public static func microphone(
        _ id: String? = nil,
        name: String = "microphone",
        request: AudioFormatRequest = AudioFormatRequest()
    ) -> CaptureDeviceInput {
        CaptureDeviceInput(.audio, device: id, name: name, video: nil, audio: request)
    }

    /// The metadata of a camera's frames, for a `CameraMetadataOutput`.
    ///
    /// It comes while the camera streams, under the camera's consent. So the camera has to be an input of the same session;
    /// add that one first, and remove it last.
    ///
    /// - Parameters:
    ///   - camera: The input of the camera.
    ///   - name: The name by which connections refer to the metadata.
    public static func metadata(
        of camera: CaptureDeviceInput,
        name: String = "metadata"
    ) -> CaptureDeviceInput {
        CaptureDeviceInput(.metadata, device: camera.device, name: name, video: nil, audio: AudioFormatRequest())
    }

    func description(preset: Preset) -> InputDescription {
        InputDescription(
            name: name,
            mediaType: mediaType,
            device: device,
            video: video ?? preset.request,
            audio: audio
        )
    }
}
