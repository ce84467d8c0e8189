import CaptureBus
import CaptureCore
import CaptureMessages
import MediaLibrary

/// What a program changes in the library without a copy or a person.
extension LibraryObject {
    func revert(_ call: BusCall) async throws(CaptureError) {
        let id = try call.arguments.text(0)
        try await changing(call) { library, scope, _ throws(CaptureError) in
            _ = try library.assets.revert(id, scope: scope)
        }
    }

    func change(_ call: BusCall) async throws(CaptureError) {
        let id = try call.arguments.text(0)
        let change = try AssetChanges(busValue: call.arguments.argument(1))
        try await changing(call) { library, scope, _ throws(CaptureError) in
            _ = try library.assets.change(id, change, scope: scope)
        }
    }

    func restore(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let ids = try call.arguments.ids(0)
        let count = try await changing(call, everything: true) { library, scope, _ throws(CaptureError) in
            try library.bin.restore(ids, scope: scope)
        }
        return [.uint64(UInt64(count))]
    }

    func createAlbum(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let name = try call.arguments.text(0)
        let album = try await changing(call, everything: true) { library, scope, program throws(CaptureError) in
            try library.albums.create(name, program: program, scope: scope)
        }
        return [.string(album.id)]
    }

    func renameAlbum(_ call: BusCall) async throws(CaptureError) {
        let (id, name) = (try call.arguments.text(0), try call.arguments.text(1))
        try await changing(call, everything: true) { library, scope, _ throws(CaptureError) in
            try library.albums.rename(id, to: name, scope: scope)
        }
    }

    func deleteAlbum(_ call: BusCall) async throws(CaptureError) {
        let id = try call.arguments.text(0)
        try await changing(call, everything: true) { library, scope, _ throws(CaptureError) in
            try library.albums.delete(id, scope: scope)
        }
    }

    func addToAlbum(_ call: BusCall) async throws(CaptureError) {
        let (id, assets) = (try call.arguments.text(0), try call.arguments.ids(1))
        try await changing(call, everything: true) { library, scope, _ throws(CaptureError) in
            try library.members.add(assets, toAlbum: id, scope: scope)
        }
    }

    func removeFromAlbum(_ call: BusCall) async throws(CaptureError) {
        let (id, assets) = (try call.arguments.text(0), try call.arguments.ids(1))
        try await changing(call, everything: true) { library, scope, _ throws(CaptureError) in
            try library.members.remove(assets, fromAlbum: id, scope: scope)
        }
    }

    func moveInAlbum(_ call: BusCall) async throws(CaptureError) {
        let (id, assets, next) = (try call.arguments.text(0), try call.arguments.ids(1), try call.arguments.text(2))
        try await changing(call, everything: true) { library, scope, _ throws(CaptureError) in
            try library.members.move(assets, inAlbum: id, before: next.isEmpty ? nil : next, scope: scope)
        }
    }
}

extension [BusValue] {
    /// How many ids a call may carry.
    static let mostIDs = 1000

    /// Ids of assets: one at least, each once.
    func ids(_ index: Int) throws(CaptureError) -> [String] {
        let ids = try texts(index)
        guard !ids.isEmpty, ids.count <= Self.mostIDs else {
            throw CaptureError(
                .invalidArgument,
                "\(ids.count) ids were given; 1 to \(Self.mostIDs) are taken at a time"
            )
        }
        guard Set(ids).count == ids.count else {
            throw CaptureError(.invalidArgument, "an id was given twice; give each once")
        }
        return ids
    }

    /// A word of a set.
    func word<Word: RawRepresentable & CaseIterable>(
        _ index: Int,
        _: Word.Type = Word.self
    ) throws(CaptureError) -> Word where Word.RawValue == String {
        let text = try text(index)
        guard let word = Word(rawValue: text) else {
            let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw CaptureError(.invalidArgument, "argument \(index + 1) is '\(text)', expected one of \(known)")
        }
        return word
    }
}
