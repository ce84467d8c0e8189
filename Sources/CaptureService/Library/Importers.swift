import CaptureCore
import CaptureSystem
import Glibc
import Synchronization

/// Reads what programs pass to the media library, and finds out what it is: by processes of `captured-recorder`, one a
/// job, since a descriptor may never end, and a file may be made to break what decodes it. Thread-safe.
struct Importers: Sendable {
    /// What was found in a file.
    typealias Found = (media: ExaminedMedia, thumbnails: [[UInt8]])

    private let origin: RecorderOrigin
    private let patience: Int32
    private let examinationTime: Int32
    private let copies: Slots
    private let examinations: Slots

    /// Importers whose processes are had in the given way.
    ///
    /// - Parameters:
    ///   - origin: How they are had.
    ///   - patience: Milliseconds without a byte after which a copy is given up.
    ///   - examinationTime: Milliseconds that an examination may take.
    ///   - copies: How many may be copied at one time; more wait.
    ///   - examinations: How many may be examined at one time; each takes a processor.
    init(
        origin: RecorderOrigin,
        patience: Int32 = 30_000,
        examinationTime: Int32 = 120_000,
        copies: Int = 16,
        examinations: Int = 2
    ) {
        self.origin = origin
        self.patience = patience
        self.examinationTime = examinationTime
        self.copies = Slots(copies)
        self.examinations = Slots(examinations)
    }

    /// Whether a copy waits for one of all users' to end.
    var isAwaited: Bool { copies.isAwaited }

    /// Reads a program's descriptor to its end.
    ///
    /// - Parameters:
    ///   - source: A file, which is read from its beginning whatever its position, a pipe or a connected socket.
    ///   - limit: The most bytes.
    ///   - append: Takes the bytes in their order, on a thread that may block; what it throws ends the copy.
    /// - Returns: How many bytes there were.
    /// - Throws: `badData` for what cannot be imported or changes meanwhile, `overQuota` beyond the limit, `timedOut` when
    ///   nothing comes for too long, `inputOutput`, `recorderLost`, `dismissed` when the task is cancelled, and what
    ///   `append` throws.
    func copy(
        source: any JobFile,
        limit: Int64,
        append: @escaping @Sendable (UnsafeRawBufferPointer) throws(CaptureError) -> Void
    ) async throws(CaptureError) -> Int64 {
        let patience = patience
        return try await perform(.copy(limit: limit), source, copies) { (call) throws(CaptureError) -> Int64 in
            var count: Int64 = 0
            try unsafe call.read(
                patience: patience,
                late: "the passed descriptor delivered nothing for \(patience / 1000) s"
            ) { (bytes) throws(CaptureError) in
                count += Int64(bytes.count)
                guard count <= limit else { throw Importers.lost("sent more than it was asked for") }
                try unsafe append(bytes)
            }
            guard case .copied(let said) = try call.report(patience: patience), said == count else {
                throw Importers.lost("sent \(count) bytes, but reports another number")
            }
            return count
        }
    }

    /// Finds out what a file holds.
    ///
    /// - Parameters:
    ///   - file: A regular file, opened for reading alone.
    ///   - isWhole: Refuses what was cut off; without, what is there counts, as after an interrupted recording.
    /// - Returns: The facts, and a JPEG for each of `ExaminedMedia.thumbnailEdges`.
    /// - Throws: `badData` for what is unknown, cut off or damaged, `timedOut`, `inputOutput`, `recorderLost`, and
    ///   `dismissed` when the task is cancelled.
    func examine(_ file: Descriptor, isWhole: Bool = true) async throws(CaptureError) -> Found {
        // One without an index is read to its end, from a slow disk perhaps: 16 MB a second.
        var status = stat()
        let size = unsafe fstat(file.descriptor, &status) == 0 ? Int64(status.st_size) : 0
        let time = Int32(clamping: Int64(examinationTime) + size / 16_000)
        return try await perform(.examine(isWhole: isWhole), file, examinations) {
            (call) throws(CaptureError) -> Found in
            var framed: [UInt8] = []
            try unsafe call.read(patience: time, late: "looking into the file took longer than \(time / 1000) s") {
                (bytes) throws(CaptureError) in
                let most = ExaminedMedia.thumbnailCount * (ExaminedMedia.largestThumbnail + 4)
                guard framed.count + bytes.count <= most else { throw Importers.lost("sent too large pictures") }
                unsafe framed.append(contentsOf: bytes)
            }
            guard case .examined(let media) = try call.report(patience: time) else {
                throw Importers.lost("answered another question")
            }
            guard let thumbnails = Importers.thumbnails(framed) else {
                throw Importers.lost("sent invalid pictures")
            }
            return (media, thumbnails)
        }
    }

    /// Takes the frames apart: a length of four bytes, the highest first, and so many bytes.
    static func thumbnails(_ framed: [UInt8]) -> [[UInt8]]? {
        var rest = framed[...]
        var found: [[UInt8]] = []
        while !rest.isEmpty {
            let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            guard size >= 4, size <= min(rest.count, ExaminedMedia.largestThumbnail),
                rest.starts(with: [0xff, 0xd8, 0xff])
            else { return nil }
            found.append(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return found.count == ExaminedMedia.thumbnailCount ? found : nil
    }

    static func lost(_ how: String) -> CaptureError {
        CaptureError(.recorderLost, "the process that examined the passed file \(how)")
    }

    private func perform<Value: Sendable>(
        _ job: RecorderJob,
        _ file: any JobFile,
        _ slots: Slots,
        _ work: @escaping @Sendable (ImportCall) throws(CaptureError) -> Value
    ) async throws(CaptureError) -> Value {
        guard await slots.take() else { throw ImportCall.cancelled }
        defer { slots.give() }
        let run = ImportRun()
        return try await Task.run { () throws(CaptureError) in
            let call = try await WorkerThread.run("import") { [origin] () throws(CaptureError) in
                try ImportCall(origin)
            }
            return try await perform(job, file, run, call, work)
        } onCancel: {
            run.cancel()
        }
    }
}

extension Importers {
    private func perform<Value: Sendable>(
        _ job: RecorderJob,
        _ file: any JobFile,
        _ run: ImportRun,
        _ call: ImportCall,
        _ work: @escaping @Sendable (ImportCall) throws(CaptureError) -> Value
    ) async throws(CaptureError) -> Value {
        do throws(CaptureError) {
            try run.begin(call)
            try await call.hand(job, file)
        } catch {
            try await WorkerThread.run("import") { call.end() }
            throw call.isCancelled ? ImportCall.cancelled : error
        }
        return try await WorkerThread.run("import") { () throws(CaptureError) in
            defer { call.end() }
            do throws(CaptureError) {
                return try work(call)
            } catch {
                throw call.isCancelled ? ImportCall.cancelled : error
            }
        }
    }
}

/// A call that is perhaps not there yet, and can be cancelled all the same. Thread-safe.
private final class ImportRun: Sendable {
    private let state = Mutex<(call: ImportCall?, isCancelled: Bool)>((nil, false))

    func begin(_ call: ImportCall) throws(CaptureError) {
        let isCancelled = state.withLock { state in
            state.call = call
            return state.isCancelled
        }
        if isCancelled { throw ImportCall.cancelled }
    }

    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            return state.call
        }?.cancel()
    }
}
