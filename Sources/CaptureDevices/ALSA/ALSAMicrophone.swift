public import Authorization
public import CaptureCore
public import CaptureSystem
import Logging
import Synchronization

/// A microphone by ALSA, read from the memory it shares with the hardware.
///
/// What it delivers is the hardware's own wherever that fits the request. Thread-safe, as `MediaSource` says.
public final class ALSAMicrophone: MediaSource {
    /// What it delivers, as the driver reported it.
    public let format: MediaFormat
    /// One: a period is copied out and published at once.
    public let slotsInFlight = 1

    private let device: DeviceDescription
    private let address: PCMAddress
    /// `nil` when it is closed: alsa-lib closes the stream with the last reference.
    private let setup: Mutex<PCMSetup?>
    private let thread: DeviceThread

    private init(
        _ device: DeviceDescription,
        _ address: PCMAddress,
        _ setup: PCMSetup,
        _ proof: ProofOfLife
    ) {
        thread = DeviceThread(proof)
        self.device = device
        self.address = address
        format = .audio(setup.format)
        self.setup = Mutex(setup)
    }

    deinit { close() }

    /// Opens a microphone in the format nearest to a request: 48 kHz, 16 bits, stereo where nothing is asked.
    ///
    /// - Parameters:
    ///   - device: As `ALSA.probe` described it.
    ///   - request: What is wanted; an exact one is converted to where the hardware cannot give it.
    ///   - grant: A live grant for microphones.
    ///   - proof: The microphone stands still while this proof is missing.
    /// - Throws: `.notPermitted` or `.revoked` for the grant, `.busy` naming who has it, `.noSuchDevice`,
    ///   `.noSuchFormat`, `.inputOutput`.
    public static func open(
        _ device: DeviceDescription,
        _ request: AudioFormatRequest,
        grant: Grant,
        proof: ProofOfLife = ProofOfLife()
    ) throws(CaptureError) -> ALSAMicrophone {
        try grant.require(.microphone)
        guard let address = PCMAddress(device) else {
            throw CaptureError(.noSuchDevice, "\(device.name) is no ALSA microphone")
        }
        let setup = try PCMSetup.open(address, device.name, request, offered: device.audioFormats)
        log.debug(
            """
            \(address) is set to \(setup.format), \(setup.bufferFrames) sample frames before an overrun\
            \(setup.usesPlug ? ", converted by alsa-lib" : "")
            """
        )
        return ALSAMicrophone(device, address, setup, proof)
    }

    /// Starts the hardware and a thread that reads it: `MediaSource.start`.
    ///
    /// - Throws: `.wrongState` while streaming or closed, `.inputOutput` when the driver refuses.
    public func start(
        into sink: any MediaSink,
        ended: @escaping @Sendable (CaptureError) -> Void
    ) throws(CaptureError) {
        guard let setup = setup.withLock({ $0 }) else { throw CaptureError(.wrongState, "\(device.name) was closed") }
        let format = MediaFormat.audio(setup.format)
        try thread.stream(
            "mic-\(address.card)-\(address.device)",
            format,
            of: setup.format.periodBytes,
            into: sink,
            ended: ended
        ) { _ in ALSACapture(setup, device.name, sink) }
    }

    /// Goes on into another sink, between two periods and without a gap: `MediaSource.move`.
    public func move(to sink: any MediaSink, atOnce: Bool) throws(CaptureError) {
        try thread.move(to: sink, atOnce: atOnce)
    }

    /// Stops the hardware and waits for the thread; idempotent.
    public func stop() {
        thread.stop()
    }

    /// Stops, and closes the device for others to open; idempotent.
    public func close() {
        thread.stop()
        setup.withLock { $0 = nil }
    }
}
