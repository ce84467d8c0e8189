package import CaptureBus
package import CaptureCore

/// What a call of `Pick` wants.
package struct PickOptions: Hashable, Sendable {
    /// Of these kinds; empty for all.
    package var kinds: Set<MediaAssetKind>
    /// How many, at most.
    package var limit: Int

    /// Options of the given parts.
    package init(kinds: Set<MediaAssetKind>, limit: Int) {
        self.kinds = kinds
        self.limit = limit
    }

    /// The options of a call.
    ///
    /// - Parameter most: How many can be picked at a time, at most.
    /// - Throws: `.invalidArgument` that names the key.
    package init(busValue value: BusValue, most: Int) throws(CaptureError) {
        var reader = try PropertyReader(value, "what is to be picked")
        kinds = try reader.assetKinds()
        limit = try reader.number("limit", 1...most) ?? 1
        try reader.end()
    }

    /// The options as `a{sv}`.
    package var busValue: BusValue {
        var options: [String: BusValue] = ["limit": .int64(Int64(limit))]
        if !kinds.isEmpty { options["kinds"] = .strings(kinds.map(\.rawValue).sorted()) }
        return .properties(options)
    }
}

/// What was picked: of each its name, kind, type and size, in lists of the same length.
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

    /// How `Finished` brings it.
    package static let fields: [BusField<PickedFacts>] = [
        BusField("count", \.count, isRequired: true), BusField("names", \.names), BusField("kinds", \.kinds),
        BusField("media-types", \.mediaTypes),
        BusField("sizes", \.sizes, write: { .array("t", $0.map { .uint64($0) }) }) {
            $0.elements?.compactMap(\.unsigned)
        },
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
