public import Authorization
public import CaptureCore
public import CaptureSystem

/// The synthetic camera, depth camera and microphone of a process: always there, on one clock, with faults among their
/// controls. The depth camera sees a wall that goes away to the right.
///
/// Thread-safe. Controls belong to the device, not to a stream: they can be set before it is opened and stay.
public final class SyntheticDevices: Sendable {
    /// The camera's id.
    public static let cameraID = DeviceID(rawValue: "synthetic:camera")
    /// The depth camera's id.
    public static let depthCameraID = DeviceID(rawValue: "synthetic:depth")
    /// The microphone's id.
    public static let microphoneID = DeviceID(rawValue: "synthetic:microphone")

    /// All ids.
    public static let ids: Set = [cameraID, depthCameraID, microphoneID]

    /// The clock of all.
    public let clock: SyntheticClock
    private let proof: ProofOfLife
    private let frames = FrameNumbers()
    private let cameraControls = SyntheticControls(.video)
    private let depthControls = SyntheticControls(.depth)
    private let microphoneControls = SyntheticControls(.audio)

    /// The devices.
    ///
    /// - Parameters:
    ///   - speed: How many times as fast as real time their streams pass, 1 to 1000.
    ///   - proof: The devices stand still while this proof is missing.
    public init(speed: Int = 1, proof: ProofOfLife = ProofOfLife()) {
        self.proof = proof
        clock = SyntheticClock(speed: speed)
    }

    /// The devices, the camera before the depth camera.
    public func descriptions() -> [DeviceDescription] {
        func device(_ id: DeviceID, _ mediaType: MediaType, _ name: String) -> DeviceDescription {
            DeviceDescription(
                id: id,
                mediaType: mediaType,
                name: name,
                aliases: [],
                driver: "synthetic",
                bus: "synthetic",
                deviceType: .synthetic
            )
        }
        var camera = device(Self.cameraID, .video, "Synthetic Camera")
        camera.videoFormats = SyntheticFormats.videoOptions
        camera.metadata = DeviceMetadata(node: "", formats: [SyntheticMetadata.format.code])
        var depthCamera = device(Self.depthCameraID, .video, "Synthetic Depth Camera")
        depthCamera.videoFormats = SyntheticFormats.depthOptions
        var microphone = device(Self.microphoneID, .audio, "Synthetic Microphone")
        microphone.audioFormats = SyntheticFormats.audioOptions
        return [camera, depthCamera, microphone]
    }

    /// Opens the camera.
    ///
    /// - Throws: `.notPermitted` or `.revoked` for the grant, `.noSuchFormat` for an exact request that cannot be met.
    public func openCamera(_ request: VideoFormatRequest, grant: Grant) throws(CaptureError) -> DeviceSource {
        try grant.require(.camera)
        return open(try SyntheticFormats.negotiate(request), cameraControls, frames)
    }

    /// Opens the depth camera.
    ///
    /// - Throws: As `openCamera(_:grant:)`.
    public func openDepthCamera(_ request: VideoFormatRequest, grant: Grant) throws(CaptureError) -> DeviceSource {
        try grant.require(.camera)
        return open(try SyntheticFormats.negotiate(request, among: [.z16]), depthControls, FrameNumbers())
    }

    private func open(_ format: VideoFormat, _ controls: SyntheticControls, _ frames: FrameNumbers) -> DeviceSource {
        DeviceSource("the synthetic camera", thread: "cam-synthetic", .video(format), of: format.frameSize, proof) {
            [clock] sink in
            SyntheticCamera(format, TestPicture(format), clock, controls, sink, frames: frames)
        }
    }

    /// Opens the metadata of the camera's frames, which comes while the camera streams.
    ///
    /// - Throws: `.notPermitted` or `.revoked` for the grant.
    public func openMetadata(grant: Grant) throws(CaptureError) -> DeviceSource {
        try grant.require(.camera)
        let format = SyntheticMetadata.format
        return DeviceSource("the metadata", thread: "meta-synthetic", .metadata(format), of: format.capacity, proof) {
            [frames] sink in SyntheticMetadata(frames, sink)
        }
    }

    /// Opens the microphone.
    ///
    /// - Throws: `.notPermitted` or `.revoked` for the grant, `.noSuchFormat` for an exact request that cannot be met.
    public func openMicrophone(_ request: AudioFormatRequest, grant: Grant) throws(CaptureError) -> DeviceSource {
        try grant.require(.microphone)
        let format = try SyntheticFormats.negotiate(request)
        let name = "the synthetic microphone"
        return DeviceSource(name, thread: "mic-synthetic", .audio(format), of: format.periodBytes, proof) {
            [clock, microphoneControls] sink in
            SyntheticMicrophone(format, BeepTone(format), clock, microphoneControls, sink)
        }
    }

    /// The settings of a device, which running streams follow at once.
    ///
    /// - Throws: `.noSuchDevice`; `.notPermitted` or `.revoked` for the grant.
    public func settings(of id: DeviceID, grant: Grant) throws(CaptureError) -> any DeviceSettings {
        try grant.require(id == Self.microphoneID ? .microphone : .camera)
        return try controls(of: id)
    }

    /// How much too fast the microphone's sample clock runs, in millionths, -1000 to 1000.
    ///
    /// - Throws: `.invalidArgument` naming the range.
    public func setClockDrift(_ millionths: Int64) throws(CaptureError) {
        try microphoneControls.set("clock_drift_ppm", to: millionths)
    }

    private func controls(of id: DeviceID) throws(CaptureError) -> SyntheticControls {
        switch id {
        case Self.cameraID: cameraControls
        case Self.depthCameraID: depthControls
        case Self.microphoneID: microphoneControls
        default: throw CaptureError(.noSuchDevice, "'\(id)' is no synthetic device")
        }
    }
}
