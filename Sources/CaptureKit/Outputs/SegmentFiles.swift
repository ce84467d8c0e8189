public import CaptureCore
public import CaptureSystem
import Glibc

/// A file of a movie in segments into which nothing more comes.
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

/// The files of a movie in segments, one after the other: `lecture-0001.mkv`, `lecture-0002.mkv` and so on. Numbering continues
/// after the highest number in the folder.
///
/// A file gets its name as soon as the movie goes on in it. A kill therefore leaves no empty file, unless the file system
/// cannot make nameless ones. If the name was taken meanwhile, the file gets the next number.
///
///     let files = try SegmentFiles("lecture.mkv", keeping: .newest(.seconds(3600)))
///     let rule = SegmentRule(every: .seconds(600))
///     try await session.addOutput(MovieFileOutput(file: files.first, segments: rule))
///     async let made = files.supply(session)
///     try await session.startRunning()
public actor SegmentFiles {
    /// The first file, for the output.
    public nonisolated let first: Descriptor

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
    /// By path, those of `left`.
    private var identities: [String: FileIdentity] = [:]
    /// Why no next file is there.
    private var shortage: CaptureError?
    private var retrying: Task<Void, Never>?
    private var isFilling = false
    private var hasBegun = false
    private var troubled: @Sendable (CaptureError) -> Void = { _ in }
    /// The files that nothing more comes into, in order, also those that were removed.
    public private(set) var made: [SegmentFile] = []
    /// Those of them that were not removed to make room.
    public private(set) var left: [SegmentFile] = []
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

    /// Hands over files, names them, and removes the oldest if only some are to stay. Goes on until the session ends or its
    /// task is cancelled. While no file can be made, the movie continues in its present one.
    ///
    /// - Parameters:
    ///   - session: Has an output with the first file, and was not started, or just now.
    ///   - output: The output's name.
    ///   - finished: Called with each file that nothing more comes into.
    ///   - troubled: Called when a file cannot be made, named or removed.
    /// - Returns: The files that were made, also those that were removed.
    /// - Throws: The daemon's refusal of the session; why a file could not be made, named, handed over or removed.
    public func supply(
        _ session: CaptureSession,
        to output: String = "movie",
        _ finished: @Sendable (SegmentFile) -> Void = { _ in },
        troubled: @escaping @Sendable (CaptureError) -> Void = { _ in }
    ) async throws(CaptureError) -> [SegmentFile] {
        self.troubled = troubled
        defer { retrying?.cancel() }
        for await event in try await session.events() {
            switch event {
            case .changed(let status) where status.state == .running: await fill(session, output)
            case .segment(output, .began(let number)):
                await begin(number, of: session)
                await fill(session, output)
            case .segment(output, .finished(let segment)):
                guard let file = end(segment) else { continue }
                finished(file)
                removeOldest()
            default: continue
            }
        }
        waiting = []
        // A task that is cancelled leaves before the session ends.
        if !Task.isCancelled { endRest() }
        if let fault = fault ?? shortage { throw fault }
        return made
    }

    // MARK: One file

    /// Hands over as many files as are missing, one after the other: they are used in that order.
    private func fill(_ session: CaptureSession, _ output: String) async {
        if isFilling { return }
        isFilling = true
        defer { isFilling = false }
        // The first file is there from the beginning.
        while waiting.count < SegmentFiles.reserve + (hasBegun ? 0 : 1) {
            do throws(CaptureError) {
                let file = try SegmentFiles.open(stem, suffix, &number)
                // Before the call: the movie may go on in it before the call is answered.
                waiting.append(file)
                do throws(CaptureError) {
                    try await session.addSegment(file.descriptor, to: output)
                } catch {
                    waiting.removeAll { $0 === file }
                    throw error
                }
                shortage = nil
            } catch {
                // A session that is over takes no more files.
                if await session.status.state.isFinal || error.code == .wrongState { return }
                return retry(session, output, after: error)
            }
        }
    }

    /// Tries again in a while: another program may free what is missing. The movie goes on in the present file.
    private func retry(_ session: CaptureSession, _ output: String, after error: CaptureError) {
        if shortage == nil { troubled(error) }
        shortage = error
        guard retrying == nil else { return }
        retrying = Task {
            try? await Task.sleep(for: .seconds(1))
            retrying = nil
            if !Task.isCancelled, shortage != nil { await fill(session, output) }
        }
    }

    /// The movie goes on in the next file, which gets its name, or the next one if that was taken meanwhile.
    private func begin(_ number: UInt32, of session: CaptureSession) async {
        guard !waiting.isEmpty else { return }
        hasBegun = true
        let file = waiting.removeFirst()
        written[number] = file
        do throws(CaptureError) {
            try file.keep { SegmentFiles.name(stem, suffix, &self.number) }
        } catch {
            // What is recorded into a file without a name would be lost.
            fault = fault ?? error
            troubled(error)
            _ = try? await session.stop()
        }
    }

    private func end(_ segment: MovieSegment) -> SegmentFile? {
        guard let file = written.removeValue(forKey: segment.number), file.isKept else { return nil }
        let done = SegmentFile(path: file.path, segment: segment)
        made.append(done)
        left.append(done)
        identities[done.path] = file.descriptor.identity
        return done
    }

    /// Removes what is not to stay, unless it is another file by now.
    private func removeOldest() {
        while let oldest = left.first, isTooMuch {
            left.removeFirst()
            guard let identity = identities.removeValue(forKey: oldest.path) else { continue }
            do throws(CaptureError) {
                try OutputFile.remove(oldest.path, if: identity)
            } catch {
                if fault == nil { troubled(error) }
                fault = fault ?? error
            }
        }
    }

    private var isTooMuch: Bool {
        switch retention {
        case .everything: return false
        case .newest(let duration):
            let rest = left.dropFirst().reduce(0) { $0 + $1.segment.duration }
            return .nanoseconds(rest) >= duration
        case .atMost(let bytes): return left.reduce(0) { $0 + $1.segment.bytes } > bytes
        }
    }

    /// Ends the files whose end was not told. A recorder that was killed leaves files that can be played as far as they go; an
    /// empty one is removed.
    private func endRest() {
        for (number, file) in written.sorted(by: { $0.key < $1.key }) {
            var status = stat()
            guard file.isKept, unsafe fstat(file.descriptor.descriptor, &status) == 0, status.st_nlink > 0 else {
                continue
            }
            if status.st_size > 0 {
                let bytes = UInt64(status.st_size)
                let segment = MovieSegment(
                    number: number,
                    time: 0,
                    duration: 0,
                    frames: 0,
                    bytes: bytes,
                    isComplete: false
                )
                _ = end(segment)
            } else if let identity = file.descriptor.identity {
                try? OutputFile.remove(file.path, if: identity)
            }
        }
        written = [:]
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

    /// The next file whose name is free. A number is used up only by a file.
    private static func open(_ stem: String, _ suffix: String, _ number: inout Int) throws(CaptureError) -> OutputFile {
        var next = number
        while true {
            let path = name(stem, suffix, &next)
            var status = stat()
            if unsafe lstat(path, &status) == 0 { continue }
            let file = try OutputFile(creating: path)
            number = next
            return file
        }
    }

    private static func name(_ stem: String, _ suffix: String, _ number: inout Int) -> String {
        number += 1
        return stem + String(number, digits: 4) + suffix
    }
}
