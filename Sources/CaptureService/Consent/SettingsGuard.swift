import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureSystem
import Glibc

/// Who may change consent and answer prompts.
struct SettingsGuard: Sendable {
    /// The polkit actions, and what is lacking where they are refused.
    private enum Action: String {
        case loosen = "org.capturekit.capture1.loosen-consent"
        case switchOn = "org.capturekit.capture1.switch-on"
        case switchOff = "org.capturekit.capture1.switch-off"
        case changeProfile = "org.capturekit.capture1.change-profile"

        var refusal: String {
            switch self {
            case .loosen: "allowing more takes your password, which was not given; allowing less takes none"
            case .switchOn: "switching on takes your password, which was not given"
            case .switchOff:
                "switching off from elsewhere takes an administrator's password, which was not given; at this machine it "
                    + "takes none"
            case .changeProfile:
                "a device's profile counts for every program, so changing it takes your password, which was not given"
            }
        }
    }

    let bus: BusConnection
    let kind: BusKind
    /// The command line that ships with this daemon: the one program whose inline agent is believed.
    let commandLine: String
    /// Who sits at this machine.
    let logins: LoginSessions
    /// A person may take minutes for each, and the bus allows a connection 128 pending answers in all, including those of
    /// agents and the service manager.
    private let dialogs = BusyLimit(
        mostOfUser: 4,
        most: 64,
        "too many password dialogs are open; answer those first"
    )

    /// Whether a caller may change the answers of a user.
    ///
    /// The answers for a service or a dedicated user count for everybody. The person who sits at the machine may deny
    /// them or take a yes back at any time, as an agent may. Only root may loosen them in settings.
    ///
    /// - Parameters:
    ///   - owner: The user whose answers they are; `nil` for everybody's.
    ///   - program: The program's id; empty for all programs.
    ///   - loosening: What becomes possible that was not, in words that follow a "to"; `nil` for nothing. It takes the
    ///     user's own password through polkit, whose dialog shows these words.
    /// - Throws: `.notPermitted`; `.busy` while the same user has too many password dialogs open.
    func allow(
        _ client: SessionClient,
        on owner: UInt32?,
        of program: String,
        loosening: String? = nil
    ) async throws(CaptureError) {
        if client.identity.user == 0 { return }
        try checkPerson(client, "change consent")
        if ClientIdentity.isMachines(program) {
            guard loosening == nil, sitsHere(client.identity) else {
                let what = loosening == nil ? "change it" : "allow more"
                throw CaptureError(
                    .notPermitted,
                    "the answer for \(program) counts for everybody, so only root may \(what); the person at this machine may "
                        + "only deny it or forget a yes"
                )
            }
            return
        }
        guard owner == client.identity.user else {
            throw CaptureError(.notPermitted, "only root may change another user's answers")
        }
        if let loosening, kind == .system { try await askPolkit(client, .loosen, to: loosening) }
    }

    /// Whether a caller is in the login session that questions about the machine's programs are put to.
    private func sitsHere(_ client: ClientIdentity) -> Bool {
        logins.active().map { logins.isThere(client, of: $0) } ?? false
    }

    /// Whether a caller may turn a switch, which is everybody's.
    ///
    /// - Throws: `.notPermitted`.
    func allowSwitch(_ client: SessionClient, _ service: Service, on isOn: Bool) async throws(CaptureError) {
        if client.identity.user == 0 { return }
        try checkPerson(client, "turn switches")
        guard kind == .system else { return }
        // The same as polkit's rule, because polkit cannot be asked here.
        if !client.isOnBus, !isOn, sitsHere(client.identity) { return }
        let what = "switch \(service.title) \(isOn ? "on again" : "off") for all programs"
        try await askPolkit(client, isOn ? .switchOn : .switchOff, to: what)
    }

    /// Whether a caller may change the profile of a device, which is everybody's.
    ///
    /// - Parameter what: What it does, in words that follow a "to"; polkit's dialog shows them.
    /// - Throws: `.notPermitted`; `.busy` while the same user has too many password dialogs open.
    func allowProfile(_ client: SessionClient, to what: String) async throws(CaptureError) {
        if client.identity.user == 0 { return }
        try checkPerson(client, "change a device's profile")
        if kind == .system { try await askPolkit(client, .changeProfile, to: what) }
    }

    /// Whether a caller may register an agent and answer.
    func mayAnswer(_ client: SessionClient) throws(CaptureError) { try checkPerson(client, "answer prompts") }

    private func checkPerson(_ client: SessionClient, _ what: String) throws(CaptureError) {
        guard client.identity.tier == .claimed || client.identity.user == 0 else {
            throw CaptureError(
                .notPermitted,
                "only people may \(what); a program of tier \(client.identity.tier.rawValue) may not"
            )
        }
    }

    /// An inline agent is believed for the shipped command line alone, in the foreground of its own terminal: there, who
    /// types is who started it.
    func isOwnTerminal(_ client: SessionClient) async throws(CaptureError) {
        guard let executable = client.identity.running, executable.path == commandLine else {
            throw CaptureError(.notPermitted, "only \(commandLine) may have an inline agent")
        }
        let facts = try await bus.credentials(of: client.connection)
        guard facts.terminal != 0, facts.isForeground else {
            throw CaptureError(.notPermitted, "an inline agent must be in the foreground of its own terminal")
        }
    }

    private func askPolkit(_ client: SessionClient, _ action: Action, to what: String) async throws(CaptureError) {
        guard client.isOnBus else {
            throw CaptureError(
                .unreachable,
                "cannot \(what): it takes a password, which only the bus can ask for; use sudo"
            )
        }
        try dialogs.begin(for: client.identity.user)
        defer { dialogs.end(for: client.identity.user) }
        let isAllowed: Bool
        do throws(CaptureError) {
            isAllowed = try await Polkit(bus: bus).allows(
                action.rawValue,
                to: client.connection,
                message: "Authentication is required to \(what); \(client.identity.program) asks for it",
                timeout: 120
            )
        } catch {
            throw CaptureError(
                .notPermitted,
                "cannot ask polkit whether you may do that (\(error)); root may, with sudo"
            )
        }
        guard isAllowed else { throw CaptureError(.notPermitted, action.refusal) }
        // A password takes a while: who asked must still be who it was before anything is changed.
        guard client.identity.isUnchanged(in: try await client.identifyAgain()) else {
            throw CaptureError(
                .notPermitted,
                "the program behind the connection changed while the password was typed; nothing was changed"
            )
        }
    }
}
