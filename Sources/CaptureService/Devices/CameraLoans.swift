import Authorization
import CaptureCore
import CaptureEngine
import Synchronization

/// Lends the settings of cameras to the photos of a bracket. They are set as by their program, and put back as when that
/// leaves. Thread-safe.
final class CameraLoans: CameraLender {
    private let desk: SettingsDesk
    private let gate: AuthorizationGate
    private let last = Atomic(UInt64(0))

    init(_ desk: SettingsDesk, gate: AuthorizationGate) {
        self.desk = desk
        self.gate = gate
    }

    func lend(_ camera: DeviceDescription, to client: SessionClient) async throws(CaptureError) -> any BorrowedCamera {
        let grant = try await gate.settingsGrant(for: camera, client)
        // A connection is named by the bus, with a colon and without a space.
        var photo = client
        photo.connection += " photo \(last.add(1, ordering: .relaxed).newValue)"
        try await desk.lend(camera, of: client, to: photo, grant)
        return CameraLoan(camera, photo, desk, grant)
    }
}

/// A camera's settings on loan. Thread-safe.
private final class CameraLoan: BorrowedCamera {
    private let camera: DeviceDescription
    private let photo: SessionClient
    private let desk: SettingsDesk
    private let grant: Grant
    /// What was set, as it was before.
    private let former = Mutex<[String: Int64]>([:])

    init(_ camera: DeviceDescription, _ photo: SessionClient, _ desk: SettingsDesk, _ grant: Grant) {
        self.camera = camera
        self.photo = photo
        self.desk = desk
        self.grant = grant
    }

    func controls() async throws(CaptureError) -> [DeviceControl] { try await desk.list(camera, grant) }

    func set(_ changes: [CameraChange]) async throws(CaptureError) -> [DeviceControl] {
        let before = try await controls()
        former.withLock { former in
            for change in changes where former[change.name] == nil {
                former[change.name] = before.control(named: change.name)?.value
            }
        }
        for change in changes {
            try await desk.set(change.name, to: change.value, of: camera, for: photo, grant)
        }
        let now = try await controls()
        // Drivers round; one that did nothing at all has not taken it.
        for change in changes {
            guard let value = now.control(named: change.name)?.value, value != change.value,
                value == before.control(named: change.name)?.value
            else { continue }
            throw CaptureError(
                .inputOutput,
                "\(camera.name) did not take \(change.value) for '\(change.name)': it stays at \(value)"
            )
        }
        return now
    }

    func giveBack() async {
        await desk.endLoan(of: camera, to: photo, former.withLock { $0 }, grant)
    }
}

extension AuthorizationGate {
    /// A grant for the settings of a device, for a client that has a stored yes; it never asks.
    func settingsGrant(for device: DeviceDescription, _ client: SessionClient) async throws(CaptureError) -> Grant {
        let service = Service(device.mediaType)
        let status = try status(service, for: client.identity)
        // What policy forbids is refused below, with the file that says so.
        guard status == .authorized || status == .restricted else {
            throw CaptureError(
                .notPermitted,
                "\(client.identity.program) has no consent for \(service.title); request access first, or see "
                    + "'capturectl auth status'"
            )
        }
        return try await grant(service, for: client)
    }

    /// The grant of one service, asking the person if that was never decided.
    ///
    /// - Throws: As `requestAccess`.
    func grant(_ service: Service, for client: SessionClient, mayAsk: Bool = true) async throws(CaptureError) -> Grant {
        let grants = try await requestAccess([service], for: client.requester, mayAsk: mayAsk)
        guard let grant = grants[service] else {
            throw CaptureError(.internalFault, "no grant was given for \(service.rawValue)")
        }
        return grant
    }
}
