import Authorization
import CaptureBus
import CaptureCore
import CaptureSystem
import Glibc
import MediaLibrary

/// The libraries of the machine's users, each opened when it is first needed.
actor LibraryCatalog {
    /// How many calls of a user may be in its library at one time: each has a thread, and more would only wait for the disk.
    private static let callsOfUser = 8

    private let directory: String
    private let limits: LibraryLimits
    private let turns = FairSlots<UInt32>(callsOfUser)
    private var opening: [UInt32: Task<LibraryStore, any Error>] = [:]
    private var isClosed = false
    /// Why libraries could not be opened when they were wanted last, by user.
    private var closed: [UInt32: String] = [:]
    /// The damage that was met in libraries which are open.
    private var damage: [UInt32: String] = [:]
    /// What is wrong with libraries, by user.
    var faults: [UInt32: String] { closed.merging(damage) { closed, _ in closed } }

    /// - Parameter directory: Where the libraries are, each in a folder named by its user's number.
    init(directory: String, limits: LibraryLimits) {
        self.directory = directory
        self.limits = limits
    }

    /// A user's library, opened or made.
    ///
    /// - Throws: `.inputOutput` for one that cannot be used; it is tried again at the next call.
    func library(of user: UInt32) async throws(CaptureError) -> LibraryStore {
        guard !isClosed else { throw CaptureError(.unreachable, "the capture daemon is ending") }
        let task =
            opening[user]
            ?? Task { [limits, directory] () throws in
                try await WorkerThread.run("library") { () throws(CaptureError) in
                    let library = try LibraryStore(directory: "\(directory)/\(user)", limits: limits)
                    let waiting = try library.recordings.kept().count
                    if waiting > 0 { LibraryJournal.waiting(waiting, of: user) }
                    return library
                }
            }
        opening[user] = task
        do {
            let library = try await task.value
            closed[user] = nil
            return library
        } catch {
            if opening[user] == task { opening[user] = nil }
            let fault = error as? CaptureError ?? CaptureError(.internalFault, "\(error)")
            closed[user] = fault.message
            throw fault
        }
    }

    /// Does something short in a user's library, on a thread that may wait for the disk.
    ///
    /// - Throws: `.dismissed` when the task is cancelled before its turn came, and what the work throws.
    func use<Value: Sendable>(
        _ user: UInt32,
        _ work: @escaping @Sendable (LibraryStore) throws(CaptureError) -> Value
    ) async throws(CaptureError) -> Value {
        guard await turns.take(user) else { throw LibraryCatalog.cancelled }
        defer { turns.give(user) }
        return try await perform(user, work)
    }

    /// Does something that takes long, which keeps no others of the user waiting.
    func perform<Value: Sendable>(
        _ user: UInt32,
        _ work: @escaping @Sendable (LibraryStore) throws(CaptureError) -> Value
    ) async throws(CaptureError) -> Value {
        let library = try await library(of: user)
        do throws(CaptureError) {
            return try await WorkerThread.run("library") { () throws(CaptureError) in try work(library) }
        } catch {
            if error.errno == EUCLEAN { damage[user] = error.message }
            throw error
        }
    }

    /// Lets go of every library; each is closed when what is under way in it has ended. None is opened any more.
    func close() {
        isClosed = true
        opening = [:]
    }

    /// Empties every user's bin of what has been there for its time, and forgets old changes: now and every hour, until
    /// the task is cancelled.
    func keepHouse() async {
        while !Task.isCancelled {
            for user in await usersToKeepHouseFor() {
                do throws(CaptureError) {
                    try await perform(user) { library throws(CaptureError) in
                        try library.bin.empty()
                        try library.history.forget()
                    }
                } catch {
                    Journal.send(
                        "the bin of user \(user)'s media library was not emptied: \(error)",
                        priority: .warning
                    )
                }
            }
            try? await Task.sleep(for: .seconds(3600))
        }
    }

    private func usersToKeepHouseFor() async -> [UInt32] {
        do throws(CaptureError) {
            return try await users()
        } catch {
            Journal.send("cannot empty the bins of the media libraries: \(error)", priority: .warning)
            return []
        }
    }

    /// Whether a user has one.
    ///
    /// - Throws: `.internalFault` if no thread can be started to look.
    func hasLibrary(of user: UInt32) async throws(CaptureError) -> Bool { try await users().contains(user) }

    /// Who has a library.
    private func users() async throws(CaptureError) -> [UInt32] {
        try await WorkerThread.run("library") { [directory] in
            FolderListing.names(in: directory, suffix: "").compactMap { UInt32($0) }
        }
    }

    static let cancelled = CaptureError(.dismissed, "the request was cancelled, and nothing was done")
}

extension LibraryLimits {
    /// As configured.
    init(_ configuration: Configuration.Library) {
        self.init()
        if let quota = configuration.programQuota { programBytes = quota }
        if let quota = configuration.userQuota { userBytes = quota }
        reserve = configuration.keepFree
        let time = configuration.keepDeletedFor.components
        binTime = time.seconds * 1000 + time.attoseconds / 1_000_000_000_000_000
    }
}
