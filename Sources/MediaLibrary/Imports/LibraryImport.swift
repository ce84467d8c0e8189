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
    private let imports: LibraryImports
    private let purpose: Purpose
    /// What each program that its bytes count for has, and what all have.
    private let usage: LibraryImports.Usage
    private let state: Mutex<State>

    init(_ imports: LibraryImports, _ purpose: Purpose, program: String) throws(CaptureError) {
        id = LibraryID.make()
        usage = try imports.usage(of: [program, purpose.maker ?? program])
        let hash = try SHA256()
        let file = try imports.makeFile(id)
        self.program = program
        self.imports = imports
        self.purpose = purpose
        state = Mutex(State(stage: .writing(file, hash)))
        imports.count(id, of: usage, isAsset: purpose.isAsset)
        do throws(CaptureError) {
            try imports.checkRoom(for: 0, of: program, usage)
        } catch {
            cancel()
            throw error
        }
    }

    deinit {
        cancel()
    }

    /// How many bytes it may have.
    public var limit: Int64 { imports.limit }

    /// Bytes so far.
    public var size: Int64 { state.withLock { $0.size } }

    /// Takes more bytes of the content.
    ///
    /// - Throws: `overQuota` for a content that is too large or would exceed a quota; `inputOutput` for a disk that is
    ///   full, or would have less left than is kept free; `wrongState` after the end. The import is given up then.
    public func append(_ bytes: UnsafeRawBufferPointer) throws(CaptureError) {
        do throws(CaptureError) {
            try state.withLock { state throws(CaptureError) in
                guard case .writing(let file, let hash) = state.stage else { throw LibraryImport.ended }
                guard Int64(bytes.count) <= limit - state.size else {
                    throw CaptureError(
                        .overQuota,
                        "the file has more than \(limit) bytes, which is the limit for one"
                    )
                }
                imports.add(Int64(bytes.count), to: id)
                try imports.checkRoom(for: Int64(bytes.count), of: program, usage)
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
                let reader = try imports.seal(file, id)
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
    /// - Parameters:
    ///   - facts: What examining it has shown.
    ///   - written: When the file that it was copied from was last written, in milliseconds since 1970. A new asset gets
    ///     this date if neither its draft nor its content has one.
    /// - Returns: The new asset, or the edited one.
    /// - Throws: `overQuota`; `inputOutput` for a disk that is full, or has less left than is kept free; `badData` for an
    ///   edit of another kind than its asset; `noSuchAsset` when the scope does not have the edited one any more;
    ///   `wrongState` when that is in the bin, before `finish` and after the end. The import is given up then.
    public func commit(_ facts: ExaminedMedia, written: Int64? = nil) throws(CaptureError) -> MediaAsset {
        guard case .finished(_, let hash) = stage(becoming: .committing) else {
            cancel()
            throw LibraryImport.ended
        }
        defer {
            state.withLock { $0.stage = .over }
            imports.remove(id)
        }
        let staged = StagedContent(name: id, hash: hash)
        return try imports.take(staged, size, facts, written: written, for: purpose, by: program)
    }

    /// Gives it up; nothing when it is over, or is being committed.
    public func cancel() {
        switch stage(becoming: .over) {
        case .writing, .finished: imports.remove(id)
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
