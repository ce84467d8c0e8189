public import CaptureBus
public import CaptureCore
import Synchronization

/// A backend of the desktop's portals, played by the test: each dialog is answered at once.
public final class FakeDesktop: Sendable {
    /// A dialog that it was to show.
    public struct Dialog: Sendable {
        /// The question.
        public let title: String
        /// The ids of the rows to tick.
        public let rows: [String]
    }

    /// What a person does with a dialog: the response, and the results' `choices`.
    public typealias Person = @Sendable (Dialog) throws(CaptureError) -> (UInt32, BusValue?)

    /// Its name on the bus; of those that a bus can start programs for, the first.
    public static let name = "org.freedesktop.impl.portal.desktop.a"

    private static let access = BusInterface(
        "org.freedesktop.impl.portal.Access",
        methods: [
            BusMethod(
                "AccessDialog",
                [
                    BusArgument("handle", "o"), BusArgument("app_id", "s"), BusArgument("parent_window", "s"),
                    BusArgument("title", "s"), BusArgument("subtitle", "s"), BusArgument("body", "s"),
                    BusArgument("options", "a{sv}"),
                ],
                returns: [BusArgument("response", "u"), BusArgument("results", "a{sv}")]
            )
        ]
    )

    private let connection: BusConnection
    private let seen = Mutex<[Dialog]>([])

    /// The dialogs so far.
    public var dialogs: [Dialog] { seen.withLock { $0 } }

    /// Appears on a bus.
    public init(on bus: PrivateBus, _ person: @escaping Person) async throws {
        connection = try await BusConnection.open(bus.kind)
        let show: BusHandler = { [weak self] call throws(CaptureError) in
            let rows = call.arguments[6].properties?["choices"]?.elements ?? []
            let dialog = Dialog(
                title: call.arguments[3].text ?? "",
                rows: rows.compactMap { $0.elements?.first?.text }
            )
            self?.seen.withLock { $0.append(dialog) }
            let (response, choices) = try person(dialog)
            return [.uint32(response), .properties(choices.map { ["choices": $0] } ?? [:])]
        }
        try await connection.export(
            try BusObject(
                path: "/org/freedesktop/portal/desktop",
                [BusImplementation(FakeDesktop.access, methods: ["AccessDialog": show])]
            )
        )
        try await connection.requestName(FakeDesktop.name)
    }
}
