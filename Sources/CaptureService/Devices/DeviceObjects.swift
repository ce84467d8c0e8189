import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureMessages

/// The devices as objects on the bus, following hot-plug.
actor DeviceObjects {
    private let bus: BusConnection
    private let gate: AuthorizationGate
    private let callers: CallerDirectory
    private let devices: MachineDevices
    private var paths: [DeviceID: String] = [:]

    init(bus: BusConnection, gate: AuthorizationGate, callers: CallerDirectory, devices: MachineDevices) {
        self.bus = bus
        self.gate = gate
        self.callers = callers
        self.devices = devices
    }

    func follow(_ change: DeviceChange, announcing: Bool = true) async throws(CaptureError) {
        switch change {
        case .added(let device):
            if paths[device.id] != nil { bus.unexport(path(of: device.id)) }
            paths[device.id] = path(of: device.id)
            try await bus.export(try makeObject(device))
            guard announcing else { return }
            try bus.tell(
                CaptureNames.root,
                CaptureNames.manager,
                "DeviceAdded",
                [device.busValue]
            )
        case .removed(let id):
            guard let path = paths.removeValue(forKey: id) else { return }
            bus.unexport(path)
            try bus.tell(
                CaptureNames.root,
                CaptureNames.manager,
                "DeviceRemoved",
                [.string(id.rawValue)]
            )
        }
    }

    private func path(of id: DeviceID) -> String { CaptureNames.devicePath(id) }

    private func makeObject(_ device: DeviceDescription) throws(CaptureError) -> BusObject {
        let devices = devices
        return try BusObject(
            path: path(of: device.id),
            [
                BusImplementation(
                    CaptureInterfaces.device,
                    methods: [
                        "GetControls": granted(device) { grant, _ throws(CaptureError) in
                            [.list(try await devices.controls(of: device, grant: grant))]
                        },
                        "SetControl": granted(device) { grant, arguments throws(CaptureError) in
                            try await devices.setControl(
                                of: device,
                                arguments.text(0),
                                arguments.number(1),
                                grant: grant
                            )
                            return []
                        },
                        "ResetControls": granted(device) { grant, _ throws(CaptureError) in
                            try await devices.resetControls(of: device, grant: grant)
                            return []
                        },
                    ],
                    properties: ["Description": device.busValue]
                )
            ]
        )
    }

    /// A handler for callers who have a stored yes for the device; it never asks.
    private func granted(
        _ device: DeviceDescription,
        _ body: @escaping @Sendable (Grant, [BusValue]) async throws(CaptureError) -> [BusValue]
    ) -> BusHandler {
        let (callers, gate) = (callers, gate)
        let service = Service(device.mediaType)
        return { call throws(CaptureError) in
            let client = try await callers.client(call.sender)
            let status = try await gate.status(service, for: client.identity)
            // What policy forbids is refused below, with the file that says so.
            guard status == .authorized || status == .restricted else {
                throw CaptureError(
                    .notPermitted,
                    "\(client.identity.program) has no consent for \(service.title); request access first, or see "
                        + "'capturectl auth status'"
                )
            }
            let grants = try await gate.requestAccess(
                [service],
                for: client.identity,
                session: client.connection,
                again: client.identifyAgain
            )
            guard let grant = grants[service] else {
                throw CaptureError(.notPermitted, "there is no consent for \(service.title)")
            }
            return try await body(grant, call.arguments)
        }
    }
}
