import BusSupport
import CaptureBus
import CaptureCore
import Synchronization
import Testing

@testable import CaptureAgent
@testable import CaptureKit

/// The desktop's store of permissions, played by the test.
private final class FakePermissions: Sendable {
    /// A permission of the store.
    struct Key: Hashable {
        var table: String
        var id: String
        var application: String
    }

    private static let interface = BusInterface(
        "org.freedesktop.impl.portal.PermissionStore",
        methods: [
            BusMethod(
                "Lookup",
                [BusArgument("table", "s"), BusArgument("id", "s")],
                returns: [BusArgument("permissions", "a{sas}"), BusArgument("data", "v")]
            ),
            BusMethod(
                "SetPermission",
                [
                    BusArgument("table", "s"), BusArgument("create", "b"), BusArgument("id", "s"),
                    BusArgument("app", "s"), BusArgument("permissions", "as"),
                ]
            ),
            BusMethod(
                "DeletePermission",
                [BusArgument("table", "s"), BusArgument("id", "s"), BusArgument("app", "s")]
            ),
        ]
    )

    private final class Rows: Sendable {
        let all = Mutex<[Key: [String]]>([:])
    }

    private let connection: BusConnection
    private let rows = Rows()

    var all: [Key: [String]] { rows.all.withLock { $0 } }

    init(on bus: PrivateBus) async throws {
        connection = try await BusConnection.open(bus.kind)
        @Sendable func key(_ table: BusValue, _ id: BusValue, _ application: BusValue) -> Key {
            Key(table: table.text ?? "", id: id.text ?? "", application: application.text ?? "")
        }
        let object = try BusObject(
            path: "/org/freedesktop/impl/portal/PermissionStore",
            [
                BusImplementation(
                    FakePermissions.interface,
                    methods: [
                        "Lookup": { [rows] call in
                            let (table, id) = (call.arguments[0].text, call.arguments[1].text)
                            let found = rows.all.withLock { $0.filter { $0.key.table == table && $0.key.id == id } }
                            let entries = found.map { BusEntry(.string($0.key.application), .strings($0.value)) }
                            return [.dictionary("sas", entries), .variant(.byte(0))]
                        },
                        "SetPermission": { [rows] call in
                            let place = key(call.arguments[0], call.arguments[2], call.arguments[3])
                            rows.all.withLock { $0[place] = call.arguments[4].texts }
                            return []
                        },
                        "DeletePermission": { [rows] call in
                            let place = key(call.arguments[0], call.arguments[1], call.arguments[2])
                            rows.all.withLock { $0[place] = nil }
                            return []
                        },
                    ]
                )
            ]
        )
        try await connection.export(object)
        try await connection.requestName(FakePermissions.interface.name)
    }
}

@Suite(.timeLimit(.minutes(10)))
struct DenialMirrorTests {
    @Test func `a Flatpak has its own name in the desktop's store, a snap one after its kind, others none`() {
        for (program, application) in [
            ("flatpak:org.example.Calls", "org.example.Calls"), ("flatpak:snap.example.Calls", "snap.example.Calls"),
            ("snap:calls", "snap.calls"), ("snap:calls_work", "snap.calls_work"),
        ] {
            #expect(DenialMirror.application(of: program) == application)
            #expect(DenialMirror.program(of: application) == program)
            #expect(DenialMirror.concerns(program))
        }
        for program in ["exe:/usr/bin/true", "app:snap", "unit:snap.service", "flatpak:", "snap:"] {
            #expect(!DenialMirror.concerns(program))
        }
    }

    @Test func `denials of Flatpaks and snaps come into the desktop's store and leave it`() async throws {
        let answers = Answers()
        let daemon = try await FakeDaemon([
            "WhoAmI": { _, _ in [.properties(["program": .string("exe:/a"), "user": .string("ann")])] },
            "List": { _, _ in [.propertyList(answers.denied.withLock { $0 }.map(Answers.row))] },
        ])
        let store = try await FakePermissions(on: daemon.bus)
        let mirror = DenialMirror(
            of: try await daemon.client(),
            in: PermissionStore(on: try await daemon.bus.connect())
        )
        answers.denied.withLock { $0 = ["snap:calls", "flatpak:org.example.Calls", "exe:/usr/bin/true"] }
        try await mirror.update("snap:calls")
        #expect(store.all.keys.filter { $0.table == "devices" }.map(\.application) == ["snap.calls"])
        try await mirror.update()
        func mirrored() -> Set<String> {
            Set(store.all.filter { $0.key.table == "devices" && $0.value == ["no"] }.map(\.key.application))
        }
        #expect(mirrored() == ["snap.calls", "org.example.Calls"])
        #expect(store.all.keys.allSatisfy { $0.id == "camera" })
        // Lifted while nobody looked.
        answers.denied.withLock { $0 = ["flatpak:org.example.Calls"] }
        try await mirror.update()
        #expect(mirrored() == ["org.example.Calls"])
        #expect(store.all.keys.allSatisfy { $0.application != "snap.calls" })
        withExtendedLifetime(daemon) {}
    }
}

/// What the daemon has stored.
private final class Answers: Sendable {
    let denied = Mutex<[String]>([])

    static func row(_ program: String) -> [String: BusValue] {
        [
            "user": .string("ann"), "program": .string(program), "tier": .string("sandboxed"),
            "service": .string("camera"), "status": .string("denied"), "stored": .string("denied"),
            "policy": .string(""), "reason": .string("settings"), "time": .int64(1), "detail": .string(""),
            "lifetime": .string("always"), "ends": .int64(0),
        ]
    }
}
