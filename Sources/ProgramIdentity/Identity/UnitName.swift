/// Names of systemd's units, as far as they say which application runs in them.
package enum UnitName {
    /// What a user's unit says about the application in it.
    package struct Application: Hashable {
        /// The desktop entry's id, without `.desktop`.
        package var id: String
        /// Who started it, as in `gnome` or `flatpak`; empty when the name does not say.
        package var launcher: String
    }

    /// Reads a unit's name after the desktop environments' convention: `app[-LAUNCHER]-ID-RANDOM.scope`,
    /// `app[-LAUNCHER]-ID[@RANDOM].service`, each part escaped so that it contains no `-` of its own.
    ///
    /// - Returns: `nil` for a name of any other form.
    package static func application(_ unit: String) -> Application? {
        guard unit.hasPrefix("app-"), let dot = unit.lastIndex(of: ".") else { return nil }
        var name = unit[..<dot].dropFirst(4)
        var isRandomDue = false
        switch unit[dot...] {
        case ".scope": isRandomDue = true
        case ".service":
            if let at = name.firstIndex(of: "@") { name = name[..<at] }
        default: return nil
        }
        var parts = name.split(separator: "-", omittingEmptySubsequences: false)
        if isRandomDue, (parts.popLast() ?? "").isEmpty { return nil }
        guard let last = parts.popLast(), let id = unescape(last), isPlain(id) else { return nil }
        return Application(id: id, launcher: parts.compactMap(unescape).joined(separator: "-"))
    }

    /// Undoes systemd-escape(1) within one part of a name: `\xHH` is a byte.
    ///
    /// - Returns: `nil` when it is not well-formed UTF-8 or an escape is cut off.
    package static func unescape(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            guard rest.popFirst() == UInt8(ascii: "x"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else { return nil }
            rest = rest.dropFirst(2)
            bytes.append(value)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Escapes a text for one part of a name, as systemd-escape(1) does, so that it contains no `-`.
    package static func escape(_ text: Substring) -> String {
        var isFirst = true
        return text.utf8.map { byte -> String in
            defer { isFirst = false }
            let scalar = Unicode.Scalar(byte)
            let isKept =
                scalar.isASCII
                && (scalar.properties.isAlphabetic || "0123456789:_".unicodeScalars.contains(scalar)
                    || (scalar == "." && !isFirst))
            let digits = String(byte, radix: 16)
            return isKept ? String(scalar) : "\\x" + (digits.count == 1 ? "0" : "") + digits
        }.joined()
    }

    private static func isPlain(_ id: String) -> Bool {
        !id.isEmpty && !id.hasPrefix(".") && id.utf8.count <= 255
            && id.unicodeScalars.allSatisfy { $0.value > 32 && $0.value != 127 && $0 != "/" }
    }
}
