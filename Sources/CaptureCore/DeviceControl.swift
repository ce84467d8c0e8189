/// A camera's or microphone's setting, after V4L2's controls.
public struct DeviceControl: Hashable, Sendable {
    /// The kind of a control's values.
    public enum Kind: String, Sendable {
        /// A whole number.
        case integer
        /// 0 or 1.
        case boolean
        /// One of the named choices.
        case menu
        /// An action without a value.
        case button
        /// A part of the picture, as `PixelRectangle.number` writes it.
        case rectangle
    }

    /// A property of a control beyond its range.
    public enum Flag: String, CaseIterable, Sendable {
        /// It tells something, as a privacy shutter does, and is never written.
        case readOnly = "read-only"
        /// The device changes it by itself.
        case volatile
        /// Another setting disables it, as automatic focus does the focus.
        case inactive
        /// It cannot be written while the device streams.
        case busy
        /// It is the maker's own, and the administrator's configuration does not name it.
        case restricted
    }

    /// V4L2's number for it; `nil` for a setting that does not come from V4L2.
    public var id: UInt32?
    /// A name that does not depend on the kernel's words: V4L2's in lower case, as in `focus_absolute`; the number, as in
    /// `0x0a046d71`, if V4L2 has no name.
    public var name: String
    /// The driver's own words.
    public var label: String
    /// The kind of its values.
    public var kind: Kind
    /// The least value; of a rectangle one pixel.
    public var minimum: Int64
    /// The greatest value; of a rectangle the one in which all others lie.
    public var maximum: Int64
    /// The step between values.
    public var step: Int64
    /// The value after a reset.
    public var defaultValue: Int64
    /// The value now.
    public var value: Int64
    /// The unit of its values, as in `K` or `100 µs`; `nil` if V4L2 names no unit.
    public var unit: String?
    /// The choices of a menu, by value.
    public var choices: [Int64: String]
    /// Its properties beyond the range.
    public var flags: Set<Flag>

    /// Whether it can be written now.
    public var isWritable: Bool { flags.isDisjoint(with: [.readOnly, .inactive, .busy, .restricted]) }

    /// A control of the given properties.
    public init(
        id: UInt32? = nil,
        name: String,
        label: String,
        kind: Kind,
        minimum: Int64,
        maximum: Int64,
        step: Int64,
        defaultValue: Int64,
        value: Int64,
        unit: String? = nil,
        choices: [Int64: String] = [:],
        flags: Set<Flag> = []
    ) {
        self.id = id
        self.name = name
        self.label = label
        self.kind = kind
        self.minimum = minimum
        self.maximum = maximum
        self.step = step
        self.defaultValue = defaultValue
        self.value = value
        self.unit = unit
        self.choices = choices
        self.flags = flags
    }
}

extension DeviceControl {
    /// V4L2's number of a control as text, as in `0x009a090a`.
    public static func text(ofID id: UInt32) -> String { "0x" + String(id, digits: 8, radix: 16) }

    /// A label in lower case: letters and digits, and an underscore for all between them. `v4l2-ctl` names controls so.
    public static func name(of label: String) -> String {
        var name = ""
        var isGap = false
        for scalar in label.unicodeScalars {
            let isWord = scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
            guard isWord else {
                isGap = true
                continue
            }
            if isGap, !name.isEmpty { name += "_" }
            isGap = false
            name += scalar.properties.lowercaseMapping
        }
        return name
    }

    /// Makes sure that the control takes a value.
    ///
    /// - Parameter value: Any value for a button.
    /// - Throws: `invalidArgument` naming the range, the step or the choices.
    public func check(_ value: Int64) throws(CaptureError) {
        if kind == .button { return }
        if kind == .rectangle { return try check(PixelRectangle(number: value)) }
        if kind == .menu, !choices.isEmpty {
            guard choices[value] == nil else { return }
            let offered = choices.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value))" }
            throw CaptureError(
                .invalidArgument,
                "\(value) is no choice of '\(name)', which are \(offered.joined(separator: ", "))"
            )
        }
        guard value >= minimum, value <= maximum else {
            throw CaptureError(.invalidArgument, "\(value) is out of range for '\(name)', \(minimum) to \(maximum)")
        }
        let distance = UInt64(bitPattern: value &- minimum)
        guard step <= 1 || distance % UInt64(step) == 0 else {
            throw CaptureError(.invalidArgument, "'\(name)' goes from \(minimum) to \(maximum) in steps of \(step)")
        }
    }

    /// Makes sure that a rectangle is not empty and lies within the bounds.
    ///
    /// - Throws: `invalidArgument` naming the bounds.
    public func check(_ rectangle: PixelRectangle) throws(CaptureError) {
        let bounds = PixelRectangle(number: maximum)
        if bounds.contains(rectangle) { return }
        throw CaptureError(
            .invalidArgument,
            "'\(name)' is a rectangle of at least 1x1 pixels within \(bounds), which \(rectangle) is not"
        )
    }

    /// Makes sure that the control may be written now.
    ///
    /// - Throws: `invalidArgument` if it is only for reading, `notPermitted` for a maker's own control that the
    ///   configuration does not name, `wrongState` while another setting disables it.
    public func checkWritable() throws(CaptureError) {
        if flags.contains(.readOnly) {
            throw CaptureError(.invalidArgument, "the control '\(name)' can only be read")
        }
        if flags.contains(.restricted) {
            throw CaptureError(
                .notPermitted,
                "the control '\(name)' is the camera maker's own; an administrator allows it with VendorControls= in "
                    + "captured.conf"
            )
        }
        if flags.contains(.inactive) {
            throw CaptureError(.wrongState, "the control '\(name)' is disabled by another setting")
        }
    }
}

/// What a rectangle has in place of numbers; `nil` for other kinds.
extension DeviceControl {
    /// The value now.
    public var rectangle: PixelRectangle? { kind == .rectangle ? PixelRectangle(number: value) : nil }
    /// The value after a reset.
    public var defaultRectangle: PixelRectangle? { kind == .rectangle ? PixelRectangle(number: defaultValue) : nil }
    /// The largest value, in which all others lie.
    public var bounds: PixelRectangle? { kind == .rectangle ? PixelRectangle(number: maximum) : nil }

    /// The name of the control that says which part of its picture a camera delivers. V4L2 has a selection rectangle for it
    /// and no control.
    public static let cropName = "crop"

    /// The control for that part; `nil` if the default or the value now does not lie within the bounds.
    public static func crop(_ now: PixelRectangle, bounds: PixelRectangle, standard: PixelRectangle) -> DeviceControl? {
        let pixel = PixelRectangle(left: bounds.left, top: bounds.top, width: 1, height: 1)
        guard bounds.contains(now), bounds.contains(standard), let minimum = pixel.number,
            let maximum = bounds.number, let value = now.number, let defaultValue = standard.number
        else { return nil }
        return DeviceControl(
            name: cropName,
            label: "Crop",
            kind: .rectangle,
            minimum: minimum,
            maximum: maximum,
            step: 1,
            defaultValue: defaultValue,
            value: value,
            unit: "pixels"
        )
    }
}

extension Collection<DeviceControl> {
    /// The control of a name, of a number as `DeviceControl.text(ofID:)` writes it, or of a label in lower case.
    public func control(named name: String) -> DeviceControl? {
        first { $0.name == name } ?? first { $0.id.map { DeviceControl.text(ofID: $0) } == name }
            ?? first { DeviceControl.name(of: $0.label) == name }
    }
}
