import CaptureCore
import MediaExamination

/// Makes an ordinary MP4 or MOV file of a fragmented one when it ends.
///
/// While recording, the file is a `moov` without samples and fragments, playable whenever it breaks off. All bytes of
/// libavformat pass through here: behind `ftyp` goes a `free` box, and what each fragment holds is noted. At the end an
/// index (`moov` with sample tables) is written into the `free` box, with the header of an `mdat` behind it that spans all
/// that follows: players see a common file with exact length, fragments are just bytes in it. An index for which there is
/// no room goes behind everything, and the `free` box becomes the header of the `mdat`. Either way the last write is that
/// of a few bytes at the front, so that whatever is interrupted before it leaves the fragments. Thread-bound.
final class HybridMP4 {
    /// Units of a second in which the index counts the movie.
    static let movieTimescale: Int64 = 1_000_000
    /// Bytes of the header of an `mdat` of any length.
    private static let headerSize = 16
    /// Bytes kept free for the index of a movie of unknown length: about ten minutes of pictures and sound. They are a hole
    /// in the file, which takes no room on the disk.
    private static let usualRoom = 1 << 20
    /// Bytes that the index grows by in a second, amply.
    private static let roomPerSecond: Int64 = 2000
    private static let mostRoom: Int64 = 2 << 20

    /// Samples of nothing before the first of the sound.
    var audioPadding = 0
    /// Nanoseconds by which pictures are decoded before they are shown.
    var reordering: Int64 = 0
    /// Whether the first track is one of pictures.
    var hasVideo = false
    /// What players can jump to.
    var chapters: [Chapter] = []
    /// Samples of the sound that are meant, nothing before and behind counted; negative for all.
    var audioLength: Int64 = -1

    private let file: RecorderFile
    private let room: Int
    private var held: [UInt8] = []
    private var passing: Int64 = 0
    private var isEndless = false
    private var placeholderAt: Int64?
    private var movie: Box?
    private var movieSize: Int64 = 0
    private var tables: [UInt32: SampleTable] = [:]
    private var defaults: [UInt32: FragmentDefaults] = [:]

    /// What passes goes into `file`.
    ///
    /// - Parameters:
    ///   - duration: Nanoseconds that the movie will last; 0 if that is not known.
    ///   - size: Bytes that it is to have at most; 0 for any size.
    init(_ file: RecorderFile, duration: Int64, size: Int64) {
        self.file = file
        let seconds = duration / 1_000_000_000 + 16
        let wanted =
            duration > 0
            ? Int(min(seconds * HybridMP4.roomPerSecond, HybridMP4.mostRoom)) : HybridMP4.usualRoom
        // A hole counts as part of a file whose size is limited.
        let isSmall = min(file.largestSize, size > 0 ? size : .max) / 64 < wanted
        room = file.isSeekable && !isSmall ? wanted : HybridMP4.headerSize
    }

