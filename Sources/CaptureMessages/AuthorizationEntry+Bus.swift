import CaptureBus
package import CaptureCore

extension AuthorizationEntry: BusRecord {
    /// What `List` tells.
    package static let fields: [BusField<AuthorizationEntry>] = [
        BusField("user", \.user), BusField("program", \.program), BusField("service", \.service),
        BusField("status", \.status), BusField("stored", \.stored), BusField("policy", \.policy),
        BusField("follows", \.follows), BusField("tier", \.tier), BusField("reason", \.reason),
        BusField("usage", \.usage), BusField("time", \.milliseconds), BusField("detail", \.detail),
        BusField("lifetime", \.lifetime), BusField("ends", \.ends, none: .int64(0)),
        BusField(among: \.file),
    ]
}
