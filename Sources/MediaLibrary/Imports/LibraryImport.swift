public import CaptureCore
import Glibc
import Synchronization

/// A content on its way into the library: bytes are appended, then examined by whoever can, then committed. Until the
/// commit nothing of it shows; what is given up, or lost with its last reference, leaves nothing behind.
///
/// Thread-safe; calls come one after the other, from whatever threads.
public final class LibraryImport: Sendable {
    /// What becomes of the content.
    enum Purpose: Sendable {
        /// A new asset.
        case asset(AssetDraft)
        /// The edit of an asset, which has to be in the scope still when it is committed.
        case edit(of: String, scope: LibraryScope, kind: MediaAssetKind, maker: String)
    }

    private struct State {
        var stage: Stage
        var size: Int64 = 0
    }

    private enum Stage {
        case writing(OwnedDescriptor, SHA256)
        case finished(OwnedDescriptor, hash: String)
        /// Nobody can give it up any more.
        case committing
        case over
    }

    /// Its file's name in transit.
    let id: String
    /// Who adds it.
    let program: String
    private let library: MediaLibrary
    private let purpose: Purpose
    /// What each program that its bytes count for has, and what all have.
    private let usage: (programs: [String: LibraryUsage], all: LibraryUsage)
    private let state: Mutex<State>

    init(_ library: MediaLibrary, _ purpose: Purpose, program: String) throws(CaptureError) {
        let id = LibraryID.make()
        var usages: [String: LibraryUsage] = [:]
        for payer in [program, purpose.maker ?? program] { usages[payer] = try library.usage(of: payer) }
        let usage = (programs: usages, all: try library.usage(of: nil))
        let hash = try SHA256()
        let file = try OwnedDescriptor.open(
            id,
            in: library.folder.transit.number,
            O_WRONLY | O_CREAT | O_EXCL,
            "a file for the import"
        )
        self.id = id
        self.program = program
        self.library = library
        self.purpose = purpose
        self.usage = usage
        state = Mutex(State(stage: .writing(file, hash)))
        library.underway.withLock { $0.begin(id, of: Set(usages.keys), isAsset: purpose.isAsset) }
        do throws(CaptureError) {
            try checkQuota()
            try library.folder.checkReserve(library.limits.reserve, beside: 0)
        } catch {
            cancel()
            throw error
        }
    }

    deinit {
        cancel()
    }

    /// How many bytes it may have.
    public var limit: Int64 { library.limits.contentBytes }

    /// Bytes so far.
    public var size: Int64 { state.withLock { $0.size } }

    /// The content's hash once it is finished.
    var hash: String? {
        state.withLock { state in
            if case .finished(_, let hash) = state.stage { hash } else { nil }
        }
    }

    /// Takes more bytes of the content.
    ///
    /// - Throws: `overQuota` for a content that is too large or would exceed a quota; `inputOutput` for a disk that is
    ///   full, or would have less left than is kept free; `wrongState` after the end. The import is given up then.
    public func append(_ bytes: UnsafeRawBufferPointer) throws(CaptureError) {
        do throws(CaptureError) {
            try state.withLock { state throws(CaptureError) in
                guard case .writing(let file, let hash) = state.stage else { throw LibraryImport.ended }
                guard Int64(bytes.count) <= library.limits.contentBytes - state.size else {
                    throw CaptureError(
                        .overQuota,
                        "the file has more than \(library.limits.contentBytes) bytes, which is the limit for one"
                    )
                }
                library.underway.withLock { $0.add(Int64(bytes.count), to: id) }
                try checkQuota()
                try library.folder.checkReserve(library.limits.reserve, beside: Int64(bytes.count))
                try unsafe file.write(bytes, "the media library")
                try unsafe hash.update(bytes)
                state.size += Int64(bytes.count)
            }
        } catch {
            cancel()
            throw error
        }
    }

    /// Ends the content: it is on disk when this returns, and cannot be changed any more.
    ///
    /// - Returns: A descriptor of it, for reading alone; the caller's to close.
    /// - Throws: `badData` for an empty one; `inputOutput`; `wrongState` after the end. The import is given up then.
    public func finish() throws(CaptureError) -> Int32 {
        do throws(CaptureError) {
            return try state.withLock { state throws(CaptureError) in
                guard case .writing(let file, let hash) = state.stage else { throw LibraryImport.ended }
                guard state.size > 0 else { throw CaptureError(.badData, "the file is empty") }
                let reader = try LibraryImport.seal(file, id, in: library.folder)
                state.stage = .finished(reader, hash: try hash.finish())
                return try reader.duplicate()
            }
        } catch {
            cancel()
            throw error
        }
    }

