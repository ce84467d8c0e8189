import CaptureBus
public import CaptureCore
import CaptureMessages

/// Every setting of a device by name. Each call goes to the daemon and needs the person's stored yes for this kind of
/// device; none asks.
extension CaptureDevice {
    /// The settings with their values now.
    ///
    /// - Throws: `CaptureError.Code.notPermitted` without a stored yes for this kind of device.
    public func controls() async throws(CaptureError) -> [DeviceControl] {
        try CaptureDaemon.understood(try await call("GetControls").first, "GetControls").list()
    }

    /// Changes a setting.
    ///
    /// - Parameters:
    ///   - name: Its name, as in `focus_absolute`, or its number, as in `0x009a090a`.
    ///   - value: Within its range and on its steps; any value for a button; of a rectangle its ``PixelRectangle/number``.
    /// - Throws: `invalidArgument` for an unknown name, a value out of range, or a setting that can only be read.
    ///   `wrongState` while another setting disables it, `busy` while another program has locked the device.
    ///   `notPermitted` as for `controls`, and for a maker's own setting that the configuration does not name.
    public func setControl(_ name: String, to value: Int64) async throws(CaptureError) {
        try await call("SetControl", [.string(name), .int64(value)])
    }

    /// Puts every setting back to the driver's own value.
    public func resetControls() async throws(CaptureError) {
        try await call("ResetControls")
    }

    /// Lets this program alone change the device's settings, until it unlocks them, its connection to the daemon ends, or
    /// its consent does.
    ///
    /// When the connection or the consent ends, captured puts back the settings that this program changed with the lock, so
    /// that the next program finds the device as it was. ``keepControls()`` prevents that. Changes without the lock stay.
    ///
    /// - Throws: `busy` if another program has locked the device; the message names it.
    public func lockForConfiguration() async throws(CaptureError) {
        try await call("Lock")
    }

    /// Lets other programs change the settings again. The changes of this program stay until its connection ends.
    ///
    /// - Throws: `wrongState` if the device is not locked by this program.
    public func unlockForConfiguration() async throws(CaptureError) {
        try await call("Unlock")
    }

    /// Makes what this program changed stay when its connection ends.
    public func keepControls() async throws(CaptureError) {
        try await call("KeepControls")
    }

    /// Every setting that changes from now on, as it is then, whoever changes it: this program, another one, or the device
    /// itself.
    ///
    /// If a setting changes all the time, about 50 changes a second arrive. Of the crop, for which V4L2 has no event, four a
    /// second arrive. The sequence throws when the device is gone (`deviceLost`), the consent is withdrawn (`revoked`), or
    /// the daemon ends (`unreachable`). End the listening task to end it.
    ///
    /// - Throws: `invalidArgument` for a sound card, whose settings are not watched; `notPermitted` as for `controls`.
    public func controlChanges() async throws(CaptureError) -> AsyncThrowingStream<DeviceControl, any Error> {
        let (stream, continuation) = AsyncThrowingStream<DeviceControl, any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(1024)
        )
        let match = BusMatch(sender: CaptureNames.service, path: CaptureNames.devicePath(id))
        let heard = try await daemon.connection.subscribe(match) { signal in
            switch signal.member {
            case "ControlChanged":
                guard let value = signal.arguments.first else { return }
                do throws(CaptureError) { continuation.yield(try DeviceControl(busValue: value)) } catch {
                    continuation.finish(throwing: error)
                    Task { try? await self.call("UnwatchControls") }
                }
            case "WatchEnded":
                guard let code = signal.arguments.first?.text, let message = signal.arguments.last?.text else { return }
                continuation.finish(throwing: CaptureError(.init(rawValue: code), message))
            default: return
            }
        }
        let gone = CaptureError(.unreachable, "the capture daemon went away")
        let name = try await daemon.connection.watchName(CaptureNames.service) { owner in
            if owner == nil { continuation.finish(throwing: gone) }
        }
        let closed = try await daemon.connection.watchClose { continuation.finish(throwing: $0) }
        try await call("WatchControls")
        continuation.onTermination = { reason in
            withExtendedLifetime((heard, name, closed)) {}
            guard case .cancelled = reason else { return }
            // Where it cannot be said, nobody is there to be told.
            Task { try? await self.call("UnwatchControls") }
        }
        return stream
    }
}
