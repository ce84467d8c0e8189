import CaptureBus
public import CaptureCore
import CaptureMessages

/// A camera or microphone of the machine, as the daemon knows it.
///
/// A value: it goes on describing a device that has left meanwhile, whose calls then throw
/// `CaptureError.Code.noSuchDevice`.
public struct CaptureDevice: Sendable, Identifiable {
    /// The daemon's description of the device: its names and formats.
    public let description: DeviceDescription
    let daemon: CaptureDaemon

    init(_ description: DeviceDescription, _ daemon: CaptureDaemon) {
        self.description = description
        self.daemon = daemon
    }

    /// The same after a reboot and in the same port.
    public var id: DeviceID { description.id }
    /// The device's name for people. If two have one name, their ports are added to it.
    public var name: String { description.name }
    /// How it is part of the machine.
    public var deviceType: DeviceType { description.deviceType }
    /// Where on the machine it is.
    public var position: DevicePosition { description.position }
    /// Camera or microphone.
    public var mediaType: MediaType { description.mediaType }
    /// The formats that a camera delivers; empty for a microphone.
    public var videoFormats: [VideoFormatOption] { description.videoFormats }
    /// The formats in which a camera delivers its sensor's own numbers, in a Bayer pattern, those with the most bits
    /// first. A photo of `dng` needs one of them.
    public var rawFormats: [VideoFormatOption] { videoFormats.raw }
    /// The formats in which a camera delivers distances. A photo of `tiff` needs one of them; one of `png` takes it, too.
    public var depthFormats: [VideoFormatOption] { description.depthFormats }
    /// The formats that a microphone delivers; empty for a camera.
    public var audioFormats: [AudioFormatOption] { description.audioFormats }

    /// The formats of the metadata that a camera has for its frames; empty if it has none. A `CameraMetadataOutput`
    /// delivers the first one.
    public var metadataFormats: [PixelFormat] { description.metadata?.formats ?? [] }

    // MARK: Discovery

    /// The devices that are there now. Nobody is asked for that.
    ///
    /// - Parameters:
    ///   - mediaType: Cameras or microphones alone; `nil` for both.
    ///   - daemon: `nil` for the shared connection.
    public static func devices(
        for mediaType: MediaType? = nil,
        on daemon: CaptureDaemon? = nil
    ) async throws(CaptureError) -> [CaptureDevice] {
        let daemon = try await CaptureDaemon.given(daemon)
        let list = try CaptureDaemon.understood(try await daemon.manage("ListDevices").first, "ListDevices")
        let devices = try list.list(of: DeviceDescription.self).map { CaptureDevice($0, daemon) }
        return devices.filter { mediaType == nil || $0.mediaType == mediaType }
    }

    /// The device that is taken when none is named: the first of its kind.
    ///
    /// - Throws: `CaptureError.Code.noSuchDevice` if the machine has no such device.
    public static func `default`(
        for mediaType: MediaType,
        on daemon: CaptureDaemon? = nil
    ) async throws(CaptureError) -> CaptureDevice {
        guard let first = try await devices(for: mediaType, on: daemon).first else {
            throw CaptureError(.noSuchDevice, "there is no \(AuthorizationService(mediaType).rawValue) on this machine")
        }
        return first
    }

    /// The device of an id or alias, such as `/dev/video0` or `hw:1,0`.
    ///
    /// - Throws: `CaptureError.Code.noSuchDevice` for an unknown device; the message lists the devices of the machine.
    public static func device(
        withID id: String,
        on daemon: CaptureDaemon? = nil
    ) async throws(CaptureError) -> CaptureDevice {
        let all = try await devices(on: daemon)
        if let found = all.first(where: { $0.id.rawValue == id || $0.description.aliases.contains(id) }) {
            return found
        }
        let known = all.isEmpty ? "none" : all.map { Printable.text($0.id.rawValue) }.joined(separator: ", ")
        throw CaptureError(.noSuchDevice, "there is no device '\(Printable.text(id))'; there are: \(known)")
    }

    // MARK: Consent

    /// How this program stands with cameras or microphones. Never asks.
    public static func authorizationStatus(
        for mediaType: MediaType,
        on daemon: CaptureDaemon? = nil
    ) async throws(CaptureError) -> AuthorizationStatus {
        try await AuthorizationPanel(on: try await CaptureDaemon.given(daemon)).status(AuthorizationService(mediaType))
    }

    /// Asks the person at the machine for the kinds that were never answered, in one dialog, and waits for the answer.
    ///
    /// - Returns: The program's status for each kind now.
    /// - Throws: `dismissed`, `timedOut`, `nobodyToAsk` or `askedTooOften` when there was no answer,
    ///   `missingUsageDescription` when the program does not say why it captures. A no is no error: it is a status.
    public static func requestAccess(
        for mediaTypes: Set<MediaType>,
        on daemon: CaptureDaemon? = nil
    ) async throws(CaptureError) -> [MediaType: AuthorizationStatus] {
        let panel = AuthorizationPanel(on: try await CaptureDaemon.given(daemon))
        let answers = try await panel.requestAccess(to: Set(mediaTypes.map { AuthorizationService($0) }))
        var statuses: [MediaType: AuthorizationStatus] = [:]
        for type in mediaTypes { statuses[type] = answers[AuthorizationService(type)] ?? .notDetermined }
        return statuses
    }

    /// The same for one kind.
    ///
    /// - Returns: Whether this program may capture with it.
    public static func requestAccess(
        for mediaType: MediaType,
        on daemon: CaptureDaemon? = nil
    ) async throws(CaptureError) -> Bool {
        try await requestAccess(for: [mediaType], on: daemon)[mediaType]?.isYes ?? false
    }

    /// Calls a method of the device.
    @discardableResult
    func call(
        _ member: String,
        _ arguments: [BusValue] = []
    ) async throws(CaptureError) -> [BusValue] {
        try await daemon.call(CaptureNames.devicePath(id), CaptureNames.device, member, arguments)
    }
}
