public import Authorization
import CLinux
public import CaptureCore
import CaptureSystem
import Glibc
import Logging

/// A camera's settings: V4L2's controls and its crop, written without touching format or stream.
///
/// Thread-safe. The node is open as long as this lives, which disturbs nobody who streams from it.
public final class V4L2Controls: DeviceSettings {
    /// The most controls to ask for, and the most menu entries of all controls together.
    private static let mostControls = 1024
    private static let mostMenuCalls = 16_384

    let node: V4L2Node
    /// The makers' own controls that may be written.
    private let vendors: Set<UInt32>

    /// Opens a camera's settings.
    ///
    /// - Parameters:
    ///   - device: The camera, as a probe or monitor described it.
    ///   - grant: A live grant for cameras.
    ///   - vendors: The makers' own controls that may be written, by number.
    /// - Throws: `notPermitted` or `revoked` for the grant, `noSuchDevice`, `busy`.
    public static func open(
        _ device: DeviceDescription,
        grant: Grant,
        vendors: Set<UInt32> = []
    ) throws(CaptureError) -> V4L2Controls {
        V4L2Controls(try V4L2Node.open(device, grant: grant), vendors: vendors)
    }

    init(_ node: V4L2Node, vendors: Set<UInt32> = []) {
        self.node = node
        self.vendors = vendors
    }

    /// Every control that has one number for a value, in the driver's order, and then the crop; classes and disabled ones are
    /// left out.
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
        let crop = try crop()
        return entries.map { entry in
            // A value that cannot be read, as a button's, is shown as the default.
            let value = readable(entry) ? (try? read(entry)) : nil
            return describe(entry, value: value ?? entry.control.standard, &menuCalls)
        } + (crop.map { [$0] } ?? [])
    }

    /// Writes a control: `DeviceSettings.set`.
    public func set(_ name: String, to value: Int64) throws(CaptureError) {
        let crop = try crop()
        if let crop, crop.name == name { return try setCrop(crop, to: value) }
        let (entries, cut) = try raw()
        guard let entry = V4L2Controls.find(name, among: entries) else {
            if let cut { throw CaptureError(.inputOutput, cut) }
            let names = (entries.map(\.name) + (crop.map { [$0.name] } ?? [])).joined(separator: ", ")
            throw CaptureError(
                .invalidArgument,
                "the camera has no control '\(name)'" + (names.isEmpty ? "" : "; it has \(names)")
            )
        }
        var menuCalls = V4L2Controls.mostMenuCalls
        let control = describe(entry, value: entry.control.standard, &menuCalls)
        try control.checkWritable()
        try control.check(value)
        do throws(SystemError) {
            try SystemError.check("set \(control.name) to \(value)") {
                clinux_v4l2_set_control(node.descriptor, entry.control.id, entry.is64Bit ? 1 : 0, value)
            }
        } catch {
            throw failure(error, control.name)
        }
    }

    /// Tells of each control that changes: V4L2_EVENT_CTRL.
    public func watch(
        _ changed: @escaping @Sendable (DeviceControl) -> Void,
        ended: @escaping @Sendable () -> Void
    ) throws(CaptureError) -> any ControlWatch {
        try V4L2ControlWatch(self, changed, ended)
    }

    /// Has the driver tell of changes.
    ///
    /// - Throws: `invalidArgument` for a driver that tells of none.
    func subscribe() throws(CaptureError) {
        let entries = try raw().entries
        let told = entries.filter { clinux_v4l2_watch_control(node.descriptor, $0.control.id) == 0 }
        guard entries.isEmpty || !told.isEmpty else {
            throw CaptureError(.invalidArgument, "the driver of \(node.path) does not tell of changed settings")
        }
    }

    private struct Entry {
        var control: clinux_v4l2_control
        var label: String

        var name: String { V4L2ControlNames.name(of: control.id) }

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
            entries.append(Entry(control: control, label: text(of: control.name)))
        }
        return (entries, nil)
    }

    private static func find(_ name: String, among entries: [Entry]) -> Entry? {
        entries.first { $0.name == name } ?? entries.first { DeviceControl.text(ofID: $0.control.id) == name }
            ?? entries.first { DeviceControl.name(of: $0.label) == name }
    }

    /// What is special about a control, by `V4L2_CTRL_FLAG_*` and by captured's own rules.
    func flags(_ raw: UInt32, of id: UInt32, label: String) -> Set<DeviceControl.Flag> {
        var flags: Set<DeviceControl.Flag> = []
        for (bit, flag) in V4L2Controls.flagBits where raw & UInt32(bit) != 0 { flags.insert(flag) }
        if V4L2ControlNames.isIndicator(id, label: label) { flags.insert(.readOnly) }
        if V4L2ControlNames.isVendors(id), !vendors.contains(id) { flags.insert(.restricted) }
        return flags
    }

    private static let flagBits: [(Int32, DeviceControl.Flag)] = [
        (V4L2_CTRL_FLAG_READ_ONLY, .readOnly), (V4L2_CTRL_FLAG_VOLATILE, .volatile),
        (V4L2_CTRL_FLAG_INACTIVE, .inactive), (V4L2_CTRL_FLAG_GRABBED, .busy),
    ]

    /// A bit mask's value is unsigned; a driver hands it over as any other.
    static func value(_ value: Int64, ofType type: UInt32) -> Int64 {
        type == V4L2_CTRL_TYPE_BITMASK.rawValue ? Int64(UInt32(truncatingIfNeeded: value)) : value
    }

    private func describe(_ entry: Entry, value: Int64, _ menuCalls: inout Int) -> DeviceControl {
        let control = entry.control
        let kind = V4L2Controls.kind(of: control.type) ?? .integer
        func number(_ value: Int64) -> Int64 { V4L2Controls.value(value, ofType: control.type) }
        return DeviceControl(
            id: control.id,
            name: entry.name,
            label: entry.label,
            kind: kind,
            // The least value of a bit mask has no meaning.
            minimum: control.type == V4L2_CTRL_TYPE_BITMASK.rawValue ? 0 : control.minimum,
            maximum: number(control.maximum),
            step: kind == .integer ? Int64(clamping: max(control.step, 1)) : 1,
            defaultValue: number(control.standard),
            value: number(value),
            unit: V4L2ControlNames.unit(of: control.id),
            choices: kind == .menu ? choices(of: control, &menuCalls) : [:],
            flags: flags(control.flags, of: control.id, label: entry.label)
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
}
