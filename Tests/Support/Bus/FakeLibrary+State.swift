import CaptureBus
import CaptureCore

extension FakeLibrary.State {
    func status(_ level: LibraryLevel) -> AuthorizationStatus { statuses[level] ?? .authorized }

    /// Who was never asked is told so; who is refused sees nothing.
    func checkDecided() throws(CaptureError) {
        if status(.readWrite) == .notDetermined { throw CaptureError(.undecided, "the person is being asked") }
    }

    /// Refuses who may not change.
    func checkChanging() throws(CaptureError) {
        try checkDecided()
        if status(.readWrite) == .restricted { throw CaptureError(.restricted, "restricted by policy") }
        if status(.readWrite) == .denied { throw CaptureError(.denied, "the person said no") }
    }

    func sees(_ entry: FakeLibrary.Entry) -> Bool {
        switch status(.readWrite) {
        case .authorized: true
        case .limited: chosen.contains(entry.id) || entry.facts["program"]?.text == "exe:/test"
        default: false
        }
    }

    func index(_ id: String?) throws(CaptureError) -> Int {
        guard let index = entries.firstIndex(where: { $0.id == id && sees($0) }) else {
            throw CaptureError(.noSuchAsset, "there is no asset \(id ?? "")")
        }
        return index
    }

    func albumIndex(_ id: String?) throws(CaptureError) -> Int {
        guard let index = albums.firstIndex(where: { $0.id == id }) else {
            throw CaptureError(.noSuchAlbum, "there is no album \(id ?? "")")
        }
        return index
    }

    /// 32 digits of which the first tell one from another.
    mutating func newID() -> String {
        made += 1
        let text = String(made &* 0x9e37_79b9_7f4a_7c15, radix: 16) + String(made, radix: 16)
        return String((text + String(repeating: "0", count: 32)).prefix(32))
    }

    mutating func newRequest() -> UInt32 {
        requests += 1
        return requests
    }

    mutating func log(_ key: String, _ id: String) { log.append(.init(key: key, id: id)) }

    /// Notes that an asset was changed, later than all before.
    mutating func touch(_ index: Int) {
        entries[index].facts["modified"] = .int64(1_700_000_000_000 + Int64(log.count))
        log("changed", entries[index].id)
    }

    /// Adds an asset of what its content says that it is; `nil` when it says nothing.
    mutating func insert(_ content: [UInt8], _ given: [String: BusValue]) -> String? {
        let word = String(decoding: content.prefix(5), as: UTF8.self)
        guard ["PHOTO", "MOVIE", "SOUND"].contains(word) else { return nil }
        let id = newID()
        var facts: [String: BusValue] = [
            "id": .string(id), "kind": .string(word.lowercased()), "name": .string("unnamed"),
            "media-type": .string("image/jpeg"), "codec": .string("mjpeg"),
            "created": .int64(1_700_000_000_000 + Int64(made)), "modified": .int64(1_700_000_000_000),
            "added": .int64(1_700_000_100_000 + Int64(made)), "duration": .int64(word == "PHOTO" ? 0 : 2_500_000_000),
            "width": .uint32(word == "SOUND" ? 0 : 640), "height": .uint32(word == "SOUND" ? 0 : 480),
            "size": .uint64(UInt64(content.count)), "device": .string(""), "favourite": .bool(false),
            "program": .string("exe:/test"), "edited": .bool(false), "binned": .int64(0),
        ]
        facts.merge(given) { $1 }
        facts["album"] = nil
        entries.append(.init(facts: facts, original: content))
        log("inserted", id)
        if let album = given["album"]?.text, let index = albums.firstIndex(where: { $0.id == album }) {
            albums[index].assets.append(id)
            log("albums-changed", album)
        }
        return id
    }

    /// The assets of a query in its order, without its page.
    func found(_ query: [String: BusValue]) throws(CaptureError) -> [FakeLibrary.Entry] {
        var members: [String]?
        if let album = query["album"]?.text { members = albums[try albumIndex(album)].assets }
        let kinds = query["kinds"]?.texts ?? []
        let order = query["order"]?.text ?? "created"
        let isAscending = query["ascending"]?.boolean ?? false
        let from = query["from"]?.integer ?? .min
        let until = query["until"]?.integer ?? .max
        let all = entries.filter { entry in
            let created = entry.facts["created"]?.integer ?? 0
            return sees(entry) && (kinds.isEmpty || kinds.contains(entry.facts["kind"]?.text ?? ""))
                && created >= from && created < until && members?.contains(entry.id) != false
                && (query["program"] == nil || query["program"] == entry.facts["program"])
                && (query["favourite"] == nil || query["favourite"] == entry.facts["favourite"])
                && entry.isBinned == (query["binned"]?.boolean ?? false)
        }
        return all.sorted { left, right in
            let (first, second) = isAscending ? (left, right) : (right, left)
            if order == "position", let members {
                return (members.firstIndex(of: first.id) ?? 0) < (members.firstIndex(of: second.id) ?? 0)
            }
            if order == "name" { return (first.facts["name"]?.text ?? "") < (second.facts["name"]?.text ?? "") }
            return (first.facts[order]?.integer ?? 0) < (second.facts[order]?.integer ?? 0)
        }
    }

    func facts(of album: FakeLibrary.Album) -> [String: BusValue] {
        let count = album.assets.filter { id in entries.contains { $0.id == id && sees($0) && !$0.isBinned } }.count
        return [
            "id": .string(album.id), "name": .string(album.name), "created": .int64(1_700_000_000_000),
            "modified": .int64(1_700_000_000_000), "count": .uint64(UInt64(count)),
        ]
    }
}
