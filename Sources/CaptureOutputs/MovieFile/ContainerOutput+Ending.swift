import CLibAV
import CaptureCore
import CaptureSystem
import MediaConversion
import MediaExamination

/// What happens when nothing more comes: of one stream, for a while, or at all.
extension ContainerOutput {
    func idle() throws(CaptureError) {
        if isWaiting { return }
        try settle()
        // What comes late is of no earlier time.
        if let epoch { try writeMetadata(until: Timestamp.now - epoch - ContainerOutput.patience) }
        if unflushed > 0, Timestamp.now - lastFlush >= limits.fragmentInterval { try flush() }
        if early.isTired, !lacksFirstPicture { try takeEarlySound(all: true) }
    }

    func streamEnded(_ kind: MediaType, lost: UInt64) throws(CaptureError) {
        ended.insert(kind)
        if isWaiting { return }
        if kind == .video, !lacksFirstPicture { try takeEarlySound(all: true) }
        if kind == .video, !videoIsDone { counters.update { $0.missedFrames += lost } }
        if origin != nil { try settle() }
    }

    func finish() throws(CaptureError) {
        defer { disk?.stop() }
        if isWaiting { return forget() }
        if lacksFirstPicture, counters.now.missedFrames > 0, sound == nil {
            throw CaptureError(.badData, "the camera's compressed pictures never came to a keyframe")
        }
        if !lacksFirstPicture { try takeEarlySound(all: true) }
        var length: Int64 = -1
        if let sound, let timeline {
            length = av_rescale(timeline.frames, Int64(sound.rate), Int64(timeline.rate))
            if timeline.start != nil { for packet in try sound.drain(to: length) { try submit(packet) } }
        }
        if let video, firstVideo != nil { for packet in try video.drain() { try submit(packet) } }
        ended = [.video, .audio]
        if !lacksFirstPicture || sound != nil { try settle(force: true) }
        if let last = lastPicture {
            try lastUntilLimit(last.packet)
            try write(last.packet, at: last.time)
        }
        lastPicture = nil
        try writeMetadata(until: good.length)
        let isSegment = limits.segmentSize != nil
        let chapters = epoch.map { zero in
            markers.chapters(from: zero, length: good.length, isSegment: isSegment, resumes: resumes)
        }
        try muxer?.finish(audioLength: length, interval: interval.nanoseconds, chapters: chapters ?? [])
        file.trim()
        try file.sync()
        noteLength()
        // What had no room was counted when it was encoded.
        if load.isCut { count(good.written) } else { counters.update { $0.bytes = UInt64(file.size) } }
    }

    /// The last picture before a cut lasts until the first one behind it, where the container can say so; that of a movie
    /// with a duration no longer than this.
    private func lastUntilLimit(_ last: EncodedPacket) throws(CaptureError) {
        guard let limit, let epoch, let muxer else { return }
        let nanosecond = AVRational(num: 1, den: 1_000_000_000)
        let end = av_rescale_q(limit.time - epoch, nanosecond, muxer.timeBase(of: .video))
        let lasting = unsafe end - last.packet.pointee.dts
        guard lasting > 0 else { return }
        switch limit.by {
        case nil where container.isISO: unsafe last.packet.pointee.duration = lasting
        case .duration: unsafe last.packet.pointee.duration = min(last.packet.pointee.duration, lasting)
        default: return
        }
    }

    /// Nothing of a movie that was never begun stays.
    private func forget() {
        preRoll = PreRoll(length: 0, mostBytes: 0)
        _ = early.release()
        file.truncate(to: 0)
        counters.update { ($0.duration, $0.bytes) = (0, 0) }
    }

    func salvage() {
        disk?.stop()
        let kept = good.kept
        // Without a picture or a sample there is nothing to play, and perhaps half a header.
        if kept.length == 0 { file.truncate(to: 0) } else { muxer?.salvage() }
        count(kept)
    }

    /// Counts what is in the file, if less than was taken is.
    private func count(_ kept: WrittenMedia.Amount) {
        let samples = timeline.map { max($0.frameCount(of: kept.soundEnd - soundOffset), 0) } ?? 0
        counters.update { counters in
            counters.frames = min(counters.frames, kept.frames)
            counters.samples = min(counters.samples, UInt64(samples))
            counters.duration = min(counters.duration, kept.length)
            counters.bytes = UInt64(file.size)
        }
    }

    var shortfall: CaptureError? {
        if isWaiting { return nil }
        // A picture came, and had no room.
        if firstVideo != nil, good.written.frames == 0,
            let fault = FileBudget.shortfall(reachedLimit, "a first picture")
        {
            return fault
        }
        if video != nil, frames == 0 {
            return CaptureError(.inputOutput, "the recording ended before the camera delivered a picture")
        }
        if let timeline, timeline.frames == 0, let fault = FileBudget.shortfall(reachedLimit, "sound") { return fault }
        if let timeline, timeline.frames == 0 {
            return CaptureError(.inputOutput, "the recording ended before the microphone delivered sound")
        }
        return nil
    }
}
