import CLibAV
import CaptureCore
import CaptureSystem

/// How a file begins: when its 0 is, and when its header is written.
extension ContainerOutput {
    /// The time that is the file's 0, as far as it is known.
    var epoch: Timestamp? {
        [firstVideo, timeline?.start].compactMap { $0 }.min() ?? origin
    }

    /// The file begins with what was captured at that time.
    func begin(from time: Timestamp) {
        if origin == nil { origin = time }
        if begun == nil { begun = .now }
        if limits.duration > 0, limit == nil || (muxer == nil && limit?.by == .duration) {
            let first = min(time, epoch ?? time)
            setLimit(first.advanced(by: limits.duration), by: .duration)
        }
    }

    func setLimit(_ end: Timestamp, by cause: RecordingLimit?) {
        limit = (end, cause)
        guard let timeline, let start = timeline.start else { return }
        timeline.limit = max(timeline.frameCount(of: end - start), timeline.frames)
    }

    /// Writes the header once every stream has begun, or was waited for long enough.
    func settle(force: Bool = false) throws(CaptureError) {
        guard muxer == nil else { return }
        let waitsForVideo = video != nil && firstVideo == nil && !ended.contains(.video)
        let waitsForSound = timeline != nil && timeline?.start == nil && !ended.contains(.audio)
        if waitsForVideo || waitsForSound, !force {
            if waitsForVideo, lacksFirstPicture { return }
            // Sound that was let go had waited for the picture already.
            guard waitsForSound || timeline?.start == nil else { return try writeHeader() }
            guard let begun, let epoch, Timestamp.now - begun > ContainerOutput.patience,
                newest - epoch > ContainerOutput.patience
            else { return }
        }
        try writeHeader()
    }

    private func writeHeader() throws(CaptureError) {
        let made = try Muxer(container, file, duration: limits.expected, size: limits.segmentSize ?? 0)
        if let video, !lacksFirstPicture { try video.add(to: made) }
        if let sound { try unsafe made.addStream(.audio, encoder: sound.context) }
        if metadata != nil { try made.addMetadata() }
        let padding = sound?.padding ?? 0
        let usesEdits = container.isISO && padding > 0
        let zero = epoch ?? .now
        let facts = FileFacts(devices, tags, at: zero.advanced(by: pausedBefore))
        made.describe(facts)
        noteCapture(at: zero, paused: pausedBefore)
        counters.update { $0.start = max(facts.date.sinceEpoch, 0) }
        let reordering = container.isISO ? video?.reordering ?? 0 : 0
        try made.writeHeader(
            audioPadding: usesEdits ? padding : 0,
            reordering: reordering,
            fragments: limits.fragmentInterval
        )
        muxer = made
        load.flushed(to: file.size)
        try budget.noteHole()
        if video != nil {
            clocks[.video] = PacketClock(
                offset: (origin ?? zero) - zero,
                from: AVRational(num: 1, den: 1_000_000),
                to: made.timeBase(of: .video),
                shift: av_rescale_q(
                    reordering,
                    AVRational(num: 1, den: 1_000_000_000),
                    made.timeBase(of: .video)
                )
            )
        }
        for packet in held { try mux(packet) }
        held = []
    }

    private var newest: Timestamp {
        [lastVideo, soundEnd].compactMap { $0 }.max() ?? origin ?? Timestamp(nanoseconds: 0)
    }
}
