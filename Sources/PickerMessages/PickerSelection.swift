public import CaptureCore

/// What the person picked so far.
public struct PickerSelection: Hashable, Sendable {
    /// What is asked.
    public let purpose: PickPurpose
    /// How many may be picked at most, and taken away at most.
    public let limit: Int
    /// The ids of what is picked, in the order of picking.
    public private(set) var picked: [String] = []
    /// The ids of what the program is not to read any more.
    public private(set) var dropped: [String] = []

    /// Nothing is picked yet.
    public init(_ purpose: PickPurpose, limit: Int) {
        self.purpose = purpose
        self.limit = limit
    }

    /// How an item stands.
    public enum Mark: Hashable, Sendable {
        /// Neither picked nor readable.
        case none
        /// Picked.
        case picked
        /// The program may read it.
        case readable
        /// The program may read it and is not to any more.
        case dropped
    }

    /// How an item stands.
    public func mark(_ item: PickerItem) -> Mark {
        if picked.contains(item.id) { return .picked }
        if dropped.contains(item.id) { return .dropped }
        return item.state == .free ? .none : .readable
    }

    /// Picks an item, or takes that back.
    ///
    /// - Returns: Why that was not done; `nil` when it was.
    public mutating func toggle(_ item: PickerItem) -> String? {
        if let index = picked.firstIndex(of: item.id) {
            picked.remove(at: index)
        } else if let index = dropped.firstIndex(of: item.id) {
            dropped.remove(at: index)
        } else if item.state == .free {
            if limit == 1 { picked = [] }
            guard picked.count < limit else { return "You can pick at most \(limit)." }
            picked.append(item.id)
        } else if purpose != .choose {
            return "The program may already read “\(item.name)”."
        } else if item.state == .own {
            return "“\(item.name)” was made by the program, which may always read it."
        } else {
            guard dropped.count < limit else { return "At most \(limit) can be taken away at a time." }
            dropped.append(item.id)
        }
        return nil
    }

    /// Whether there is anything to confirm.
    public var isEmpty: Bool { picked.isEmpty && dropped.isEmpty }

    /// What the button that confirms it says.
    public var action: String {
        switch purpose {
        case .pick, .take: return picked.isEmpty ? "Hand Over" : "Hand Over \(picked.count)"
        case .extend, .offer: return picked.isEmpty ? "Allow" : "Allow \(picked.count)"
        case .choose:
            let allow = picked.isEmpty ? [] : ["Allow \(picked.count)"]
            let take = dropped.isEmpty ? [] : ["Take Away \(dropped.count)"]
            return isEmpty ? "Save" : (allow + take).joined(separator: ", ")
        }
    }

    /// How much is picked, and how much may be.
    public var count: String {
        guard purpose == .choose else {
            return limit == 1
                ? (picked.isEmpty ? "Pick one" : "1 picked") : "\(picked.count) of at most \(limit) picked"
        }
        if isEmpty { return "No changes" }
        return "\(picked.count) to allow, \(dropped.count) to take away"
    }

    /// What the button says that leaves everything as it is.
    public var refusal: String { purpose == .offer ? "Keep as It Is" : "Cancel" }
}
