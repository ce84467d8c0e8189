public import Authorization
import CLinux
public import CaptureCore
import CaptureSystem
import Glibc
import Logging

/// A camera's settings: V4L2's controls, written without touching format or stream.
///
/// Thread-safe. The node is open as long as this lives, which disturbs nobody who streams from it.
public final class V4L2Controls: Sendable {
    /// The most controls to ask for, and the most menu entries of all controls together.
    private static let mostControls = 1024
    private static let mostMenuCalls = 16_384

    private let node: V4L2Node

    /// Opens a camera's settings.
    ///
    /// - Parameters:
    ///   - device: The camera, as a probe or monitor described it.
    ///   - grant: A live grant for cameras.
    /// - Throws: `notPermitted` or `revoked` for the grant, `noSuchDevice`, `busy`.
    public static func open(_ device: DeviceDescription, grant: Grant) throws(CaptureError) -> V4L2Controls {
        V4L2Controls(try V4L2Node.open(device, grant: grant))
    }

    init(_ node: V4L2Node) {
        self.node = node
    }

    /// Every control that has one number for a value, in the driver's order; classes and disabled ones are left out.
    ///
    /// If the camera stops answering, the list has the controls read so far, and the log says so.
    ///
    /// - Throws: `deviceLost` when the camera went away, `inputOutput` when it tells of none.
    public func list() throws(CaptureError) -> [DeviceControl] {
        var menuCalls = V4L2Controls.mostMenuCalls
        let (entries, cut) = try raw()
        if let cut {
            guard !entries.isEmpty else { throw CaptureError(.inputOutput, cut) }
            log.notice("\(node.path) told of \(entries.count) controls and then of no more: \(cut)")
        }
        return entries.map { entry in
            // A value that cannot be read, as a button's, is shown as the default.
            let value = readable(entry) ? (try? read(entry)) : nil
            return describe(entry, value: value ?? entry.control.standard, &menuCalls)
        }
    }

    /// Writes a control.
    ///
    /// - Parameters:
    ///   - name: As `list()` has it.
    ///   - value: Within the control's range and on its steps; any value for a button.
    /// - Throws: `invalidArgument` naming the range or the known names, `busy` while the stream holds the control,
    ///   `wrongState` while another setting disables it, `deviceLost`, `inputOutput` when the camera did not tell all its
    ///   controls and this one is not among the others.
    public func set(_ name: String, to value: Int64) throws(CaptureError) {
        let (entries, cut) = try raw()
        guard let entry = entries.first(where: { $0.name == name }) else {
            if let cut { throw CaptureError(.inputOutput, cut) }
            let names = entries.map(\.name).joined(separator: ", ")
            throw CaptureError(
                .invalidArgument,
                "the camera has no control '\(name)'" + (names.isEmpty ? "" : "; it has \(names)")
            )
        }
        var menuCalls = V4L2Controls.mostMenuCalls
        let control = describe(entry, value: entry.control.standard, &menuCalls)
        guard entry.control.flags & UInt32(V4L2_CTRL_FLAG_READ_ONLY) == 0 else {
            throw CaptureError(.invalidArgument, "the control '\(name)' can only be read")
        }
        if control.kind != .button { try control.check(value) }
        do throws(SystemError) {
            try SystemError.check("set \(name) to \(value)") {
                clinux_v4l2_set_control(node.descriptor, entry.control.id, entry.is64Bit ? 1 : 0, value)
            }
        } catch {
            throw failure(error, name)
        }
    }

    /// Writes every control's default, except those that cannot be written now.
    ///
    /// - Throws: `deviceLost` when the camera went away.
    public func reset() throws(CaptureError) {
        for control in try list() where control.isWritable && control.kind != .button {
            do throws(CaptureError) {
                try set(control.name, to: control.defaultValue)
            } catch {
                // One setting may disable another as they are written.
                guard error.code == .busy || error.code == .wrongState else { throw error }
            }
        }
    }

    private struct Entry {
        var control: clinux_v4l2_control
        var name: String
        var label: String

        var is64Bit: Bool { control.type == V4L2_CTRL_TYPE_INTEGER64.rawValue }
    }

    /// The controls, and the error at which the camera ceased to tell of them.
    private func raw() throws(CaptureError) -> (entries: [Entry], cut: SystemError?) {
        var entries: [Entry] = []
        var control = clinux_v4l2_control()
        var last: UInt32 = 0
        for _ in 0..<V4L2Controls.mostControls {
            guard unsafe clinux_v4l2_next_control(node.descriptor, last, &control) == 0 else {
                let code = errno
                switch code {
                case EINVAL, ENOTTY: return (entries, nil)
                case ENODEV, ENXIO: throw CaptureError(.deviceLost, "the camera \(node.path) went away", errno: code)
                default: return (entries, SystemError("ask \(node.path) for its controls", errno: code))
                }
            }
            // The next control must have a greater number, or the driver leads in a circle.
            guard control.id > last else { break }
            last = control.id
            let isUsable = V4L2Controls.kind(of: control.type) != nil && control.elements <= 1
            if !isUsable || control.flags & UInt32(V4L2_CTRL_FLAG_DISABLED) != 0 { continue }
            let label = text(of: control.name)
            entries.append(Entry(control: control, name: V4L2Controls.name(of: label), label: label))
        }
        return (entries, nil)
    }