    /// Takes the content into the library; when it returns that is on disk, and a crash before leaves nothing of it.
    ///
    /// - Parameter facts: What examining it has shown.
    /// - Returns: The new asset, or the edited one.
    /// - Throws: `overQuota`; `inputOutput` for a disk that is full, or has less left than is kept free; `badData` for an
    ///   edit of another kind than its asset; `noSuchAsset` when the scope does not have the edited one any more;
    ///   `wrongState` when that is in the bin, before `finish` and after the end. The import is given up then.
    public func commit(_ facts: MediaFacts) throws(CaptureError) -> MediaAsset {
        guard case .finished(let file, let hash) = stage(becoming: .committing) else {
            cancel()
            throw LibraryImport.ended
        }
        defer {
            state.withLock { $0.stage = .over }
            remove()
        }
        return try settle(StagedContent(name: id, file: file, hash: hash), facts)
    }

    private func settle(_ staged: StagedContent, _ facts: MediaFacts) throws(CaptureError) -> MediaAsset {
        try facts.check()
        try library.folder.checkReserve(library.limits.reserve, beside: 0)
        switch purpose {
        case .asset(let draft):
            return try library.settle(staged, size, facts) {
                try $0.insert(draft, program: program, content: staged.hash, facts, library)
            }
        case .edit(let id, let scope, let kind, _):
            guard facts.kind == kind else {
                throw CaptureError(
                    .badData,
                    "the edit of a \(kind.rawValue) has to be a \(kind.rawValue), and this is a \(facts.kind.rawValue)"
                )
            }
            return try library.settle(staged, size, facts) {
                try $0.setEdit(staged.hash, by: program, of: $0.keyOutsideBin(id, scope), library)
            }.swept(library)
        }
    }

    /// Gives it up; nothing when it is over, or is being committed.
    public func cancel() {
        switch stage(becoming: .over) {
        case .writing, .finished: remove()
        case .committing, .over: return
        }
    }

    /// Goes on to another stage, from which `committing` alone comes to its own end.
    ///
    /// - Returns: The stage before.
    private func stage(becoming next: Stage) -> Stage {
        state.withLock { state in
            let former = state.stage
            switch (former, next) {
            case (.finished, _), (.writing, .over): state.stage = next
            default: break
            }
            return former
        }
    }

    private func remove() {
        library.underway.withLock { $0.end(id) }
        // One that cannot be removed now goes when the library is opened next.
        _ = unsafe unlinkat(library.folder.transit.number, id, 0)
    }

    private func checkQuota() throws(CaptureError) {
        for (payer, present) in usage.programs {
            let (ofProgram, ofAll) = library.underway.withLock { ($0.sum(of: payer), $0.sum(of: nil)) }
            try library.checkQuota(
                present,
                usage.all,
                assets: (ofProgram.assets, ofAll.assets),
                bytes: (ofProgram.bytes, ofAll.bytes),
                program: payer == program ? "the program" : "the program that made the asset"
            )
        }
    }

    /// Takes away every right to write the file, has it written to the disk, and opens it for reading.
    static func seal(
        _ file: OwnedDescriptor,
        _ name: String,
        in folder: LibraryFolder
    ) throws(CaptureError) -> OwnedDescriptor {
        try LibraryCall.check("an import cannot be protected") { fchmod(file.number, 0o400) }
        try file.synchronize("an import")
        return try .open(name, in: folder.transit.number, O_RDONLY, "an import")
    }

    private static var ended: CaptureError {
        CaptureError(.wrongState, "the import has ended or is not finished; begin another")
    }
}

extension LibraryImport.Purpose {
    fileprivate var isAsset: Bool {
        if case .asset = self { true } else { false }
    }

    /// Who made the asset that is edited.
    fileprivate var maker: String? {
        if case .edit(_, _, _, let maker) = self { maker } else { nil }
    }
}
