@testable import MediaLibrary
import CaptureCore
import Foundation
import GRDB
import Glibc

/// One thing that a writer does with a library. Assets go by their names here, which are numbers, and so do contents.
enum LibraryStep: Codable, Hashable {
    case add(Int, content: Int)
    case record(Int, content: Int)
    case edit(Int, content: Int)
    case revert(Int)
    case rename(Int, to: Int)
    case delete(Int)
    case restore(Int)
    case empty
}

/// What a library has to have after some steps.
struct LibraryModel: Hashable {
    struct Entry: Hashable {
        var original: Int
        var edit: Int?
        var isBinned = false
    }

    var entries: [Int: Entry] = [:]

    mutating func apply(_ step: LibraryStep) {
        switch step {
        case .add(let number, let content), .record(let number, let content): entries[number] = Entry(original: content)
        case .edit(let number, let content): entries[number]?.edit = content
        case .revert(let number): entries[number]?.edit = nil
        case .rename(let number, let new): entries[new] = entries.removeValue(forKey: number)
        case .delete(let number): entries[number]?.isBinned = true
        case .restore(let number): entries[number]?.isBinned = false
        case .empty: entries = entries.filter { !$0.value.isBinned }
        }
    }

    func applying(_ step: LibraryStep) -> LibraryModel {
        var copy = self
        copy.apply(step)
        return copy
    }

    /// A step that can be done from here.
    func anyStep(_ number: Int) -> LibraryStep {
        let present = entries.filter { !$0.value.isBinned }.keys.randomElement()
        let binned = entries.filter { $0.value.isBinned }.keys.randomElement()
        // Sometimes one that is there already.
        let content =
            entries.values.randomElement().flatMap { Int.random(in: 0..<4) == 0 ? $0.original : nil } ?? number
        switch (Int.random(in: 0..<12), present, binned) {
        case (3, let asset?, _), (4, let asset?, _): return .edit(asset, content: content)
        case (5, let asset?, _): return .revert(asset)
        case (6, let asset?, _): return .rename(asset, to: number)
        case (7, let asset?, _), (8, let asset?, _): return .delete(asset)
        case (9, _, let asset?): return .restore(asset)
        case (10, _, _?): return .empty
        case (11, _, _): return .record(number, content: content)
        default: return .add(number, content: content)
        }
    }

    /// What is in a library, its files read.
    init(of library: LibraryStore) throws {
        let rows = try library.index.read { database in
            try Row.fetchAll(database, sql: "SELECT id, name, edit, binned FROM asset")
        }
        for row in rows {
            let id: String = row["id"]
            let name: String = row["name"]
            let hasEdit = (row["edit"] as String?) != nil
            entries[Int(name) ?? -1] = Entry(
                original: LibraryModel.number(of: try library.text(id, .original)),
                edit: hasEdit ? LibraryModel.number(of: try library.text(id)) : nil,
                isBinned: (row["binned"] as Int64?) != nil
            )
        }
    }

    init() {}

    /// Long enough that it is written in more than one piece.
    static func text(of content: Int) -> String { String(repeating: "\(content) ", count: 2000) }

    /// Which content it is; -1 for a text that is none, or not whole.
    static func number(of text: String) -> Int {
        guard let number = Int(text.prefix { $0 != " " }) else { return -1 }
        return LibraryModel.text(of: number) == text ? number : -1
    }
}

extension LibraryStore {
    /// Does a step; when it returns, that is acknowledged.
    func perform(_ step: LibraryStep) throws {
        func id(_ number: Int) throws -> String {
            try index.read {
                try String.fetchOne($0, sql: "SELECT id FROM asset WHERE name = ?", arguments: ["\(number)"])
            }
                ?? ""
        }
        func fill(_ item: LibraryImport, _ content: Int) throws {
            let bytes = Array(LibraryModel.text(of: content).utf8)
            try item.append(Array(bytes[..<(bytes.count / 2)]))
            try item.append(Array(bytes[(bytes.count / 2)...]))
            _ = try item.settle()
        }
        switch step {
        case .add(let number, let content):
            try fill(imports.begin(AssetDraft(name: "\(number)"), program: "p"), content)
        case .record(let number, let content):
            let transit = try recordings.begin(AssetDraft(name: "\(number)"), program: "p")
            let bytes = Array(LibraryModel.text(of: content).utf8)
            guard unsafe Glibc.write(transit.descriptor, bytes, bytes.count) == bytes.count else {
                throw POSIXError(.EIO)
            }
            _ = try recordings.finish(transit.id, .photo)
        case .edit(let number, let content): try fill(imports.beginEdit(id(number), scope: .all), content)
        case .revert(let number): _ = try assets.revert(id(number), scope: .all)
        case .rename(let number, let new): _ = try assets.change(id(number), AssetChanges(name: "\(new)"), scope: .all)
        case .delete(let number): try bin.delete([id(number)], scope: .all)
        case .restore(let number): try bin.restore([id(number)], scope: .all)
        case .empty: try bin.empty(olderThan: 0)
        }
    }
}