    /// Takes the next bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws(CaptureError) {
        var rest = unsafe bytes
        while unsafe !rest.isEmpty {
            if passing > 0 {
                let count = Int(min(passing, Int64(rest.count)))
                try unsafe file.write(UnsafeRawBufferPointer(rebasing: rest[..<count]))
                passing -= Int64(count)
                unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                continue
            }
            // A header first, then, of boxes that are looked into, the rest.
            let wanted = try wantedBytes()
            let count = min(wanted - held.count, rest.count)
            unsafe held.append(contentsOf: rest[..<count])
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            if held.count == (try wantedBytes()) { try handle() }
        }
    }

    /// How many bytes must be held before something can be done with them.
    private func wantedBytes() throws(CaptureError) -> Int {
        guard held.count >= 8 else { return 8 }
        let size = held.number(at: 0, UInt32.self)
        let type = String(decoding: held[4..<8], as: UTF8.self)
        if size == 1 { return 16 }
        if type == "mdat" { return 8 }
        guard size >= 8 else { throw CaptureError(.internalFault, "the muxer wrote a box '\(type)' without a length") }
        return Int(size)
    }

    private func handle() throws(CaptureError) {
        let box = held
        let size = box.number(at: 0, UInt32.self)
        let type = String(decoding: box[4..<8], as: UTF8.self)
        if type == "mdat" {
            passing = size == 1 ? Int64(box.number(at: 8, UInt64.self)) - 16 : Int64(size) - 8
            guard passing >= 0 else { throw CaptureError(.internalFault, "the muxer wrote media without a length") }
        } else if size == 1 {
            passing = Int64(box.number(at: 8, UInt64.self)) - 16
        }
        held.removeAll(keepingCapacity: true)
        switch type {
        case "ftyp":
            try file.write(box)
            placeholderAt = file.position
            var free: [UInt8] = []
            free.append(UInt32(room))
            free += Array("free".utf8)
            if file.isSeekable {
                try file.write(free)
                file.seek(to: file.position + Int64(room - free.count))
            } else {
                try file.write(free + [UInt8](repeating: 0, count: room - free.count))
            }
        case "moov":
            let made = withEdits(Box("moov", Array(box[8...])))
            movie = made
            noteDefaults(made)
            let bytes = made.bytes
            movieSize = Int64(bytes.count)
            try file.write(bytes)
        case "moof":
            noteFragment(Box("moof", Array(box[8...])), at: file.position)
            try file.write(box)
        default: try file.write(box)
        }
    }

    /// Ends the file with its index, where the file can be gone back in.
    ///
    /// - Parameter end: Where what is whole ends; `nil` for the position.
    func finish(at end: Int64? = nil) throws(CaptureError) {
        guard file.isSeekable, let placeholderAt, let movie else { return }
        if let end {
            for id in tables.keys { tables[id]?.cut(at: end) }
            file.seek(to: end)
        }
        let end = file.position
        let index = finished(movie).bytes
        guard index.count + HybridMP4.headerSize <= room else {
            try file.write(index)
            // The index is on the disk before anything points at it.
            try file.sync()
            return try file.overwrite(mediaHeader(UInt64(end - placeholderAt)), at: placeholderAt)
        }
        // Inside of the free box; then its header becomes the index's.
        let media = placeholderAt + Int64(index.count)
        try file.overwrite(index[8...] + mediaHeader(UInt64(end - media)), at: placeholderAt + 8)
        try file.sync()
        try file.overwrite(Array(index[..<8]), at: placeholderAt)
    }

    /// Bytes, at most, by which the index lengthens the file, or that it fills of the `free` box.
    ///
    /// - Parameters:
    ///   - samples: How many are still to be noted.
    ///   - chapters: Bytes of the chapters.
    func ending(samples: Int64, chapters: Int64) -> (growth: Int64, filling: Int64) {
        guard file.isSeekable else { return (0, 0) }
        // What the tables need of a sample with a length, a time and a composition of its own, and of a run; wide headers.
        var size = movieSize + 1024 + chapters + samples * (24 + 20)
        for table in tables.values { size += Int64(table.sizes.count * 24 + table.chunks.count * 20) }
        return size + Int64(HybridMP4.headerSize) <= room ? (0, size) : (size, 0)
    }

    /// The header of an `mdat` of so many bytes, itself counted.
    private func mediaHeader(_ size: UInt64) -> [UInt8] {
        var header: [UInt8] = [0, 0, 0, 1] + Array("mdat".utf8)
        header.append(size)
        return header
    }

    // MARK: What fragments say

    private func noteDefaults(_ movie: Box) {
        for extends in movie.descendant("mvex")?.children ?? [] where extends.type == "trex" {
            let body = extends.body
            defaults[body.number(at: 4, UInt32.self)] = FragmentDefaults(
                duration: body.number(at: 12, UInt32.self),
                size: body.number(at: 16, UInt32.self),
                flags: body.number(at: 20, UInt32.self)
            )
        }
    }

    private func noteFragment(_ fragment: Box, at place: Int64) {
        for track in fragment.children where track.type == "traf" {
            guard let head = track.descendant("tfhd")?.body else { continue }
            let id = head.number(at: 4, UInt32.self)
            let values = (defaults[id] ?? FragmentDefaults()).replaced(by: head)
            let decode = track.descendant("tfdt")?.body ?? []
            let isLong = decode.first == 1
            let time = isLong ? Int64(decode.number(at: 4, UInt64.self)) : Int64(decode.number(at: 4, UInt32.self))
            var table = tables[id] ?? SampleTable()
            var next = time
            for run in track.children where run.type == "trun" {
                next = values.note(run.body, at: place, time: next, in: &table)
            }
            tables[id] = table
        }
    }

    // MARK: What the index says

    private func finished(_ movie: Box) -> Box {
        var longest: Int64 = 0
        var children: [Box] = []
        for child in movie.children where child.type != "mvex" {
            if child.type == "trak" {
                let (track, length) = finishedTrack(child)
                longest = max(longest, length)
                children.append(track)
            } else {
                children.append(child)
            }
        }
        children = children.map { child in
            guard child.type == "mvhd" else { return child }
            return child.lengthened(gap: 0, timescale: UInt32(HybridMP4.movieTimescale), duration: longest)
        }
        guard !chapters.isEmpty else { return Box("moov", children) }
        let list = Chapter.box(of: chapters)
        if let at = children.firstIndex(where: { $0.type == "udta" }) {
            children[at].body += list.bytes
        } else {
            children.append(Box("udta", [list]))
        }
        return Box("moov", children)
    }

    /// A track with its samples, and its length in the movie's units.
    private func finishedTrack(_ track: Box) -> (Box, Int64) {
        let id = track.descendant("tkhd").map { $0.trackID } ?? 0
        let table = tables[id] ?? SampleTable()
        let header = track.descendant("mdia", "mdhd")
        let scale = Int64(header?.timescale ?? 1)
        let isSound = track.isOf("soun")
        // Where in the track's own time it begins, and when.
        let padding = isSound ? Int64(audioPadding) : table.firstOffset
        let start = track.isOf("vide") ? table.start + padding - lead(scale) : table.start
        let kept = max(
            isSound && audioLength >= 0 ? min(audioLength, table.duration - padding) : table.shown - padding,
            0
        )
        let gap = HybridMP4.inMovie(start, scale)
        let length = HybridMP4.inMovie(start + kept, scale) - gap
        let children = track.children.filter { $0.type != "edts" }.map { child in
            switch child.type {
            case "tkhd": child.lengthened(gap: 8, timescale: nil, duration: gap + length)
            case "mdia": media(child, table)
            default: child
            }
        }
        let edits = EditList(gap: gap, length: length, mediaTime: padding).box
        return (Box("trak", Array(children.prefix(1)) + [edits] + children.dropFirst()), gap + length)
    }

    private func media(_ media: Box, _ table: SampleTable) -> Box {
        Box(
            "mdia",
            media.children.map { child in
                switch child.type {
                case "mdhd": child.lengthened(gap: 0, timescale: child.timescale, duration: table.duration)
                case "minf":
                    Box(
                        "minf",
                        child.children.map { part in
                            guard part.type == "stbl" else { return part }
                            return Box("stbl", part.children.filter { $0.type == "stsd" } + table.boxes())
                        }
                    )
                default: child
                }
            }
        )
    }

    /// The movie with what each track is shifted by, so that a file that breaks off is in sync too.
    private func withEdits(_ movie: Box) -> Box {
        Box(
            "moov",
            movie.children.map { child in
                guard child.type == "trak" else { return child }
                if !child.isOf("soun"), !child.isOf("vide") { return child.disabled() }
                let scale = Int64(child.descendant("mdia", "mdhd")?.timescale ?? 1)
                let shift = child.isOf("soun") ? Int64(audioPadding) : lead(scale)
                guard shift > 0 else { return child }
                let parts = child.children.filter { $0.type != "edts" }
                let edits = EditList(gap: 0, length: 0, mediaTime: shift).box
                return Box("trak", Array(parts.prefix(1)) + [edits] + parts.dropFirst())
            }
        )
    }

    /// Units by which the times of pictures are shifted.
    private func lead(_ scale: Int64) -> Int64 { (reordering * scale + 500_000_000) / 1_000_000_000 }

    private static func inMovie(_ units: Int64, _ scale: Int64) -> Int64 {
        let (seconds, rest) = units.quotientAndRemainder(dividingBy: max(scale, 1))
        return seconds * movieTimescale + (rest * movieTimescale + scale / 2) / max(scale, 1)
    }
}
