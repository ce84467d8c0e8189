import CaptureBus
package import CaptureCore

extension LiveUse: BusRecord {
    /// What `ListUses` and `UseChanged` tell.
    package static let fields: [BusField<LiveUse>] = [
        BusField("id", \.id, isRequired: true), BusField("state", \.phase, isRequired: true),
        BusField("service", \.service), BusField("device", \.device), BusField("device-name", \.deviceName),
        BusField("user", \.user), BusField("program", \.program), BusField("name", \.name), BusField("tier", \.tier),
        BusField("session", \.session), BusField("began", \.began), BusField("ended", \.ended, none: .int64(0)),
    ]
}

extension LiveUse.Phase: BusFieldValue {}
