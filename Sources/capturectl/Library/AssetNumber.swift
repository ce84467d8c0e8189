import ArgumentParser
import CaptureKit

/// The id of an asset as it is typed: 32 hexadecimal digits, or the first 6 and more of them; or the 88 that
/// `library pick --json` prints.
struct AssetNumber: ExpressibleByArgument, Hashable, Sendable {
    /// The digits in lower case.
    var digits: String
    /// Whether it is a whole id.
    var isWhole: Bool { digits.count == 32 }
    /// Whether it is the id of something that was picked.
    var isPicked: Bool { digits.count == 88 }

    init?(argument: String) {
        let digits = argument.lowercased()
        guard (6...32).contains(digits.utf8.count) || digits.utf8.count == 88,
            digits.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) })
        else { return nil }
        self.digits = digits
    }

    /// As many as the daemon takes at a time.
    static let most = 1000

    /// What is said of a text that is not such a number.
    static func form(listedBy command: String) -> String {
        "give 32 hexadecimal digits, or at least the first 6, as '\(command)' prints them"
    }

    /// Texts as ids.
    ///
    /// - Parameters:
    ///   - thing: Of what.
    ///   - command: What lists those that there are.
    ///   - limit: How many may be changed at a time.
    /// - Throws: `usage` for a text that is no id, and for too many ids.
    static func parse(
        _ words: [String],
        of thing: String = "asset",
        listedBy command: String = "library list",
        atMost limit: Int = .max
    ) throws(CaptureError) -> [AssetNumber] {
        let numbers = try words.map { word throws(CaptureError) in
            guard let number = AssetNumber(argument: word) else {
                throw CaptureError(
                    .usage,
                    "'\(Printable.text(word))' is not a valid \(thing) id: \(form(listedBy: command))"
                )
            }
            return number
        }
        guard numbers.count <= limit else {
            throw CaptureError(.usage, "\(numbers.count) ids are too many: at most \(limit) at a time")
        }
        return numbers
    }
}

/// Finds the assets of ids that are shortened, among what the program may see.
enum AssetFinder {
    /// Whole ids in the order of the numbers, each once.
    ///
    /// Whole ones are taken as they are.
    ///
    /// - Parameter isBinned: Whether they are in the bin.
    /// - Throws: `noSuchAsset` for a number that no asset begins with; `usage` for one that several do.
    static func ids(
        of numbers: [AssetNumber],
        in library: MediaLibrary,
        isBinned: Bool = false
    ) async throws(CaptureError) -> [MediaAsset.ID] {
        let short = Set(numbers.filter { !$0.isWhole && !$0.isPicked })
        var begun: [MediaAsset.ID] = []
        if !short.isEmpty {
            begun = try await library.ids(beginningWith: short.map(\.digits), isBinned: isBinned)
        }
        var ids: [MediaAsset.ID] = []
        for number in numbers {
            let id: MediaAsset.ID
            if number.isWhole {
                id = number.digits
            } else if number.isPicked {
                id = try only(try await library.fetch(withIDs: [number.digits]).assets.map(\.id), number, isBinned)
            } else {
                id = try only(begun.filter { $0.hasPrefix(number.digits) }, number, isBinned)
            }
            if !ids.contains(id) { ids.append(id) }
        }
        return ids
    }

    /// The whole id of one.
    static func id(
        of number: AssetNumber,
        in library: MediaLibrary,
        isBinned: Bool = false
    ) async throws(CaptureError) -> MediaAsset.ID {
        try await ids(of: [number], in: library, isBinned: isBinned).first ?? number.digits
    }

    private static func only(
        _ ids: [MediaAsset.ID],
        _ number: AssetNumber,
        _ isBinned: Bool
    ) throws(CaptureError) -> MediaAsset.ID {
        if ids.count > 1 {
            throw CaptureError(
                .usage,
                "\(ids.count) assets begin with \(number.digits), as \(ids[0]) and \(ids[1]); give more digits"
            )
        }
        guard let id = ids.first else {
            let place = isBinned ? "in the library's bin" : "in the library"
            throw CaptureError(.noSuchAsset, "there is no asset \(number.digits) \(place)")
        }
        return id
    }
}

/// Finds albums by what is typed for them.
enum AlbumFinder {
    /// The album of a name or of a whole id.
    ///
    /// - Throws: `noSuchAlbum` for none; `usage` for a name that several have.
    static func album(_ text: String, in library: MediaLibrary) async throws(CaptureError) -> MediaAlbum {
        let albums = try await library.albums()
        if let album = albums.first(where: { $0.id == text.lowercased() }) { return album }
        let named = albums.filter { $0.name == text }
        if named.count > 1 {
            throw CaptureError(
                .usage,
                "\(named.count) albums are named '\(Printable.text(text))'; give the id, as "
                    + named.prefix(3).map(\.id).joined(separator: " or ")
            )
        }
        guard let album = named.first else {
            throw CaptureError(
                .noSuchAlbum,
                "there is no album '\(Printable.text(text))'; 'library album list' lists all albums"
            )
        }
        return album
    }

    /// Checks what is typed for an album, before anyone is asked.
    static func check(_ text: String?, _ option: String) throws(CaptureError) {
        if text?.isEmpty == true {
            throw CaptureError(.usage, "\(option) is empty; give an album's name or id")
        }
    }
}
