public import CaptureCore

/// What files and albums may be called: names that are one line, one file name, and look like what they are.
public enum LibraryName {
    /// Bytes of a name in UTF-8, at most; what file systems take.
    public static let limit = 255

    /// Refuses a name that is empty, too long, `.` or `..`, has nothing that can be seen, or has a separator, a control or a
    /// direction character.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - thing: What is called so, as in `a file`.
    /// - Throws: `invalidArgument` that says what would be right.
    public static func check(_ name: String, of thing: String) throws(CaptureError) {
        guard !name.isEmpty else { throw CaptureError(.invalidArgument, "the name of \(thing) is empty; give it one") }
        try checkText(name, "the name of \(thing)")
        guard name.unicodeScalars.contains(where: isSeen) else {
            throw CaptureError(.invalidArgument, "the name of \(thing) has no character that can be seen; give it one")
        }
        guard name != ".", name != ".." else {
            throw CaptureError(.invalidArgument, "'\(name)' is no name for \(thing): it means a folder")
        }
        guard !name.utf8.contains(UInt8(ascii: "/")) else {
            throw CaptureError(.invalidArgument, "the name of \(thing) contains a '/'; leave it out")
        }
    }

    /// Refuses a text of one line that is too long or has characters which nobody sees.
    static func checkText(_ text: String, _ what: String) throws(CaptureError) {
        guard text.utf8.count <= limit else {
            throw CaptureError(
                .invalidArgument,
                "\(what) has \(text.utf8.count) bytes, and \(limit) at most are allowed"
            )
        }
        if let unseen = text.unicodeScalars.first(where: isUnseen) {
            let number = String(unseen.value, digits: 4, radix: 16, uppercase: true)
            throw CaptureError(
                .invalidArgument,
                "\(what) contains the control or direction character U+\(number); leave it out"
            )
        }
    }

    private static func isSeen(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.properties.isWhitespace && !scalar.properties.isDefaultIgnorableCodePoint
    }

    private static func isUnseen(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: scalar.properties.isBidiControl
        }
    }
}

/// Ids of assets, albums and recordings: random, so that nothing follows from them.
public enum LibraryID {
    /// A new one: 32 hexadecimal digits.
    static func make() -> String { Hexadecimal.text(Sealing.random(16)) }

    /// Refuses what is not 32 hexadecimal digits.
    ///
    /// - Throws: `invalidArgument`.
    public static func check(_ id: String, of thing: String) throws(CaptureError) {
        guard Hexadecimal.isText(id, digits: 32) else {
            throw CaptureError(.invalidArgument, "the id of \(thing) has to be 32 hexadecimal digits in lower case")
        }
    }

    /// Refuses what is not the first digits of an id, as many as it takes to find one by.
    ///
    /// - Throws: `invalidArgument`.
    static func check(beginning: String) throws(CaptureError) {
        let digits = beginning.utf8.count
        guard (LibraryAssets.fewestDigits...32).contains(digits), Hexadecimal.isText(beginning, digits: digits) else {
            throw CaptureError(
                .invalidArgument,
                "an id is found by its first \(LibraryAssets.fewestDigits) to 32 hexadecimal digits in lower case"
            )
        }
    }
}
