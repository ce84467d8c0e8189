import MediaConversion
import MediaExamination

/// The samples of one track, as its fragments told them: what an index is made of. Thread-bound.
///
/// Twelve bytes a sample, so that a day at 30 frames a second takes 31 MB.
struct SampleTable {
    /// A run of samples that stand one behind the other in the file.
    struct Chunk {
        let offset: Int64
        var samples: Int
    }

    /// When the first sample is decoded, in the track's units.
    private(set) var start: Int64 = 0
    /// Bytes of each sample.
    private(set) var sizes: [UInt32] = []
    /// Units that each sample lasts.
    private(set) var durations: [UInt32] = []
    /// Units from each sample's decoding until it is shown.
    private(set) var compositions: [UInt32] = []
    /// Numbers, from 1, of samples at which decoding can begin.
    private(set) var keys: [UInt32] = []
    /// Where they lie.
    private(set) var chunks: [Chunk] = []
    private var end: Int64 = 0

    /// Units from the first sample's decoding to the last one's end.
    var duration: Int64 { end - start }

    /// Units from the first sample's decoding until it is shown.
    var firstOffset: Int64 { Int64(compositions.first ?? 0) }

    /// Units from the first sample's decoding until nothing more is shown.
    ///
    /// What is shown last lasts as long as what is decoded last: a sample that is decoded before a gap may be shown after it.
    var shown: Int64 {
        var (decoded, last) = (Int64(0), Int64(0))
        for (duration, offset) in zip(durations, compositions) {
            last = max(last, decoded + Int64(offset))
            decoded += Int64(duration)
        }
        return last + Int64(durations.last ?? 0)
    }

    /// Begins a run at a decode time; a gap before it lengthens the sample before.
    mutating func begin(at time: Int64, offset: Int64) {
        if sizes.isEmpty {
            start = time
        } else if let last = durations.last {
            durations[durations.count - 1] = UInt32(clamping: Int64(last) + time - end)
        }
        end = time
        chunks.append(Chunk(offset: offset, samples: 0))
    }

    /// Adds a sample to the run.
    mutating func add(size: UInt32, duration: UInt32, offset: UInt32, isKey: Bool) {
        sizes.append(size)
        compositions.append(offset)
        durations.append(duration)
        if isKey { keys.append(UInt32(sizes.count)) }
        end += Int64(duration)
        chunks[chunks.count - 1].samples += 1
    }

    /// Forgets the samples behind an offset in the file.
    mutating func cut(at offset: Int64) {
        while let chunk = chunks.last, chunk.offset >= offset {
            chunks.removeLast()
            for _ in 0..<chunk.samples {
                sizes.removeLast()
                compositions.removeLast()
                end -= Int64(durations.removeLast())
            }
        }
        while let key = keys.last, key > UInt32(sizes.count) { keys.removeLast() }
    }

    /// The boxes of `stbl` that say where samples are.
    func boxes() -> [Box] {
        [times, offsetsToShow, sync, chunkRuns, Box("stsz", list([UInt32(0), UInt32(sizes.count)] + sizes)), offsets]
            .compactMap { $0 }
    }

    private var times: Box { runs("stts", of: durations) }

    /// Left out where every sample is shown when it is decoded.
    private var offsetsToShow: Box? {
        compositions.contains { $0 != 0 } ? runs("ctts", of: compositions) : nil
    }

    private func runs(_ type: String, of values: [UInt32]) -> Box {
        var runs: [UInt32] = []
        for value in values {
            if let last = runs.last, last == value {
                runs[runs.count - 2] += 1
            } else {
                runs += [1, value]
            }
        }
        return Box(type, list([UInt32(runs.count / 2)] + runs))
    }

    /// Left out where every sample is one.
    private var sync: Box? {
        keys.count == sizes.count ? nil : Box("stss", list([UInt32(keys.count)] + keys))
    }

    private var chunkRuns: Box {
        var runs: [UInt32] = []
        for (index, chunk) in chunks.enumerated() {
            if runs.count >= 3, runs[runs.count - 2] == UInt32(chunk.samples) { continue }
            runs += [UInt32(index + 1), UInt32(chunk.samples), 1]
        }
        return Box("stsc", list([UInt32(runs.count / 3)] + runs))
    }

    private var offsets: Box {
        var body: [UInt8] = [0, 0, 0, 0]
        body.reserveCapacity(8 + chunks.count * 8)
        body.append(UInt32(chunks.count))
        for chunk in chunks { body.append(UInt64(chunk.offset)) }
        return Box("co64", body)
    }

    private func list(_ numbers: [UInt32]) -> [UInt8] {
        var body: [UInt8] = [0, 0, 0, 0]
        body.reserveCapacity(4 + numbers.count * 4)
        for number in numbers { body.append(number) }
        return body
    }
}
