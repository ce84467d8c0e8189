import CaptureBus
package import CaptureCore

extension SessionSummary: BusRecord {
    /// What `ListSessions` tells.
    package static let fields: [BusField<SessionSummary>] = [
        BusField("id", \.id, isRequired: true, write: { .uint32($0) }) { $0.integer(as: UInt32.self) },
        // Follows from the number.
        BusField("path", \.id, write: { .objectPath(CaptureNames.sessionPath($0)) }) { _ in nil },
        BusField("state", \.status.state, isRequired: true), BusField("reasonCode", \.status.reasonCode),
        BusField("reason", \.status.sentence), BusField("program", \.program), BusField("user", \.user),
        BusField("attached", \.isAttached),
        BusField("description", \.description, isRequired: true, write: { $0?.busValue }) {
            try? SessionDescription(busValue: $0)
        },
    ]
}

extension SessionState: BusFieldValue {}

extension SessionStatus {
    /// The code of the reason; empty for none.
    fileprivate var reasonCode: String {
        get { reason?.code.rawValue ?? "" }
        set { reason = newValue.isEmpty ? nil : CaptureError(.init(rawValue: newValue), "") }
    }

    /// The reason, once its code is known.
    fileprivate var sentence: String {
        get { reason?.message ?? "" }
        set { reason = reason.map { CaptureError($0.code, newValue) } }
    }
}
