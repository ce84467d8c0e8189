public import CaptureCore

extension CaptureNames {
    /// The object of a session.
    public static func sessionPath(_ number: UInt32) -> String { "\(sessions)/\(number)" }

    /// The number of a session's object; `nil` for other paths.
    public static func sessionNumber(_ path: String) -> UInt32? {
        guard path.hasPrefix(sessions + "/") else { return nil }
        let digits = path.dropFirst(sessions.count + 1)
        guard let number = UInt32(digits), String(number) == digits else { return nil }
        return number
    }

    /// The object of a device: its id with every character that a path does not take as `_` and two hexadecimal
    /// digits (sd_bus_path_encode(3)).
    public static func devicePath(_ id: DeviceID) -> String {
        var path = devices + "/"
        if id.rawValue.isEmpty { return path + "_" }
        for (index, byte) in id.rawValue.utf8.enumerated() {
            let isLetter = (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
            let isDigit = (0x30...0x39).contains(byte)
            if isLetter || (isDigit && index > 0) {
                path.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                path += byte < 16 ? "_0" : "_"
                path += String(byte, radix: 16)
            }
        }
        return path
    }
}
