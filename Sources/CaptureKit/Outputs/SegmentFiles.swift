public import CaptureCore
public import CaptureSystem
import Glibc

/// A file of a movie in segments that is complete.
public struct SegmentFile: Hashable, Sendable {
    /// Its path.
    public let path: String
    /// Its times and figures.
    public let segment: MovieSegment
}

/// How much of a movie in segments stays: of the files that one `SegmentFiles` made, the oldest are removed, but for the one
/// that is being written.
public enum SegmentRetention: Hashable, Sendable {
    /// All of it.
    case everything
    /// The newest files, of so long at least.
    case newest(Duration)
    /// The newest files, with so many bytes at most.
    case atMost(bytes: UInt64)
}

/// The files of a movie in segments, one after the other: `lecture-0001.mkv`, `lecture-0002.mkv` and so on. Numbers go on
/// behind those that are there already.
///
/// A file has its name as soon as the movie goes on in it, so that a kill leaves no empty file.
///
///     let files = try SegmentFiles("lecture.mkv", keeping: .newest(.seconds(3600)))
///     let rule = SegmentRule(every: .seconds(600))
///     try await session.addOutput(MovieFileOutput(file: files.first, segments: rule))
///     async let made = files.supply(session)
///     try await session.startRunning()
public actor SegmentFiles {
    /// The first file, for the output.
    public nonisolated let first: Descriptor

    private struct Kept {
        let file: SegmentFile
        let identity: FileIdentity
    }

    /// How many files are in the recorder's hands beside the present one.
    private static let reserve = 2

    private let stem: String
    private let suffix: String
    private let retention: SegmentRetention
    private var number: Int
    /// Those that have no name yet, the next one first.
    private var waiting: [OutputFile]
    /// Those that are written, by their numbers in the movie.
    private var written: [UInt32: OutputFile] = [:]
    private var kept: [Kept] = []
    /// The files that are complete, in order, also those that were removed.
    public private(set) var made: [SegmentFile] = []
    private var fault: CaptureError?

    /// Files beside each other; opens the first.
    ///
    /// - Parameters:
    ///   - path: The name without its number.
    ///   - retention: How much of the movie stays.
    /// - Throws: `CaptureError.Code.usage` for an empty path and a limit of nothing; `CaptureError.Code.inputOutput` if the
    ///   folder cannot be read or written to.
    public init(_ path: String, keeping retention: SegmentRetention = .everything) throws(CaptureError) {
        let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        guard slash < path.endIndex else { throw CaptureError(.usage, "the segments' name is empty") }
        switch retention {
        case .newest(let duration) where duration <= .zero:
            throw CaptureError(.usage, "the newest \(duration) are nothing to keep; give more than 0")
        case .atMost(bytes: 0): throw CaptureError(.usage, "at most 0 bytes are nothing to keep; give more")
        default: break
        }
        let name = path[slash...]
        let dot = name.lastIndex(of: ".").flatMap { $0 > name.startIndex ? $0 : nil } ?? name.endIndex
        stem = String(path[..<slash]) + name[..<dot] + "-"
        suffix = String(name[dot...])
        self.retention = retention
        let folder = slash == path.startIndex ? "." : String(path[..<slash])
        number = try SegmentFiles.last(in: folder, String(name[..<dot]) + "-", suffix)
        let file = try SegmentFiles.open(stem, suffix, &number)
        waiting = [file]
        first = file.descriptor
    }

    /// Hands over files for as long as the session runs, or until its task is cancelled, gives them their names, and removes the oldest if only some are to
    /// stay. The movie goes on in its present file while none can be made.
    ///
    /// - Parameters:
    ///   - session: Has an output with the first file, and was not started, or just now.
    ///   - output: The output's name.
    ///   - finished: Called with each file that is complete.
    /// - Returns: The files that were made, also those that were removed.
    /// - Throws: The daemon's refusal of the session; why a file could not be made, named or handed over.
    public func supply(
        _ session: CaptureSession,
        to output: String = "movie",
        _ finished: @Sendable (SegmentFile) -> Void = { _ in }
    ) async throws(CaptureError) -> [SegmentFile] {
        for await event in try await session.events() {
            switch event {
            case .changed(let status) where status.state == .running && written.isEmpty && made.isEmpty:
                begin(1)
                for _ in 0..<SegmentFiles.reserve { await handOver(to: session, output) }
            case .segment(output, .began(let number)):
                begin(number)
                await handOver(to: session, output)
            case .segment(output, .finished(let segment)):
                guard let file = complete(segment) else { continue }
                finished(file)
                removeOldest()
            default: continue
            }
        }
        waiting = []
        // A task that is cancelled leaves before the session ends.
        if !Task.isCancelled { removeEmpty() }
        if let fault { throw fault }
        return made
    }

    // MARK: One file

    private func handOver(to session: CaptureSession, _ output: String) async {
        guard fault == nil else { return }
        do throws(CaptureError) {
            let file = try SegmentFiles.open(stem, suffix, &number)
            try await session.addSegment(file.descriptor, to: output)
            waiting.append(file)
        } catch {
            // A session that is over takes no more files.
            if await !session.status.state.isFinal, error.code != .wrongState { fault = error }
        }
    }

    /// The movie goes on in the next file.
    private func begin(_ number: UInt32) {
        guard !waiting.isEmpty else { return }
        let file = waiting.removeFirst()
        written[number] = file
        do throws(CaptureError) { try file.keep() } catch { fault = fault ?? error }
    }

    private func complete(_ segment: MovieSegment) -> SegmentFile? {
        guard let file = written.removeValue(forKey: segment.number) else { return nil }
        let done = SegmentFile(path: file.path, segment: segment)
        made.append(done)
        if let identity = file.descriptor.identity { kept.append(Kept(file: done, identity: identity)) }
        return done
    }

    /// Removes what is not to stay, unless it is another file by now.
    private func removeOldest() {
        while let oldest = kept.first, isTooMuch {
            kept.removeFirst()
            SegmentFiles.remove(oldest.file.path, oldest.identity)
        }
    }

    private var isTooMuch: Bool {
        switch retention {
        case .everything: return false
        case .newest(let duration):
            let rest = kept.dropFirst().reduce(0) { $0 + $1.file.segment.duration }
            return .nanoseconds(rest) >= duration
        case .atMost(let bytes): return kept.reduce(0) { $0 + $1.file.segment.bytes } > bytes
        }
    }

    /// A recording that failed before its first picture leaves no file.
    private func removeEmpty() {
        for file in written.values {
            var status = stat()
            guard unsafe fstat(file.descriptor.descriptor, &status) == 0, status.st_size == 0,
                let identity = file.descriptor.identity
            else { continue }
            SegmentFiles.remove(file.path, identity)
        }
        written = [:]
    }

    private static func remove(_ path: String, _ identity: FileIdentity) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0,
            FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)) == identity
        else { return }
        unsafe unlink(path)
    }

    // MARK: Names

    /// The highest number that is taken.
    private static func last(in folder: String, _ stem: String, _ suffix: String) throws(CaptureError) -> Int {
        guard let list = unsafe opendir(folder) else {
            throw CaptureError(
                .inputOutput,
                "the folder \(Printable.text(folder)) cannot be read: \(SystemError.text(of: errno))",
                errno: errno
            )
        }
        defer { unsafe closedir(list) }
        var last = 0
        while let entry = unsafe readdir(list) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix(stem), name.hasSuffix(suffix), name.utf8.count > stem.utf8.count + suffix.utf8.count
            else { continue }
            let digits = name.dropFirst(stem.count).dropLast(suffix.count)
            if digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits), number < 1 << 40 {
                last = max(last, number)
            }
        }
        return last
    }

    private static func open(_ stem: String, _ suffix: String, _ number: inout Int) throws(CaptureError) -> OutputFile {
        number += 1
        let digits = "\(number)"
        let padding = String(repeating: "0", count: max(4 - digits.count, 0))
        return try OutputFile(creating: stem + padding + digits + suffix)
    }
}
