import Authorization
import CaptureBus
import CaptureCore
import CaptureDevices
import CaptureEngine
import CaptureMessages

/// The devices as objects on the bus, following hot-plug.
actor DeviceObjects {
    private let bus: BusConnection
    private let gate: AuthorizationGate
    private let callers: CallerDirectory
    private let settings: SettingsDesk
    private let profiles: ProfileDesk
    private var paths: [DeviceID: String] = [:]

    init(
        bus: BusConnection,
        gate: AuthorizationGate,
        callers: CallerDirectory,
        settings: SettingsDesk,
        profiles: ProfileDesk
    ) {
        self.bus = bus
        self.gate = gate
        self.callers = callers
        self.settings = settings
        self.profiles = profiles
    }

    func follow(_ change: DeviceChange, announcing: Bool = true) async throws(CaptureError) {
        switch change {
        case .added(let device):
            if device.isSubdevice { return }
            if paths[device.id] != nil { bus.unexport(path(of: device.id)) }
            paths[device.id] = path(of: device.id)
            try await bus.export(try makeObject(device))
            guard announcing else { return }
            try bus.tell(CaptureNames.root, CaptureNames.manager, "DeviceAdded", [device.busValue])
        case .removed(let id):
            guard let path = paths.removeValue(forKey: id) else { return }
            bus.unexport(path)
            await settings.deviceGone(id)
            try bus.tell(CaptureNames.root, CaptureNames.manager, "DeviceRemoved", [.string(id.rawValue)])
        }
    }

    private func path(of id: DeviceID) -> String { CaptureNames.devicePath(id) }

    /// Tells a connection something about a device's settings.
    static func tell(_ bus: BusConnection, of device: DeviceID, _ news: SettingsDesk.News, to connection: String) {
        let (member, arguments): (String, [BusValue]) =
            switch news {
            case .changed(let control): ("ControlChanged", [control.busValue])
            case .ended(let error): ("WatchEnded", [.string(error.code.rawValue), .string(error.message)])
            }
        Journal.attempt("tell of a setting") { () throws(CaptureError) in
            try bus.tell(CaptureNames.devicePath(device), CaptureNames.device, member, arguments, to: connection)
        }
    }

    private func makeObject(_ device: DeviceDescription) throws(CaptureError) -> BusObject {
        let (settings, profiles) = (settings, profiles)
        return try BusObject(
            path: path(of: device.id),
            [
                BusImplementation(
                    CaptureInterfaces.device,
                    methods: [
                        "GetControls": granted(device) { _, grant, _ throws(CaptureError) in
                            [.list(try await settings.list(device, grant))]
                        },
                        "GetProfile": granted(device) { _, _, _ throws(CaptureError) in
                            [.records(profiles.content(of: device))]
                        },
                    ],
                    actions: [
                        "SetControl": granted(device) { client, grant, arguments throws(CaptureError) in
                            let (name, value) = (try arguments.text(0), try arguments.number(1))
                            try await settings.set(name, to: value, of: device, for: client, grant)
                        },
                        "ResetControls": granted(device) { client, grant, _ throws(CaptureError) in
                            try await settings.reset(device, for: client, grant)
                        },
                        "Lock": granted(device) { client, grant, _ throws(CaptureError) in
                            try await settings.lock(device, for: client, grant)
                        },
                        "Unlock": granted(device) { client, _, _ throws(CaptureError) in
                            try await settings.unlock(device, for: client)
                        },
                        "KeepControls": granted(device) { client, _, _ throws(CaptureError) in
                            await settings.keep(device, for: client)
                        },
                        "WatchControls": granted(device) { client, grant, _ throws(CaptureError) in
                            try await settings.watch(device, for: client, grant)
                        },
                        "UnwatchControls": granted(device) { client, _, _ throws(CaptureError) in
                            await settings.unwatch(device, for: client)
                        },
                        "SaveProfile": granted(device) { client, grant, arguments throws(CaptureError) in
                            try await profiles.save(try arguments.texts(0), of: device, for: client, grant)
                        },
                        "ForgetProfile": granted(device) { client, grant, arguments throws(CaptureError) in
                            try await profiles.forget(try arguments.texts(0), of: device, for: client, grant)
                        },
                    ],
                    properties: ["Description": device.busValue]
                )
            ]
        )
    }

    /// A handler for callers who have a stored yes for the device; it never asks.
    private func granted<Answer>(
        _ device: DeviceDescription,
        _ body: @escaping @Sendable (SessionClient, Grant, [BusValue]) async throws(CaptureError) -> Answer
    ) -> @Sendable (BusCall) async throws(CaptureError) -> Answer {
        let (callers, gate) = (callers, gate)
        return { call throws(CaptureError) in
            let client = try await callers.client(call.sender)
            let grant = try await gate.settingsGrant(for: device, client)
            return try await body(client, grant, call.arguments)
        }
    }
}
