import CaptureBus
public import CaptureCore
import CaptureKit

/// Keeps the denials of sandboxed programs in the desktop's store of permissions, so that its camera portal refuses them
/// too; and denials only.
///
/// What the store says is never taken for an answer. Looked at is just which denials were put there from here, in a table
/// of our own beside them: a `no` that the person gave the desktop itself stays when ours is lifted, and a lifted one
/// leaves no permission behind, so that the desktop asks. Thread-safe; changes are made in the order of the calls when
/// these wait for each other.
public struct DenialMirror: Sendable {
    /// Where the desktop's portals look.
    static let table = "devices"
    /// Which of its denials are ours.
    static let ownTable = "org.capturekit.Capture1"
    private static let refusal = ["no"]
    private static let services: [AuthorizationService] = [.camera, .microphone]

    private let panel: AuthorizationPanel
    private let store: PermissionStore

    init(of daemon: CaptureDaemon, in store: PermissionStore) {
        panel = AuthorizationPanel(on: daemon)
        self.store = store
    }

    /// Whether denials of a program are kept in the store.
    public static func concerns(_ program: String) -> Bool { application(of: program) != nil }

    /// The name that the desktop's portals have for a program: a Flatpak's own, a snap's after `snap.`; `nil` for others.
    static func application(of program: String) -> String? {
        for (kind, prefix) in [("flatpak:", ""), ("snap:", "snap.")] where program.hasPrefix(kind) {
            let name = program.dropFirst(kind.count)
            return name.isEmpty ? nil : prefix + name
        }
        return nil
    }

    /// The program of such a name. A Flatpak's has two dots and more, a snap's the one.
    static func program(of application: String) -> String {
        let parts = application.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 2 && parts[0] == "snap" ? "snap:\(parts[1])" : "flatpak:\(application)"
    }

    /// Brings the store up to date: with denials that were given or lifted while nobody looked, too.
    ///
    /// - Throws: `unreachable` when the daemon or the store is not there.
    public func update() async throws(CaptureError) {
        let denied = try await denials()
        for service in DenialMirror.services {
            let here = denied[service] ?? []
            let ours = try await store.permissions(table: DenialMirror.ownTable, id: service.rawValue).keys
            for program in here.union(ours.map(DenialMirror.program)).sorted() {
                try await put(program, service, isDenied: here.contains(program))
            }
        }
    }

    /// Brings the store up to date for one program.
    ///
    /// - Throws: `unreachable` when the daemon or the store is not there.
    public func update(_ program: String) async throws(CaptureError) {
        guard DenialMirror.concerns(program) else { return }
        let denied = try await denials()
        for service in DenialMirror.services {
            try await put(program, service, isDenied: denied[service]?.contains(program) == true)
        }
    }

    /// The programs whose stored answer is no. What is stored, not what would happen: a policy that stands above an
    /// answer for a while does not lift it.
    private func denials() async throws(CaptureError) -> [AuthorizationService: Set<String>] {
        let user = try await panel.whoAmI().user
        var programs: [AuthorizationService: Set<String>] = [:]
        for entry in try await panel.entries()
        where entry.user == user && entry.stored == .denied && DenialMirror.concerns(entry.program) {
            if let service = AuthorizationService(rawValue: entry.service) {
                programs[service, default: []].insert(entry.program)
            }
        }
        return programs
    }

    private func put(
        _ program: String,
        _ service: AuthorizationService,
        isDenied: Bool
    ) async throws(CaptureError) {
        guard let application = DenialMirror.application(of: program) else { return }
        let id = service.rawValue
        let there = try await store.permissions(table: DenialMirror.table, id: id)[application]
        let isOurs = try await store.permissions(table: DenialMirror.ownTable, id: id)[application] != nil
        if isDenied {
            guard there != DenialMirror.refusal else { return }
            // Marked first: what is written and not marked would never be lifted.
            try await store.set(table: DenialMirror.ownTable, id: id, application: application, DenialMirror.refusal)
            try await store.set(table: DenialMirror.table, id: id, application: application, DenialMirror.refusal)
        } else if isOurs {
            if there == DenialMirror.refusal {
                try await store.remove(table: DenialMirror.table, id: id, application: application)
            }
            try await store.remove(table: DenialMirror.ownTable, id: id, application: application)
        }
    }
}
