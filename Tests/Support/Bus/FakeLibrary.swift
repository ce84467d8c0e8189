public import CaptureBus
public import CaptureCore
public import CaptureKit
public import CaptureSystem
import Glibc
import Synchronization

/// A small media library in memory, played by the test: the daemon's side of `org.capturekit.Capture1.Library`.
///
/// What is added is a photo, movie or sound when its content begins with `PHOTO`, `MOVIE` or `SOUND`. Everybody is one
/// program, `exe:/test`.
public final class FakeLibrary: Sendable {
    /// An asset with its contents.
    struct Entry {
        var facts: [String: BusValue]
        var original: [UInt8]
        var edit: [UInt8]?
        var id: String { facts["id"]?.text ?? "" }
        var isBinned: Bool { facts["binned"]?.integer ?? 0 != 0 }
    }

    /// An album with its assets' ids.
    struct Album {
        var id: String
        var name: String
        var assets: [String]
    }

    struct State {
        var entries: [Entry] = []
        var albums: [Album] = []
        var made: UInt64 = 0
        var requests: UInt32 = 0
        /// What changed, in order: a token is how many of it were known.
        var log: [Change] = []
        var listeners: Set<String> = []
        var statuses: [LibraryLevel: AuthorizationStatus] = [:]
        /// What the person answers to a level that is asked for; dismisses where there is none.
        var answers: [LibraryLevel: AuthorizationStatus] = [:]
        var asked: [LibraryLevel] = []
        var confirms = true
        var holdsImports = false
        var held: [UInt32: String] = [:]
        var faults: [LibraryFault] = []
        var chosen: Set<String> = []
        var kept: [KeptRecording] = []
        /// What the person picks; closes the question where there is none.
        var picks: [String]?
        var handed: [Entry] = []
    }

    /// A difference.
    struct Change {
        /// A key of `GetChanges`.
        var key: String
        var id: String
    }

    let state: Mutex<State>

    /// An empty library.
    ///
    /// - Parameters:
    ///   - statuses: How everybody stands; what is left out is authorized.
    ///   - answers: What the person answers to what is asked for.
    public init(
        _ statuses: [LibraryLevel: AuthorizationStatus] = [:],
        answers: [LibraryLevel: AuthorizationStatus] = [:]
    ) {
        var state = State()
        state.statuses = statuses
        state.answers = answers
        self.state = Mutex(state)
    }

    /// The levels that were asked for, in order.
    public var asked: [LibraryLevel] { state.withLock { $0.asked } }

    /// Whether the person confirms what is to be deleted.
    public func confirms(_ flag: Bool) { state.withLock { $0.confirms = flag } }

    /// Whether what is added stays under way until it is cancelled.
    public func holdsImports(_ flag: Bool) { state.withLock { $0.holdsImports = flag } }

    /// What `Check` finds.
    public func setFaults(_ faults: [LibraryFault]) { state.withLock { $0.faults = faults } }

    /// Recordings that wait to be saved or discarded.
    public func keep(_ recordings: [KeptRecording]) { state.withLock { $0.kept = recordings } }

    /// What a limited program may see beside its own.
    public func choose(_ ids: Set<String>) { state.withLock { $0.chosen = ids } }

    /// How everybody stands from now on.
    public func setStatus(_ level: LibraryLevel, _ status: AuthorizationStatus) {
        state.withLock { $0.statuses[level] = status }
    }

    /// Puts an asset into it, past the bus.
    ///
    /// - Returns: Its id.
    @discardableResult
    public func put(_ name: String, _ content: String, _ facts: [String: BusValue] = [:]) -> String {
        state.withLock { state in
            state.insert(Array(content.utf8), facts.merging(["name": .string(name)]) { $1 }) ?? ""
        }
    }

    /// Loses the file of an asset's edit; that it has one stays known.
    public func loseEdit(of id: String) {
        state.withLock { state in
            for index in state.entries.indices where state.entries[index].id == id { state.entries[index].edit = nil }
        }
    }

    /// The names of an album's assets, in its order; of all albums of that name, one after the other.
    public func names(inAlbum name: String) -> [String] {
        state.withLock { state in
            state.albums.filter { $0.name == name }.flatMap(\.assets).map { id in
                state.entries.first { $0.id == id }?.facts["name"]?.text ?? ""
            }
        }
    }

    /// Everything that there is, as text: names, facts, contents and albums, without ids and times of adding. The same of
    /// two libraries that are the same for a person.
    public var inventory: [String] {
        state.withLock { state in
            let assets = state.entries.filter { !$0.isBinned }.map { entry in
                let albums = state.albums.filter { $0.assets.contains(entry.id) }.map(\.name).sorted()
                let keys = ["kind", "name", "created", "device", "place", "favourite", "edited"]
                let facts = keys.map { "\($0) \(entry.facts[$0].map { "\($0)" } ?? "none")" }
                let contents = [entry.original, entry.edit ?? []].map { String(decoding: $0, as: UTF8.self) }
                return (facts + contents + albums).joined(separator: "|")
            }
            return assets.sorted() + state.albums.map { "album \($0.name) \($0.assets.count)" }.sorted()
        }
    }

    /// A daemon with it, and what a client sees of it.
    ///
    /// - Parameter answers: In place of its own.
    public func open(replacing answers: [String: FakeDaemon.Answer] = [:]) async throws -> (FakeDaemon, MediaLibrary) {
        let daemon = try await FakeDaemon(self, replacing: answers)
        return (daemon, MediaLibrary(on: try await daemon.client()))
    }

    /// What answers the calls, for `FakeDaemon`.
    public var answers: [String: FakeDaemon.Answer] {
        looking.merging(changing) { $1 }.merging(asking) { $1 }.merging(keeping) { $1 }.merging(picking) { $1 }
    }

    /// Sends `Changed` to who asked for a token.
    func tellListeners(_ daemon: FakeDaemon) throws(CaptureError) {
        for listener in state.withLock({ $0.listeners }) {
            try daemon.connection.emit(CaptureNames.root, CaptureNames.library, "Changed", to: listener)
        }
    }

    /// Says what came of a request.
    public func finish(
        _ daemon: FakeDaemon,
        _ caller: String,
        _ request: UInt32,
        _ error: CaptureError? = nil,
        _ result: [String: BusValue] = [:]
    ) throws(CaptureError) {
        try daemon.connection.emit(
            CaptureNames.root,
            CaptureNames.library,
            "Finished",
            signature: "ussa{sv}",
            [
                .uint32(request), .string(error?.code.rawValue ?? ""), .string(error?.message ?? ""),
                .properties(result),
            ],
            to: caller
        )
    }

    /// Reads an open file from its beginning to its end.
    static func read(_ file: Descriptor) -> [UInt8] {
        _ = lseek(file.descriptor, 0, SEEK_SET)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while let count = unsafe buffer.withUnsafeMutableBytes({ unsafe try? file.read(into: $0) }), count > 0 {
            bytes += buffer[..<count]
        }
        return bytes
    }

    /// A file without a name that has the bytes.
    public static func file(_ bytes: [UInt8]) throws(CaptureError) -> Descriptor {
        do {
            let file = try OutputFile.scratch().descriptor
            unsafe try bytes.withUnsafeBytes { unsafe try file.write(all: $0) }
            _ = lseek(file.descriptor, 0, SEEK_SET)
            return file
        } catch {
            throw CaptureError(.inputOutput, "\(error)")
        }
    }
}
