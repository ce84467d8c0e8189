import Authorization
import CaptureBus
import CaptureCore
import CaptureSystem

extension BridgedPrograms {
    /// A process, as a bridge names it.
    struct NamedProcess: Sendable {
        /// Its number; 0 where it is not known.
        var number: Int32
        /// When it started, as `/proc/PID/stat` has it.
        var startTime: UInt64
    }

    /// Tells the history and the journal of a program that connected itself to what another one captures through a bridge.
    ///
    /// - Parameters:
    ///   - stranger: Who connected itself. It may have ended since.
    ///   - other: Who captures.
    /// - Throws: `.notPermitted` unless the caller is the bridge, and one of the two can be identified.
    func report(
        _ stranger: NamedProcess,
        connectedTo other: NamedProcess,
        of service: AuthorizationService,
        by caller: ClientIdentity
    ) async throws(CaptureError) {
        try await check(caller)
        let known = stranger.number > 0 ? try? await identify(stranger.number, stranger.startTime, caller.user) : nil
        let victim: ClientIdentity?
        do throws(CaptureError) {
            victim = try await identify(other.number, other.startTime, caller.user)
        } catch {
            guard known != nil else { throw error }
            victim = nil
        }
        guard let client = known ?? victim else { return }
        let who = BridgedPrograms.words(known, stranger, "a program that PipeWire does not show")
        let whose = BridgedPrograms.words(victim, other, "another program")
        let message = "\(who) connected itself to what \(whose) gets of \(service.title), which ended both"
        history.note(stranger: client, to: service, message)
        refusals.tell(
            message,
            kind: "\(client.program) \(Decision.Cause.connectedItself.rawValue)",
            fields: ["CAPTURE_CAUSE": Decision.Cause.connectedItself.rawValue, "CAPTURE_SERVICE": service.rawValue],
            of: client
        )
    }

    private static func words(_ client: ClientIdentity?, _ named: NamedProcess, _ unknown: String) -> String {
        if let client { return "\(client.program) (process \(client.pid))" }
        return named.number > 0 ? "process \(named.number)" : unknown
    }
}