    private func describe(_ entry: Entry, value: Int64, _ menuCalls: inout Int) -> DeviceControl {
        let control = entry.control
        let kind = V4L2Controls.kind(of: control.type) ?? .integer
        // A bit mask's greatest value is unsigned, its least has no meaning.
        let isMask = control.type == V4L2_CTRL_TYPE_BITMASK.rawValue
        func mask(_ value: Int64) -> Int64 { isMask ? Int64(UInt32(truncatingIfNeeded: value)) : value }
        let idle = UInt32(V4L2_CTRL_FLAG_READ_ONLY | V4L2_CTRL_FLAG_GRABBED | V4L2_CTRL_FLAG_INACTIVE)
        return DeviceControl(
            name: entry.name,
            label: entry.label,
            kind: kind,
            minimum: isMask ? 0 : control.minimum,
            maximum: mask(control.maximum),
            step: kind == .integer ? Int64(clamping: max(control.step, 1)) : 1,
            defaultValue: mask(control.standard),
            value: mask(value),
            choices: kind == .menu ? choices(of: control, &menuCalls) : [:],
            isWritable: control.flags & idle == 0
        )
    }

    private func choices(of control: clinux_v4l2_control, _ calls: inout Int) -> [Int64: String] {
        var choices: [Int64: String] = [:]
        let isInteger: Int32 = control.type == V4L2_CTRL_TYPE_INTEGER_MENU.rawValue ? 1 : 0
        guard control.minimum >= 0, control.maximum >= control.minimum, control.maximum < 4096 else { return [:] }
        for index in control.minimum...control.maximum where calls > 0 {
            calls -= 1
            var name = [CChar](repeating: 0, count: 33)
            // Drivers leave out entries that the hardware lacks.
            let result = unsafe clinux_v4l2_menu_entry(node.descriptor, control.id, UInt32(index), isInteger, &name)
            if result == 0 {
                let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
                choices[index] = String(decoding: bytes, as: UTF8.self)
            }
        }
        return choices
    }

    private func readable(_ entry: Entry) -> Bool {
        entry.control.flags & UInt32(V4L2_CTRL_FLAG_WRITE_ONLY) == 0
            && entry.control.type != V4L2_CTRL_TYPE_BUTTON.rawValue
    }

    private func read(_ entry: Entry) throws(SystemError) -> Int64 {
        var value: Int64 = 0
        try SystemError.check("read \(entry.name)") {
            unsafe clinux_v4l2_get_control(node.descriptor, entry.control.id, entry.is64Bit ? 1 : 0, &value)
        }
        return value
    }

    private func failure(_ error: SystemError, _ name: String) -> CaptureError {
        switch error.errno {
        case ENODEV, ENXIO:
            CaptureError(.deviceLost, "the camera \(node.path) went away", errno: error.errno)
        case EBUSY:
            CaptureError(.busy, "the control '\(name)' cannot be changed while the camera streams", errno: EBUSY)
        case EACCES, EPERM, EILSEQ:
            CaptureError(.wrongState, "the control '\(name)' is disabled by another setting", errno: error.errno)
        case ERANGE, EINVAL:
            CaptureError(.invalidArgument, "the driver refuses that value for '\(name)'", errno: error.errno)
        default: CaptureError(.inputOutput, error)
        }
    }

    private static func kind(of type: UInt32) -> DeviceControl.Kind? {
        switch v4l2_ctrl_type(rawValue: type) {
        case V4L2_CTRL_TYPE_INTEGER, V4L2_CTRL_TYPE_INTEGER64, V4L2_CTRL_TYPE_BITMASK: .integer
        case V4L2_CTRL_TYPE_BOOLEAN: .boolean
        case V4L2_CTRL_TYPE_MENU, V4L2_CTRL_TYPE_INTEGER_MENU: .menu
        case V4L2_CTRL_TYPE_BUTTON: .button
        default: nil
        }
    }

    /// A control's name as `v4l2-ctl` writes it: letters and digits in lower case, all between them an underscore.
    static func name(of label: String) -> String {
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
}

extension DeviceControl {
    /// Whether a value is one the control takes.
    ///
    /// - Throws: `invalidArgument` naming the range, the step or the choices.
    func check(_ value: Int64) throws(CaptureError) {
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
}
