@testable import MediaLibrary
import CaptureCore

/// What readers have to see, found the slow way: by looking at everything.
struct ReadingModel {
    struct Entry {
        var number: Int
        var kind: MediaAssetKind
        var name: String
        var created: Int64
        var program: String
        var isFavourite: Bool
        var isBinned = false
        var choosers: Set<String> = []

        var id: String { MediaLibraryTests.id(number) }
    }

    struct Album: Equatable {
        var id: String
        var name: String
        var program: String
        var members: [Int] = []
    }

    var entries: [Int: Entry] = [:]
    var albums: [Album] = []

    func sees(_ entry: Entry, _ scope: LibraryScope) -> Bool {
        switch scope {
        case .all: true
        case .limited(let program): !entry.isBinned && (entry.program == program || entry.choosers.contains(program))
        case .nothing: false
        }
    }

    /// The ids that a query finds, in order.
    func ids(_ query: AssetFetchOptions, _ scope: LibraryScope) -> [String] {
        let members = query.album.flatMap { id in albums.first { $0.id == id } }?.members
        let found = entries.values.filter { entry in
            sees(entry, scope) && entry.isBinned == query.isBinned
                && (query.kinds.isEmpty || query.kinds.contains(entry.kind))
                && (query.from ?? .min) <= entry.created && entry.created < (query.until ?? .max)
                && (query.program ?? entry.program) == entry.program
                && (query.isFavourite ?? entry.isFavourite) == entry.isFavourite
                && (query.album == nil || members?.contains(entry.number) == true)
        }
        let sorted = found.sorted { first, second in
            switch query.order {
            case .created where first.created != second.created: first.created < second.created
            case .name where first.name.lowercased() != second.name.lowercased():
                first.name.lowercased() < second.name.lowercased()
            case .position:
                (members?.firstIndex(of: first.number) ?? 0) < (members?.firstIndex(of: second.number) ?? 0)
            default: first.number < second.number
            }
        }
        return (query.isAscending ? sorted : sorted.reversed()).map(\.id)
    }

    /// The albums that a reader sees, by id, with what it sees of them in order.
    func albums(_ scope: LibraryScope) -> [String: [String]] {
        var result: [String: [String]] = [:]
        for album in albums {
            let ids = album.members.compactMap { entries[$0] }.filter { sees($0, scope) && !$0.isBinned }.map(\.id)
            let isShown: Bool =
                switch scope {
                case .all: true
                case .limited(let program): album.program == program || !ids.isEmpty
                case .nothing: false
                }
            if isShown { result[album.id] = ids }
        }
        return result
    }

    /// One random thing that happens, to the model and to the library.
    mutating func step(_ library: LibraryStore, _ random: inout Repeatable) throws {
        let programs = ["app:a", "app:b", "app:c"]
        let program = programs.randomElement(using: &random) ?? ""
        let number = entries.keys.sorted().randomElement(using: &random)
        let album = albums.indices.randomElement(using: &random)
        switch (Int.random(in: 0..<16, using: &random), number, album) {
        case (0, let number?, _), (1, let number?, _):
            guard entries[number]?.isBinned == false else { return }
            let mark = Bool.random(using: &random)
            let created = Int64.random(in: -3...40, using: &random) * 50_000_000
            entries[number]?.isFavourite = mark
            entries[number]?.created = created
            _ = try library.assets.change(
                id(number),
                AssetChanges(created: created, isFavourite: mark),
                scope: .all
            )
        case (2, let number?, _):
            entries[number]?.isBinned = true
            try library.bin.delete([id(number)], scope: .all)
        case (3, let number?, _):
            entries[number]?.isBinned = false
            try library.unbin(id(number))
        case (4, let number?, _):
            entries[number] = nil
            for index in albums.indices { albums[index].members.removeAll { $0 == number } }
            try library.purge(id(number))
        case (5, let number?, _), (6, let number?, _):
            let isNew = entries[number].map { $0.program != program && !$0.choosers.contains(program) && !$0.isBinned }
            if isNew == true { entries[number]?.choosers.insert(program) }
            _ = try library.choices.choose(program, [id(number)])
        case (7, _, _):
            let all = entries.values.filter { !$0.isBinned && $0.program != program }.sorted { $0.number < $1.number }
            var (kept, dropped): ([String], [String]) = ([], [])
            for entry in all {
                if Bool.random(using: &random) {
                    entries[entry.number]?.choosers.insert(program)
                    kept.append(entry.id)
                } else {
                    entries[entry.number]?.choosers.remove(program)
                    dropped.append(entry.id)
                }
            }
            try library.choices.unchoose(program, dropped)
            _ = try library.choices.choose(program, kept)
        case (8, _, _):
            guard albums.count < 5 else { return }
            let made = try library.albums.create("album \(albums.count)", program: program, scope: .all)
            albums.append(Album(id: made.id, name: made.name, program: program))
        case (9, let number?, let album?), (10, let number?, let album?):
            guard entries[number]?.isBinned == false else { return }
            if !albums[album].members.contains(number) { albums[album].members.append(number) }
            try library.members.add([id(number)], toAlbum: albums[album].id, scope: .all)
        case (11, let number?, let album?):
            guard entries[number]?.isBinned == false else { return }
            albums[album].members.removeAll { $0 == number }
            try library.members.remove([id(number)], fromAlbum: albums[album].id, scope: .all)
        case (12, let number?, let album?):
            try move(number, in: album, library, &random)
        case (13, _, let album?) where Int.random(in: 0..<4, using: &random) == 0:
            try library.albums.delete(albums[album].id, scope: .all)
            albums.remove(at: album)
        default:
            let new = (entries.keys.max() ?? 0) + 1
            let entry = Entry(
                number: new,
                kind: MediaAssetKind.allCases.randomElement(using: &random) ?? .photo,
                name: ["x.jpg", "Y.jpg", "y.jpg", "z.jpg"].randomElement(using: &random) ?? "",
                created: Int64.random(in: -3...40, using: &random) * 50_000_000,
                program: program,
                isFavourite: Bool.random(using: &random)
            )
            entries[new] = entry
            try library.put(
                new,
                entry.kind,
                created: entry.created,
                program: program,
                isFavourite: entry.isFavourite,
                name: entry.name
            )
        }
    }

    private mutating func move(_ number: Int, in album: Int, _ library: LibraryStore, _ random: inout Repeatable) throws
    {
        let members = albums[album].members.filter { entries[$0]?.isBinned == false }
        guard members.contains(number), let next = members.randomElement(using: &random), next != number else { return }
        albums[album].members.removeAll { $0 == number }
        albums[album].members.insert(number, at: albums[album].members.firstIndex(of: next) ?? 0)
        try library.members.move([id(number)], inAlbum: albums[album].id, before: id(next), scope: .all)
    }
}
