import Authorization
import CaptureCore

/// The devices' profiles on disk: a section for each device, in the order in which they were saved, and an empty one at the
/// end, without which the file was cut off.
///
/// Thread-safe; one change at a time.
struct ProfileFile: Sendable {
    /// A device and the values that were saved, by the controls' names.
    struct Profile: Hashable, Sendable {
        var device: DeviceID
        var values: [String: Int64]
    }

    /// The most bytes. Of 128 devices with 40 settings each, all find room.
    private static let limit = 256 * 1024
    /// No device is called that: names of devices begin with their kind and a colon.
    private static let end = "end"
    private let file: StateFile

    /// The file of a daemon's state directory, which the store has made.
    init(directory: String) {
        file = StateFile("profiles", in: directory)
    }

    /// Reads the profiles.
    ///
    /// - Returns: None with the reason for a file that cannot be used or understood.
    func load() -> (profiles: [Profile], fault: String?) {
        switch file.read(limit: ProfileFile.limit) {
        case .absent: return ([], nil)
        case .unusable(let why): return ([], "the file of device profiles \(file.path) \(why)")
        case .text(let text):
            do throws(CaptureError) {
                return (try parse(text), nil)
            } catch {
                return ([], "the file of device profiles \(file.path) is damaged: \(error.message)")
            }
        }
    }

    private func parse(_ text: String) throws(CaptureError) -> [Profile] {
        let lines = KeyFile(parsing: text, path: file.path, dialect: .rules)
        if let problem = lines.problems.first {
            throw CaptureError(.badData, "line \(problem.line): \(problem.message)")
        }
        var values: [DeviceID: [String: Int64]] = [:]
        var order: [DeviceID] = []
        for header in lines.headers where header.name != ProfileFile.end {
            guard let id = ProfileFile.plain(header.name).map(DeviceID.init(rawValue:)),
                values.updateValue([:], forKey: id) == nil
            else {
                throw CaptureError(.badData, "line \(header.line): not a device's name, or it stands twice")
            }
            order.append(id)
        }
        for entry in lines.entries {
            guard let id = ProfileFile.plain(entry.section).map(DeviceID.init(rawValue:)), values[id] != nil else {
                throw CaptureError(.badData, "line \(entry.line): the setting belongs to no device")
            }
            guard entry.locale.isEmpty, let name = ProfileFile.plain(entry.key), let value = Int64(entry.value),
                values[id]?.updateValue(value, forKey: name) == nil
            else {
                throw CaptureError(.badData, "line \(entry.line): not NAME=NUMBER, or the name stands twice")
            }
        }
        guard lines.headers.last?.name == ProfileFile.end, text.hasSuffix("\n") else {
            throw CaptureError(.badData, "it was cut off: [\(ProfileFile.end)] is missing at its end")
        }
        return order.map { Profile(device: $0, values: values[$0] ?? [:]) }
    }

    /// Gives a file that cannot be used another name, so that `save` does not destroy the profiles in it.
    ///
    /// - Returns: Its new path; `nil` without a file.
    /// - Throws: `inputOutput`.
    func moveAside() throws(CaptureError) -> String? { try file.moveAside() }

    /// Writes the profiles; on disk when it returns. The oldest are left out if there is no room for all.
    ///
    /// - Returns: The profiles that were written.
    /// - Throws: `inputOutput`; the file is then as before.
    func save(_ profiles: [Profile]) throws(CaptureError) -> [Profile] {
        var kept = profiles[...]
        var texts = profiles.map(ProfileFile.text)[...]
        let end = "[\(ProfileFile.end)]\n"
        while kept.count > 1, texts.reduce(end.utf8.count, { $0 + $1.utf8.count }) > ProfileFile.limit {
            (kept, texts) = (kept.dropFirst(), texts.dropFirst())
        }
        try file.replace(with: texts.joined() + end)
        return Array(kept)
    }

    private static func text(_ profile: Profile) -> String {
        let lines = profile.values.sorted { $0.key < $1.key }.map { "\(encoded($0.key))=\($0.value)\n" }
        return "[\(encoded(profile.device.rawValue))]\n\(lines.joined())"
    }

    /// A name in letters that mean nothing in the file: others as `%` and two digits.
    private static func encoded(_ name: String) -> String {
        name.utf8.reduce(into: "") { text, byte in
            let scalar = Unicode.Scalar(byte)
            let isLetter = scalar.isASCII && scalar.properties.isAlphabetic
            if isLetter || "0123456789_.:-".unicodeScalars.contains(scalar) {
                text.unicodeScalars.append(scalar)
            } else {
                text += (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
            }
        }
    }

    /// The name that was encoded; `nil` for another text.
    private static func plain(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let code = UInt8(Substring(rest.prefix(2)), radix: 16) else { return nil }
            bytes.append(code)
            rest = rest.dropFirst(2)
        }
        let name = String(decoding: bytes, as: UTF8.self)
        return name.isEmpty || encoded(name) != text ? nil : name
    }
}
