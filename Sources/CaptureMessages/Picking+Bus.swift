package import CaptureBus
package import CaptureCore

/// What a call of `Pick` wants.
package struct PickOptions: Hashable, Sendable {
    /// Of these kinds; empty for all.
    package var kinds: Set<MediaAssetKind>
    /// How many, at most.
    package var limit: Int
    /// How long a movie may be that the person takes, in seconds; 0 for a photo, `nil` for what is in the library.
    package var longest: Int?

    /// How long a movie may be in seconds, at most.
    package static let mostSeconds = 3600
    /// The same where nobody says it.
    package static let usualSeconds = 600

    /// Options of the given parts.
    package init(kinds: Set<MediaAssetKind>, limit: Int, longest: Int? = nil) {
        self.kinds = kinds
        self.limit = limit
        self.longest = longest
    }

    /// The options of a call.
    ///
    /// - Parameter most: How many can be picked at a time, at most.
    /// - Throws: `.invalidArgument` that names the key.
    package init(busValue value: BusValue, most: Int) throws(CaptureError) {
        var reader = try PropertyReader(value, "what is to be picked")
        kinds = try reader.assetKinds()
        let source = try reader.text("source", longest: 16) ?? "library"
        limit = try reader.number("limit", 1...(source == "camera" ? 1 : most)) ?? 1
        let longest = try reader.number("duration", 1...PickOptions.mostSeconds)
        try reader.end()
        guard source == "camera" else {
            if source != "library" { throw reader.fault("source", "library or camera") }
            if longest != nil { throw reader.fault("duration", "left out, since it is for what the camera takes") }
            return
        }
        switch kinds {
        case [.movie]: self.longest = longest ?? PickOptions.usualSeconds
        case [.photo] where longest == nil: self.longest = 0
        case [.photo]: throw reader.fault("duration", "left out, since it is for movies")
        default: throw reader.fault("kinds", "photo or movie, one of them, since the person takes it")
        }
    }

    /// The options as `a{sv}`.
    package var busValue: BusValue {
        var options: [String: BusValue] = ["limit": .int64(Int64(limit))]
        if let longest {
            options["source"] = .string("camera")
            if longest > 0 { options["duration"] = .int64(Int64(longest)) }
        }
        if !kinds.isEmpty { options["kinds"] = .strings(kinds.map(\.rawValue).sorted()) }
        return .properties(options)
    }
}

/// What was picked: of each its name, kind, type, size and id, in lists of the same length.
package struct PickedFacts: BusRecord {
    /// How many.
    package var count: UInt32 = 0
    /// The files' names.
    package var names: [String] = []
    /// The words of the kinds.
    package var kinds: [String] = []
    /// The MIME types.
    package var mediaTypes: [String] = []
    /// In bytes.
    package var sizes: [UInt64] = []
    /// Their ids for this program; empty for what was taken, which is not in the library.
    package var ids: [String] = []

    /// How `Finished` brings it.
    package static let fields: [BusField<PickedFacts>] = [
        BusField("count", \.count, isRequired: true), BusField("names", \.names), BusField("kinds", \.kinds),
        BusField("media-types", \.mediaTypes),
        BusField("sizes", \.sizes, write: { .array("t", $0.map { .uint64($0) }) }) {
            $0.elements?.compactMap(\.unsigned)
        },
        BusField("ids", \.ids),
    ]

    /// Nothing.
    package init() {}
}

/// What `ExtendChoice` brings.
package struct ExtendedChoice: BusRecord {
    /// The ids of what was newly chosen.
    package var ids: [String] = []

    package static let fields: [BusField<ExtendedChoice>] = [BusField("ids", \.ids, isRequired: true)]

    package init() {}
}

/// What `Choose` brings.
package struct ChangedChoice: BusRecord {
    /// How many more the program may read.
    package var chosen: UInt32 = 0
    /// How many fewer.
    package var dropped: UInt32 = 0

    package static let fields: [BusField<ChangedChoice>] = [
        BusField("chosen", \.chosen, isRequired: true), BusField("dropped", \.dropped, isRequired: true),
    ]

    package init() {}
}
