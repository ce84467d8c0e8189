public import Authorization
public import CaptureCore
public import CaptureSystem
import Logging

extension ALSA {
    /// Opens a microphone in the format nearest to a request: 48 kHz, 16 bits, stereo where nothing is asked. What it
    /// delivers is the hardware's own, read from the memory it shares with the hardware, wherever that fits.
    ///
    /// - Parameters:
    ///   - device: As `probe` described it.
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
    ) throws(CaptureError) -> DeviceSource {
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
        return DeviceSource(
            device.name,
            thread: "mic-\(address.card)-\(address.device)",
            .audio(setup.format),
            of: setup.format.periodBytes,
            proof
        ) { sink in ALSACapture(setup, device.name, sink) }
    }
}
