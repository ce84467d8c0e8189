import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine

/// The switch of each service.
extension AuthorizationObject {
    /// Whether each service of devices is on.
    static func properties(of switches: Switches) -> [String: BusValue] {
        let entries = Service.ofDevices.map { BusEntry(.string($0.rawValue), .bool(!switches.isOff($0))) }
        return ["Switches": .dictionary("sb", entries)]
    }

    func setSwitch(_ call: BusCall) async throws(CaptureError) {
        let client = try await callers.client(call.sender)
        let service = try call.arguments.service(0)
        guard let isOn = try call.arguments.argument(1).boolean else {
            throw CaptureError(.invalidArgument, "the switch's state must be a boolean")
        }
        try await setSwitch(for: client, service, isOn: isOn)
    }

    /// Turns a service off or on for every program.
    func setSwitch(for client: SessionClient, _ service: Service, isOn: Bool) async throws(CaptureError) {
        guard Service.ofDevices.contains(service) else {
            let known = Service.ofDevices.map(\.rawValue).joined(separator: " or ")
            throw CaptureError(.invalidArgument, "there is no switch for \(service.rawValue), only for \(known)")
        }
        try await settings.allowSwitch(client, service, on: isOn)
        // Looked up here: that may take a while.
        let user = Users.name(of: client.identity.user)
        var fault: CaptureError?
        do throws(CaptureError) {
            // Told in the gate's own turn: of two at a time, the one that came last is shown and noted last.
            try await gate.setSwitch(service, isOn: isOn, awaitingFiles: client.isOnBus) { switches in
                note(service, isOn: isOn, by: client.identity, of: user)
                Journal.attempt("announce a turned switch") { () throws(CaptureError) in try showSwitches(switches) }
            }
        } catch {
            // It may be off though that could not be kept.
            fault = error
        }
        if isOn { await engine.resume() }
        if let fault { throw fault }
    }

    /// Tells the history and the journal of a switch that was turned.
    private func note(_ service: Service, isOn: Bool, by client: ClientIdentity, of user: String) {
        history.keeper.note(switch: service, isOn: isOn, by: client)
        Journal.send(
            "\(client.program) of \(user) switches \(service.title) " + (isOn ? "on" : "off"),
            fields: [
                "CAPTURE_SWITCH": isOn ? "on" : "off", "CAPTURE_SERVICE": service.rawValue,
                "CAPTURE_PROGRAM": client.program, "CAPTURE_USER": "\(client.user)",
            ]
        )
    }
}
