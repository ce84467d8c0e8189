package import CTurboJPEG

/// What libjpeg-turbo found odd in an image that it decoded all the same. It tells the first of its warnings alone.
package enum JPEGWarning: Equatable {
    /// So many bytes too many before a marker, which cost the picture nothing. Some cameras write a few in every frame.
    case fill(bytes: Int)
    /// A header that is not as it should be.
    case header
    /// A part of the picture is missing or wrong.
    case damage

    /// The warning of the last call; `nil` if that failed for another reason.
    package init?(_ decoder: tjhandle) {
        guard unsafe tjGetErrorCode(decoder) == Int32(TJERR_WARNING.rawValue),
            let text = unsafe tjGetErrorStr2(decoder)
        else { return nil }
        let words = unsafe String(cString: text).split(separator: " ")
        if let place = words.firstIndex(of: "extraneous"), place > 0, let count = Int(words[place - 1]) {
            self = .fill(bytes: count)
        } else {
            self = ["Premature", "Corrupt", "Inconsistent"].contains { words.contains($0) } ? .damage : .header
        }
    }
}
