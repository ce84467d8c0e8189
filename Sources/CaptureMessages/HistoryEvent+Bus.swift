import CaptureBus
package import CaptureCore

extension HistoryEvent: BusRecord {
    /// What `GetHistory` tells.
    package static let fields: [BusField<HistoryEvent>] = [
        BusField("id", \.id), BusField("kind", \.kind), BusField("user", \.user), BusField("program", \.program),
        BusField("tier", \.tier), BusField("service", \.service), BusField("device", \.device),
        BusField("device-name", \.deviceName), BusField("cause", \.cause), BusField("status", \.status),
        BusField("began", \.began), BusField("ended", \.ended, none: .int64(0)), BusField("duration", \.duration),
        BusField("outcome", \.outcome), BusField("message", \.message), BusField("pid", \.processID),
        BusField("session", \.session), BusField("times", \.times), BusField("author-user", \.authorUser),
        BusField("author-program", \.authorProgram),
    ]
}
