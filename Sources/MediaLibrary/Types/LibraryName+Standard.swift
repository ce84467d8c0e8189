import CaptureCore

extension LibraryName {
    /// The name of a file that comes without one: what it is, and when it was made by universal time, as in
    /// `photo-20260409-174502.jpg`.
    static func standard(_ facts: ExaminedMedia, created: Int64) -> String {
        let day = CivilDate(milliseconds: created)
        let seconds = Int((created - day.start) / 1000)
        let time = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { String($0, digits: 2) }.joined()
        let date = String(day.year, digits: 4) + String(day.month, digits: 2) + String(day.day, digits: 2)
        return "\(facts.kind.rawValue)-\(date)-\(time)\(ending(of: facts.mediaType))"
    }

    /// The usual ending of a media type's files with its dot; nothing for one that is not known.
    private static func ending(of mediaType: String) -> String {
        let known = [
            "audio/flac": "flac", "audio/mp4": "m4a", "audio/mpeg": "mp3", "audio/ogg": "ogg", "audio/quicktime": "mov",
            "audio/wav": "wav", "audio/webm": "weba", "audio/x-matroska": "mka", "image/jpeg": "jpg",
            "image/png": "png", "image/x-adobe-dng": "dng",
            "image/tiff": "tiff", "image/webp": "webp", "image/gif": "gif", "image/bmp": "bmp", "image/heif": "heif",
            "image/heic": "heic", "image/avif": "avif", "video/mp4": "mp4", "video/ogg": "ogv",
            "video/quicktime": "mov",
            "video/webm": "webm", "video/x-matroska": "mkv",
        ]
        return known[mediaType].map { "." + $0 } ?? ""
    }
}

/// A day of the Gregorian calendar by universal time.
struct CivilDate: Hashable {
    /// The year, 0 for the one before the first.
    var year: Int
    /// 1 to 12.
    var month: Int
    /// 1 to 31.
    var day: Int
    /// When it begins, in milliseconds since 1970.
    var start: Int64

    /// The day of a moment in milliseconds since 1970.
    init(milliseconds: Int64) {
        let count = milliseconds / 86_400_000 - (milliseconds % 86_400_000 < 0 ? 1 : 0)
        start = count * 86_400_000
        // Counted from March on, so that leap days come last.
        let days = Int(count) + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let ofEra = days - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let fromMarch = (5 * ofYear + 2) / 153
        day = ofYear - (153 * fromMarch + 2) / 5 + 1
        month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        year = yearOfEra + era * 400 + (fromMarch >= 10 ? 1 : 0)
    }
}
