public import Authorization
public import CaptureCore
public import CaptureSystem

/// The synthetic camera and microphone of a process: always there, on one clock, with faults among their controls.
///
/// Thread-safe. Controls belong to the device, not to a stream: they can be set before it is opened and stay.
public final class SyntheticDevices: Sendable {
    /// The camera's id.
    public static let cameraID = DeviceID(rawValue: "synthetic:camera")
    /// The microphone's id.
    public static let microphoneID = DeviceID(rawValue: "synthetic:microphone")

    /// The clock of both.
    public let clock: SyntheticClock
    private let proof: ProofOfLife
    private let cameraControls = SyntheticControls(.video)
    private let microphoneControls = SyntheticControls(.audio)

    /// A camera and a microphone.
    ///
    /// - Parameters:
    ///   - speed: How many times as fast as real time their streams pass, 1 to 1000.
    ///   - proof: The devices stand still while this proof is missing.
    public init(speed: Int = 1, proof: ProofOfLife = ProofOfLife()) {
        self.proof = proof
        clock = SyntheticClock(speed: speed)
    }

    /// Both devices, the camera first.
    public func descriptions() -> [DeviceDescription] {
        [
            DeviceDescription(
                id: Self.cameraID,
                mediaType: .video,
                name: "Synthetic Camera",
                aliases: [],
                driver: "synthetic",
                bus: "synthetic",
                deviceType: .synthetic,
                videoFormats: SyntheticFormats.videoOptions
            ),
            DeviceDescription(
                id: Self.microphoneID,
                mediaType: .audio,
                name: "Synthetic Microphone",
                aliases: [],
                driver: "synthetic",
                bus: "synthetic",
                deviceType: .synthetic,
                audioFormats: SyntheticFormats.audioOptions
            ),
        ]
    }

    /// Opens the camera.
    ///
    /// - Throws: `.notPermitted` or `.revoked` for the grant, `.noSuchFormat` for an exact request that cannot be met.
    public func openCamera(
        _ request: VideoFormatRequest,
        grant: Grant
    ) throws(CaptureError) -> SyntheticSource {
        try SyntheticSource.camera(request, clock, cameraControls, proof, grant: grant)
    }

    /// Opens the microphone.
    ///
    /// - Throws: `.notPermitted` or `.revoked` for the grant, `.noSuchFormat` for an exact request that cannot be met.
    public func openMicrophone(
        _ request: AudioFormatRequest,
        grant: Grant
    ) throws(CaptureError) -> SyntheticSource {
        try SyntheticSource.microphone(request, clock, microphoneControls, proof, grant: grant)
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
        case Self.microphoneID: microphoneControls
        default: throw CaptureError(.noSuchDevice, "'\(id)' is no synthetic device")
        }
    }
}
