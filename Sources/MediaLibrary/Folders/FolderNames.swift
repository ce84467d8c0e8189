/// The names of files in an exported library.
enum FolderNames {
    /// Bytes of a name, which leave room for what is put behind it.
    private static let limit = 200

    /// The folder of an asset: year and month of its making by universal time, as in `2024/05`.
    static func folder(of created: Int64) -> (year: String, month: String) {
        // Days since 1970 to a date of the Gregorian calendar, counted from March so that leap days come last.
        let days = Int(created / 86_400_000) - (created % 86_400_000 < 0 ? 1 : 0) + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let day = days - era * 146_097
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
        let month = (5 * (day - (365 * year + year / 4 - year / 100)) + 2) / 153
        let calendar = year + era * 400 + (month >= 10 ? 1 : 0)
        return (padded(calendar, 4), padded(month < 10 ? month + 3 : month - 9, 2))
    }

    /// The name of a file, with a number in it where others came before, and a word for what it is.
    static func file(_ name: String, number: Int, word: String = "") -> String {
        let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 } ?? name.endIndex
        var stem = String(name[..<dot])
        var ending = String(name[dot...])
        while ending.utf8.count > 20 { ending.removeLast() }
        while stem.utf8.count + ending.utf8.count > limit { stem.removeLast() }
        return stem + word + (number > 1 ? "-\(number)" : "") + ending
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
