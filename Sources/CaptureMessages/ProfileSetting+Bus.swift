import CaptureBus
package import CaptureCore

extension ProfileSetting: BusRecord {
    /// What `GetProfile` tells.
    package static let fields: [BusField<ProfileSetting>] = [
        BusField("name", \.name, isRequired: true), BusField("value", \.value, isRequired: true),
        BusField("fault", \.fault),
    ]
}
