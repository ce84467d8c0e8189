import CaptureCore
import MediaLibrary

extension AssetDraft {
    /// What a program says of a file.
    init(_ facts: AssetFacts) {
        self.init(
            name: facts.name ?? "",
            created: facts.created,
            device: facts.device ?? "",
            place: facts.place,
            isFavourite: facts.isFavourite ?? false,
            album: facts.album
        )
    }
}
