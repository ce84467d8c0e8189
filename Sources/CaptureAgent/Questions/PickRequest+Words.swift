import CaptureCore
import CaptureKit

/// What a person is told about a request, in the same words for every picker. Texts from outside are made harmless.
extension PickRequest {
    /// Who wants what.
    public var headline: String {
        let kinds = MediaAssetKind.allCases.filter(self.kinds.contains).map { "\($0.rawValue)s" }
        let things = kinds.isEmpty ? "items" : kinds.joined(separator: ", ")
        switch purpose {
        case .take:
            let sound = services.contains(.microphone) ? " with sound" : ""
            return "\(shownName) asks you to take a \(longest > 0 ? "movie" : "photo")\(sound)"
        case .pick:
            let count = limit == 1 ? "one of your \(things)" : "up to \(limit) of your \(things)"
            return "\(shownName) asks for \(count)"
        case .extend: return "Choose what \(shownName) may read in the media library"
        case .offer: return "\(shownName) may read what you chose in the media library, and you can choose more"
        case .choose: return "Choose what \(Printable.text(subject, limit: 200)) may read in the media library"
        }
    }

    /// What happens to the picked items. Mark with `+` what the program may already read.
    public var meaning: String {
        switch purpose {
        case .take:
            "It gets only the \(longest > 0 ? "movie" : "photo") that you hand over, and never sees the camera."
        case .pick: "It gets only what you pick, only this time, and sees nothing else."
        case .extend, .offer: "From now on it may read what you choose and what is marked +, and nothing else."
        case .choose: "It may read what is marked +; pick that to take it away."
        }
    }

    /// A sentence that says whether the asking program's identity is verified.
    public var certainty: String { question.certainty { Printable.text($0, limit: $1) } }

    /// What else is known about the asking program, each with a label, to show when the person asks for details.
    public var details: [(label: String, text: String)] { question.details { Printable.text($0, limit: $1) } }

    private var shownName: String { "“\(question.title { Printable.quotable($0, limit: $1) })”" }
}
