import Authorization
import CaptureCore

/// What the history is told of the media library: who used it on which consent, from when until when.
struct LibraryUses: Sendable {
    let history: HistoryKeeper

    /// Records that a program uses the library from now on; on disk when it returns.
    ///
    /// - Throws: `.inputOutput` when it cannot be recorded: then nothing may be read or changed.
    func begin(_ grant: Grant, by client: ClientIdentity) async throws(CaptureError) -> DeviceUseKey {
        let use = DeviceUse(
            client: client,
            service: grant.service,
            device: DeviceID(rawValue: "library"),
            deviceName: "media library",
            basis: grant.basis,
            session: 0
        )
        guard let key = try await history.begin([use]).first else {
            throw CaptureError(.internalFault, "the history has no entry of a use that it took")
        }
        return key
    }

    /// Records that it uses the library on that consent no more.
    func end(_ key: DeviceUseKey, _ grant: Grant) async {
        await history.end([key], as: grant.isLive ? .stopped : .revoked)
    }
}
