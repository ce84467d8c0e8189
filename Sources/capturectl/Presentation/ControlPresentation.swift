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
        if let found = controls.first(where: { $0.name == name }) { return found }
        let known = controls.isEmpty ? "none" : controls.map { Printable.text($0.name) }.joined(separator: ", ")
        throw CaptureError(.invalidArgument, "the device has no setting '\(Printable.text(name))'; it has: \(known)")
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
        }
    }
}

/// Settings as rows and as JSON.
enum ControlPresentation {
    static func table(_ controls: [DeviceControl]) -> Table {
        var table = Table([
            .name("NAME"), ">VALUE", .optional("KIND"), .name("RANGE"), .optional(">DEFAULT"), .text("LABEL"),
        ])
        for control in controls {
            table.add([
                control.name, control.kind == .button ? "" : "\(control.value)", control.kind.rawValue,
                range(control), control.kind == .button ? "" : "\(control.defaultValue)",
                control.label + (control.isWritable ? "" : " (cannot be changed now)"),
            ])
        }
        return table
    }

    static func json(_ control: DeviceControl) -> JSON {
        [
            "name": JSON(control.name), "label": JSON(control.label), "kind": JSON(control.kind.rawValue),
            "value": JSON(control.value), "minimum": JSON(control.minimum), "maximum": JSON(control.maximum),
            "step": JSON(control.step), "default": JSON(control.defaultValue), "writable": JSON(control.isWritable),
            "choices": .object(
                control.choices.sorted { $0.key < $1.key }.map { JSON.Member(key: "\($0.key)", value: JSON($0.value)) }
            ),
        ]
    }

    private static func range(_ control: DeviceControl) -> String {
        switch control.kind {
        case .integer:
            "\(control.minimum) to \(control.maximum)" + (control.step > 1 ? " by \(control.step)" : "")
        case .boolean: "0 or 1"
        case .menu: control.choices.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        case .button: ""
        }
    }
}
