import CaptureCore
import Synchronization

/// Keeps a program's metadata until the file has it. Thread-safe: one thread adds, another takes.
final class MetadataQueue: Sendable {
    /// A text and its time by the clock of the file, which stands still during a pause.
    struct Item: Hashable, Sendable {
        let text: String
        let time: Timestamp
        /// Whether the recorder itself says it, not the program.
        var isOwn = false
    }
    /// Bytes that are kept of a movie whose pictures do not come, or that waits to be begun.
    static let mostBytes = 8 << 20

    /// Bytes that one is counted as, with what lies around it.
    private static func bytes(of text: String) -> Int { text.utf8.count + 256 }

    private struct State {
        /// In the order of their times.
        var items: [Item] = []
        var bytes = 0

        /// Where one of a time goes, behind those of the same time.
        func place(of time: Timestamp) -> Int {
            var (low, high) = (0, items.count)
            while low < high {
                let middle = (low + high) / 2
                if items[middle].time <= time { low = middle + 1 } else { high = middle }
            }
            return low
        }

        /// Forgets so many bytes of the oldest, and a part of all: that is not done for each that comes.
        mutating func forget(bytes wanted: Int) {
            let wanted = wanted + MetadataQueue.mostBytes / 16
            var (count, freed) = (0, 0)
            while count < items.count, freed < wanted {
                freed += MetadataQueue.bytes(of: items[count].text)
                count += 1
            }
            items.removeFirst(count)
            bytes -= freed
        }
    }
    private let state = Mutex(State())

    /// Adds one. The oldest are forgotten where there is no room.
    func add(_ text: String, at time: Timestamp) {
        state.withLock { state in
            let excess = state.bytes + MetadataQueue.bytes(of: text) - MetadataQueue.mostBytes
            if excess > 0 { state.forget(bytes: excess) }
            state.items.insert(Item(text: text, time: time), at: state.place(of: time))
            state.bytes += MetadataQueue.bytes(of: text)
        }
    }

    /// Takes all whose time is before another.
    func take(before end: Timestamp) -> [Item] {
        state.withLock { state in
            guard let first = state.items.first, first.time < end else { return [] }
            let count = state.items.firstIndex { $0.time >= end } ?? state.items.count
            defer { state.items.removeFirst(count) }
            let taken = Array(state.items.prefix(count))
            for item in taken { state.bytes -= MetadataQueue.bytes(of: item.text) }
            return taken
        }
    }
}

/// How metadata gets into a file.
extension ContainerOutput {
    /// The file ends at a time: what is told of later goes into the next one.
    func cutMetadata(at time: Timestamp) {
        ownMetadata += metadata?.take(before: time) ?? []
        metadata = nil
    }

    /// Notes when what comes next was captured: at the file's beginning, and behind each pause. With that, every picture's
    /// time can be told. Without a track for that, the file's date tells of its beginning, and chapters of the others.
    func noteCapture(at time: Timestamp, paused: Int64) {
        guard notedPause != paused else { return }
        let isFirst = notedPause == nil
        notedPause = paused
        let captured = WallTime(time.advanced(by: paused)).precise
        if hasMetadata {
            ownMetadata.append(MetadataQueue.Item(text: "{\"captured\":\"\(captured)\"}", time: time, isOwn: true))
        } else if !isFirst, container.hasChapters, resumes.count < RecordingMarker.most {
            resumes.append(Resume(title: captured, time: time))
        }
    }

    /// Writes the metadata of before a time of the file, in nanoseconds.
    func writeMetadata(until end: Int64) throws(CaptureError) {
        guard let muxer, let epoch else { return }
        let items = ownMetadata + (metadata?.take(before: epoch.advanced(by: end)) ?? [])
        if items.isEmpty { return }
        ownMetadata = []
        // What is of a time before the file follows what the recorder says of its beginning.
        let ordered = items.sorted { first, second in
            (max(first.time, epoch), first.isOwn ? 0 : 1) < (max(second.time, epoch), second.isOwn ? 0 : 1)
        }
        for item in ordered {
            let earliest = lastMetadata.map { $0 + Muxer.metadataTick } ?? 0
            let time = max(item.time - epoch, earliest)
            guard try hasRoom(forMetadata: item.text) else { continue }
            try muxer.write(metadata: item.text, at: time)
            lastMetadata = time
            unflushed += Int64(item.text.utf8.count)
            if !item.isOwn { counters.update { $0.items += 1 } }
        }
    }
}
