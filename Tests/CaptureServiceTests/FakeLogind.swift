import BusSupport
import CaptureBus
import CaptureCore

/// logind, as far as sessions and seats go: alice's (1000) session 2 at seat0 and 5 from elsewhere, bob's (1001) 3 at seat0.
final class FakeLogind: Sendable {
    private static let root = "/org/freedesktop/login1"
    private static let name = "org.freedesktop.login1"

    private let connection: BusConnection
    private let sessions: [String: BusObject]
    private let seat: BusObject

    private static let manager = BusInterface(
        name + ".Manager",
        methods: [
            BusMethod("GetSession", [BusArgument("session_id", "s")], returns: [BusArgument("object_path", "o")])
        ]
    )
    private static let session = BusInterface(
        name + ".Session",
        properties: [
            BusProperty("User", "(uo)"), BusProperty("Seat", "(so)"), BusProperty("Active", "b", emitsChange: true),
            BusProperty("LockedHint", "b", emitsChange: true),
        ]
    )
    private static let seatInterface = BusInterface(
        name + ".Seat",
        properties: [BusProperty("ActiveSession", "(so)", emitsChange: true)]
    )

    init(_ bus: PrivateBus) async throws {
        connection = try await BusConnection.open(bus.kind)
        var made: [String: BusObject] = [:]
        for (id, user, seat) in [("2", UInt32(1000), "seat0"), ("5", 1000, ""), ("3", 1001, "seat0")] {
            let place = seat.isEmpty ? "/" : Self.root + "/seat/" + seat
            made[id] = try BusObject(
                path: Self.path(id),
                [
                    BusImplementation(
                        Self.session,
                        methods: [:],
                        properties: [
                            "User": .structure([.uint32(user), .objectPath("\(Self.root)/user/_\(user)")]),
                            "Seat": .structure([.string(seat), .objectPath(place)]),
                            "Active": .bool(id != "3"), "LockedHint": .bool(false),
                        ]
                    )
                ]
            )
        }
        sessions = made
        seat = try BusObject(
            path: Self.root + "/seat/seat0",
            [BusImplementation(Self.seatInterface, methods: [:], properties: ["ActiveSession": Self.shown("2")])]
        )
        let manager = try BusObject(
            path: Self.root,
            [
                BusImplementation(
                    Self.manager,
                    methods: ["GetSession": { call in [.objectPath(Self.path(call.arguments[0].text ?? ""))] }]
                )
            ]
        )
        for object in [manager, seat] + made.values { try await connection.export(object) }
        try await connection.requestName(Self.name)
    }

    private static func path(_ id: String) -> String { "\(root)/session/_3\(id)" }

    private static func shown(_ id: String?) -> BusValue {
        .structure([.string(id ?? ""), .objectPath(id.map(path) ?? "/")])
    }

    /// The screen locker's hint.
    func lock(_ id: String, _ isLocked: Bool) throws(CaptureError) {
        guard let session = sessions[id] else { return }
        try connection.update(session, Self.name + ".Session", ["LockedHint": .bool(isLocked)])
    }

    /// Puts a session of the seat in front, or none.
    func show(_ id: String?) throws(CaptureError) {
        for (other, session) in sessions where other != "5" {
            try connection.update(session, Self.name + ".Session", ["Active": .bool(other == id)])
        }
        try connection.update(seat, Self.name + ".Seat", ["ActiveSession": Self.shown(id)])
    }
}
