import Authorization
import CaptureBus
import CaptureCore

/// Asks polkit whether a caller may do something, which may have the person type a password.
struct Polkit: Sendable {
    let bus: BusConnection

    /// Whether polkit allows an action to the process behind a connection.
    ///
    /// Cancelling the task closes the person's dialog. The caller's next call can begin meanwhile.
    ///
    /// - Parameters:
    ///   - action: As in `org.capturekit.capture1.switch-on`.
    ///   - connection: The connection's unique name.
    ///   - message: What the person's dialog says instead of the action's own message; `nil` for that. Neutralized here.
    ///   - timeout: Seconds, at least a thousandth, for the person to answer in.
    /// - Throws: What kept polkit from answering.
    func allows(_ action: String, to connection: String, message: String? = nil, timeout: Double)
        async throws(CaptureError) -> Bool
    {
        BusTurn.end()
        let subject = BusValue.structure([
            .string("system-bus-name"),
            .dictionary("sv", [BusEntry(.string("name"), .variant(.string(connection)))]),
        ])
        // polkit tells the checks of one caller apart by this.
        let details = Polkit.details(message)
        let number = "captured-\(UInt64.random(in: 0...UInt64.max))"
        let answer = try await Task.run { () throws(CaptureError) in
            let arguments = [subject, .string(action), details, .uint32(1), .string(number)]
            return try await call("CheckAuthorization", "(sa{sv})sa{ss}us", arguments, timeout)
        } onCancel: {
            // One that is over already is not known to polkit any more.
            Task { try? await call("CancelCheckAuthorization", "s", [.string(number)], 10) }
        }
        return answer.first?.elements?.first?.boolean == true
    }

    /// polkit puts other details in place of `$(…)`, so that there is no such thing in a text of others.
    private static func details(_ message: String?) -> BusValue {
        guard let message else { return .dictionary("ss", []) }
        let text = DisplayText.neutralized(String(message.map { $0 == "$" ? "＄" : $0 }), limit: 400)
        return .dictionary("ss", [BusEntry(.string("polkit.message"), .string(text))])
    }

    @discardableResult
    private func call(
        _ member: String,
        _ signature: String,
        _ arguments: [BusValue],
        _ timeout: Double
    ) async throws(CaptureError) -> [BusValue] {
        try await bus.call(
            "org.freedesktop.PolicyKit1",
            "/org/freedesktop/PolicyKit1/Authority",
            "org.freedesktop.PolicyKit1.Authority",
            member,
            signature: signature,
            arguments,
            timeout: timeout
        )
    }
}
