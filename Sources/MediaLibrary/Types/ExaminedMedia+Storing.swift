import CaptureCore

extension ExaminedMedia {
    /// Refuses what cannot be stored; examining would not say it.
    func check() throws(CaptureError) {
        guard duration >= 0 else { throw CaptureError(.badData, "the duration \(duration) ns is negative") }
        try LibraryName.checkText(mediaType, "the media type")
        try LibraryName.checkText(codec, "the codec")
        guard !mediaType.isEmpty else { throw CaptureError(.badData, "the media type is not known") }
    }

    /// When it was made by its own account, if that can be.
    var plausibleCreation: Int64? {
        guard let created, (try? AssetDraft.checkTime(created)) != nil else { return nil }
        return created
    }
}
