import CaptureCore
import MediaExamination
import Synchronization

/// The markers that a recording was given. Set on one thread, read by another. Thread-safe.
final class Markers: Sendable {
    /// Nanoseconds from one chapter to the next, at least.
    private static let apart: Int64 = 1000

    private struct State {
        var list: [(title: String, time: Timestamp)] = []
        /// How many have room in the file.
        var reckoned = Int.max
    }
    private let state = Mutex(State())

    /// Adds one by the monotonic clock without pauses, unless there are as many as a file has room for.
    func add(_ title: String, at time: Timestamp) {
        state.withLock { state in
            if state.list.count < RecordingMarker.most { state.list.append((title, time)) }
        }
    }

    /// Bytes, at most, that the chapters take in a file of a limited size. Eight may be added before this is asked again; if
    /// the file ends first, those after them are left out.
    ///
    /// - Parameter resumes: How many chapters begin behind pauses. One may be added before this is asked again.
    func reckonSize(resumes: Int) -> Int64 {
        let (more, around) = (8, 64)
        return state.withLock { state in
            state.reckoned = state.list.count + more
            let titles = state.list.reduce(more * RecordingMarker.longestTitle) { $0 + $1.title.utf8.count }
            return Int64(titles + state.reckoned * around + (resumes + 1) * (Resume.titleSize + around))
        }
    }

    /// The chapters of a file, in order. Each lasts until the next one, and the last until the end.
    ///
    /// - Parameters:
    ///   - zero: The time that is the file's 0.
    ///   - length: Nanoseconds of the file.
    ///   - isSegment: Leaves out markers of other files of the movie.
    ///   - resumes: What goes on behind pauses, as far as there is room beside the markers.
    func chapters(
        from zero: Timestamp,
        length: Int64,
        isSegment: Bool = false,
        resumes: [Resume] = []
    ) -> [Chapter] {
        var listed = Array(state.withLock { $0.list.prefix($0.reckoned) })
        if isSegment { listed.removeAll { !(0..<length).contains($0.time - zero) } }
        listed += resumes.prefix(RecordingMarker.most - listed.count).map { ($0.title, $0.time) }
        var ordered = listed.map { (start: max($0.time - zero, 0), title: $0.title) }.sorted { $0.start < $1.start }
        // Of several at one place, libavformat reads the first alone.
        for place in ordered.indices {
            let least = place == 0 ? 0 : ordered[place - 1].start + Markers.apart
            ordered[place].start = min(max(ordered[place].start, least), length)
        }
        let ends = ordered.dropFirst().map(\.start) + [length]
        return zip(ordered, ends).map { Chapter(start: $0.start, end: $1, title: $0.title) }
    }
}

/// The place behind a pause: a chapter begins there whose title is when that was captured.
struct Resume {
    /// Bytes of the title.
    static let titleSize = 27

    /// As in `2026-03-01T12:34:56.123456Z`.
    let title: String
    /// By the clock without pauses.
    let time: Timestamp
}

/// A stretch of a file that players can jump to, in nanoseconds.
struct Chapter: Hashable {
    let start: Int64
    let end: Int64
    let title: String

    /// The list of MP4 and MOV that most players read, in units of 100 ns. QuickTime's own players do not.
    static func box(of chapters: [Chapter]) -> Box {
        // Version 1, and a word that is kept free.
        var body: [UInt8] = [1, 0, 0, 0, 0, 0, 0, 0, UInt8(clamping: chapters.count)]
        for chapter in chapters.prefix(RecordingMarker.most) {
            body.append(UInt64(max(chapter.start, 0) / 100))
            body +=
                [UInt8(clamping: chapter.title.utf8.count)] + chapter.title.utf8.prefix(RecordingMarker.longestTitle)
        }
        return Box("chpl", body)
    }
}
