import CaptureKit

/// A change of a setting, as `NAME=VALUE` puts it.
struct ControlSetting: Equatable {
    var name: String
    var value: Int64

    /// Reads a change.
    ///
    /// - Throws: `.invalidArgument` for a name that the device does not know or a value that the setting does not take.
    init(_ text: String, among controls: [DeviceControl]) throws(CaptureError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let control = try ControlSetting.find(parts[0], among: controls)
        name = control.name
        value = try ControlSetting.value(parts.count > 1 ? parts[1] : "", of: control)
    }

    /// The control of a name.
    static func find(_ name: String, among controls: [DeviceControl]) throws(CaptureError) -> DeviceControl {
        if let found = controls.control(named: name) { return found }
        let known = controls.isEmpty ? "none" : controls.map { Printable.text($0.name) }.joined(separator: ", ")
        throw CaptureError(.invalidArgument, "the device has no setting '\(Printable.text(name))'; it has: \(known)")
    }

    /// The controls of some names.
    static func find(_ names: [String], among controls: [DeviceControl]) throws(CaptureError) -> [DeviceControl] {
        try names.map { name throws(CaptureError) in try find(name, among: controls) }
    }

    private static func value(_ text: String, of control: DeviceControl) throws(CaptureError) -> Int64 {
        func wrong(_ right: String) -> CaptureError {
            CaptureError(.invalidArgument, "\(control.name) takes \(right), not '\(Printable.text(text))'")
        }
        switch control.kind {
        case .button:
            guard text.isEmpty || text == "1" else { throw wrong("no value but 1") }
            return 1
        case .boolean:
            switch text.lowercased() {
            case "1", "on", "yes", "true": return 1
            case "0", "off", "no", "false": return 0
            default: throw wrong("1 or 0")
            }
        case .menu:
            if let number = Int64(text), control.choices[number] != nil { return number }
            let word = text.lowercased()
            if let found = control.choices.first(where: { $0.value.lowercased() == word }) { return found.key }
            let known = control.choices.sorted { $0.key < $1.key }.map { "\($0.key) (\(Printable.text($0.value)))" }
            throw wrong(known.joined(separator: ", "))
        case .integer:
            guard let number = Int64(text), number >= control.minimum, number <= control.maximum else {
                throw wrong("a whole number from \(control.minimum) to \(control.maximum)")
            }
            return number
        case .rectangle:
            guard let rectangle = PixelRectangle(text) else { throw wrong("left, top and size, as in 160,120,640x480") }
            try control.check(rectangle)
            return rectangle.number ?? control.value
        }
    }
}

/// Settings as rows and as JSON.
enum ControlPresentation {
    /// - Parameter profile: What the device's profile holds. Without one there is no column for it.
    static func table(_ controls: [DeviceControl], _ profile: [ProfileSetting] = []) -> Table {
        let column: [Column] = profile.isEmpty ? [] : [">PROFILE"]
        var table = Table(
            [.name("NAME"), ">VALUE"] + column + [
                .text("RANGE"), .optional(">DEFAULT"), .text("STATE"), .optional("KIND"),
                .detail("ID"), .optional("LABEL"),
            ]
        )
        for control in controls {
            let saved = profile.isEmpty ? [] : [self.saved(control, in: profile).map(value) ?? ""]
            table.add(
                [control.name, value(control)] + saved + [
                    range(control), standard(control),
                    state(control), control.kind.rawValue, control.id.map { DeviceControl.text(ofID: $0) } ?? "",
                    control.label,
                ]
            )
        }
        return table
    }

    /// The control as its profile has it.
    private static func saved(_ control: DeviceControl, in profile: [ProfileSetting]) -> DeviceControl? {
        profile.first { $0.name == control.name }.map {
            var saved = control
            saved.value = $0.value
            return saved
        }
    }

    /// Why a value of the profile is not in effect.
    static func fault(of setting: ProfileSetting) -> String? {
        setting.fault.map {
            "the profile's value of '\(Printable.text(setting.name))' was left out: \(Printable.text($0))"
        }
    }

    /// A change as a line.
    static func change(_ control: DeviceControl, at time: String) -> String {
        let words = [time, Printable.text(control.name), value(control), Printable.text(state(control))]
        return words.filter { !$0.isEmpty }.joined(separator: "  ")
    }

    private static func value(_ control: DeviceControl) -> String {
        if let rectangle = control.rectangle { return "\(rectangle)" }
        return control.kind == .button ? "" : "\(control.value)"
    }

    private static func standard(_ control: DeviceControl) -> String {
        if let rectangle = control.defaultRectangle { return "\(rectangle)" }
        return control.kind == .button ? "" : "\(control.defaultValue)"
    }

    /// Why it cannot be changed now, and what a menu's number stands for.
    private static func state(_ control: DeviceControl) -> String {
        let flags = control.flags.map(\.rawValue).sorted().joined(separator: ", ")
        guard control.kind == .menu, let choice = control.choices[control.value] else { return flags }
        return flags.isEmpty ? choice : "\(choice) (\(flags))"
    }

    static func json(_ control: DeviceControl, among profile: [ProfileSetting] = []) -> JSON {
        let saved = saved(control, in: profile)
        let fault = profile.first { $0.name == control.name }?.fault
        let isNumber = control.kind != .rectangle
        return [
            "name": JSON(control.name), "label": JSON(control.label), "kind": JSON(control.kind.rawValue),
            "value": control.rectangle.map(json) ?? JSON(control.value),
            "profile": saved.map { $0.rectangle.map(json) ?? JSON($0.value) } ?? .null, "profileFault": JSON(fault),
            "minimum": isNumber ? JSON(control.minimum) : .null, "maximum": isNumber ? JSON(control.maximum) : .null,
            "step": isNumber ? JSON(control.step) : .null, "bounds": control.bounds.map(json) ?? .null,
            "default": control.defaultRectangle.map(json) ?? JSON(control.defaultValue),
            "writable": JSON(control.isWritable),
            "id": control.id.map { JSON(DeviceControl.text(ofID: $0)) } ?? .null,
            "unit": control.unit.map { JSON($0) } ?? .null,
            "flags": .array(control.flags.map(\.rawValue).sorted().map { JSON($0) }),
            "choices": .object(
                control.choices.sorted { $0.key < $1.key }.map { JSON.Member(key: "\($0.key)", value: JSON($0.value)) }
            ),
        ]
    }

    private static func json(_ rectangle: PixelRectangle) -> JSON {
        [
            "left": JSON(rectangle.left), "top": JSON(rectangle.top), "width": JSON(rectangle.width),
            "height": JSON(rectangle.height),
        ]
    }

    private static func range(_ control: DeviceControl) -> String {
        switch control.kind {
        case .integer:
            "\(control.minimum) to \(control.maximum)" + (control.step > 1 ? " by \(control.step)" : "")
                + (control.unit.map { " (\($0))" } ?? "")
        case .boolean: "0 or 1"
        case .menu: control.choices.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        case .button: ""
        case .rectangle: "within \(control.bounds.map(\.description) ?? "")"
        }
    }
}
