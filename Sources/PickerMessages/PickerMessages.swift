public import CaptureCore

/// What the agent tells the window.
public enum PickerOrder: Codable, Hashable, Sendable {
    /// What to show; the first of all.
    case question(PickerQuestion)
    /// Some of the library.
    case page(PickerPage)
    /// An asset's picture as a JPEG; `nil` where there is nothing to see.
    case picture(id: String, jpeg: PickerBytes?)
    /// What was asked for cannot be shown, or did not work, and why; for a page its number.
    case failed(message: String, page: Int?)
    /// Where it stands with what is taken.
    case stage(PickerStage)
    /// What the camera sees now, as a JPEG.
    case frame(PickerBytes)
}

/// Where it stands with a photo or movie that the person takes.
public enum PickerStage: Codable, Hashable, Sendable {
    /// The camera is off. The person can turn one of these on.
    case asked(cameras: [PickerCamera])
    /// The window shows what the camera sees.
    case viewing
    /// A movie is being recorded.
    case recording
    /// Something was taken, which can be handed over; and why it is not whole, if it is not.
    case taken(remark: String?)
}

/// A camera that can be turned on.
public struct PickerCamera: Codable, Hashable, Sendable {
    /// The device's.
    public var id: String
    /// Neutralized.
    public var name: String

    /// A camera.
    public init(id: String, name: String) {
        (self.id, self.name) = (id, name)
    }
}

/// What the window tells the agent.
public enum PickerReport: Codable, Hashable, Sendable {
    /// It is able to show a window; the first of all.
    case ready
    /// It cannot, and why; the last of all.
    case unable(message: String)
    /// It wants a page; an answer carries the same number.
    case page(number: Int, kind: MediaAssetKind?, cursor: String?)
    /// It wants an asset's picture.
    case picture(id: String)
    /// The person is done; the last of all.
    case picked(ids: [String], dropped: [String])
    /// The person closed the window without an answer; the last of all.
    case closed
    /// The person wants what comes next: the camera turned on, which may be named, the photo taken, or the movie begun or
    /// ended.
    case advance(camera: String?)
    /// The person hands over what was taken; the last of all.
    case handOver
    /// The person wants to take another one.
    case again
}

/// What the window says.
public struct PickerQuestion: Codable, Hashable, Sendable {
    /// What is asked, and who asks.
    public var headline: String
    /// What becomes of what is picked.
    public var meaning: String
    /// Whether the asking program's identity is verified, in a sentence.
    public var certainty: String
    /// What else is known of the asking program, shown when the person wants it: labels and texts.
    public var facts: [Fact]
    /// What becomes of what is picked.
    public var purpose: PickPurpose
    /// How many may be picked at most; 1 or more.
    public var limit: Int
    /// The kinds to choose among, when there are several.
    public var kinds: [MediaAssetKind]

    /// A line of what is known of the asking program.
    public struct Fact: Codable, Hashable, Sendable {
        /// As in `Program`.
        public var label: String
        /// What is known.
        public var text: String

        /// A line.
        public init(_ label: String, _ text: String) {
            self.label = label
            self.text = text
        }
    }

    /// A question; every text is neutralized already.
    public init(
        headline: String,
        meaning: String,
        certainty: String = "",
        facts: [Fact] = [],
        purpose: PickPurpose,
        limit: Int,
        kinds: [MediaAssetKind] = []
    ) {
        self.headline = headline
        self.meaning = meaning
        self.certainty = certainty
        self.facts = facts
        self.purpose = purpose
        self.limit = limit
        self.kinds = kinds
    }
}

/// An asset as the window shows it.
public struct PickerItem: Codable, Hashable, Sendable {
    /// Whether the program may read it already.
    public enum State: String, Codable, Hashable, Sendable {
        /// It may not.
        case free
        /// It may, since it was chosen.
        case chosen
        /// It may, since it made it: that stays.
        case own
    }

    /// The asset's.
    public var id: String
    /// What it is.
    public var kind: MediaAssetKind
    /// Neutralized.
    public var name: String
    /// When it was taken, in milliseconds since 1970.
    public var created: Int64
    /// In nanoseconds; 0 for a photo.
    public var duration: Int64
    /// Whether the program may read it already.
    public var state: State

    /// An item.
    public init(
        id: String,
        kind: MediaAssetKind,
        name: String,
        created: Int64 = 0,
        duration: Int64 = 0,
        state: State = .free
    ) {
        self.id = id
        self.kind = kind
        self.name = name
        self.created = created
        self.duration = duration
        self.state = state
    }
}

/// Some of the library, newest first.
public struct PickerPage: Codable, Hashable, Sendable {
    /// Of the report that wanted it.
    public var number: Int
    /// In their order.
    public var items: [PickerItem]
    /// What the report for those that follow has as its cursor; `nil` at the end.
    public var next: String?

    /// A page.
    public init(number: Int, items: [PickerItem], next: String? = nil) {
        self.number = number
        self.items = items
        self.next = next
    }
}
