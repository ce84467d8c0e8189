import CLibAV
import CaptureCore
import CaptureSystem
import MediaExamination

/// What becomes of packets: given the times of the file, held until the header is there, written and flushed.
extension ContainerOutput {
    func submit(_ packet: EncodedPacket) throws(CaptureError) {
        if isTooOld(packet) { return }
        load.measure(packet)
        if muxer == nil {
            held.append(packet)
            try settle()
        } else {
            try mux(packet)
        }
    }

    func mux(_ encoded: EncodedPacket) throws(CaptureError) {
        guard let muxer else { return }
        if encoded.kind == .audio, clocks[.audio] == nil { clocks[.audio] = soundClock(muxer) }
        guard let time = unsafe clocks[encoded.kind]?.stamp(encoded.packet, duration: video?.nominal ?? 0) else {
            return
        }
        // A container that cannot name the sound's padding leaves it out where it lies before the beginning.
        if encoded.kind == .audio, unsafe encoded.packet.pointee.pts < 0, container == .matroska, !namesPadding {
            return
        }
        // An encoder's last packet can be empty, at the very end: what it tells the header, FLAC's length, is beside it.
        if limits.duration > 0, time >= limits.duration, !encoded.isEmpty { return }
        guard try hasRoom(for: encoded, at: time) else { return }
        guard encoded.kind == .video else { return try write(encoded, at: time) }
        // MP4 has a picture last until the next one, in the order of decoding: it waits for that one's time. Matroska's
        // pictures last as long as the camera's do: one that is decoded before a gap may be shown after it.
        if let before = lastPicture {
            let step = unsafe encoded.packet.pointee.dts - before.packet.packet.pointee.dts
            let usual = unsafe before.packet.packet.pointee.duration
            unsafe before.packet.packet.pointee.duration =
                container.isISO || usual <= 0 ? step : min(step, usual)
            try write(before.packet, at: before.time)
        }
        lastPicture = (encoded, time)
    }

    func write(_ encoded: EncodedPacket, at time: Int64) throws(CaptureError) {
        // By the stream's own time: one may be far ahead of the other after a stall.
        let since = time - (flushed[encoded.kind] ?? 0)
        let isAtKey = encoded.kind == .video && encoded.isKeyframe && since >= limits.fragmentInterval * 4 / 5
        let isDue = isAtKey || since >= limits.fragmentInterval || unflushed >= ContainerOutput.mostUnflushed
        if isDue, unflushed > 0 { try flush() }
        written[encoded.kind] = time
        try writeMetadata(until: time)
        if hasSizes { load.write(encoded) }
        try muxer?.write(encoded)
        var lasting = muxer?.nanoseconds(unsafe encoded.packet.pointee.duration, encoded.kind) ?? 0
        if encoded.kind == .video, let usual = video?.nominal, usual > 0 { lasting = min(lasting, usual) }
        good.note(encoded, from: time, lasting: lasting)
        unflushed += ContainerLoad.bytes(of: encoded)
    }

    /// Whether the container says how much of the sound's start is padding.
    private var namesPadding: Bool { sound?.name == "libopus" }

    /// Where the sound begins in the file, in nanoseconds.
    var soundOffset: Int64 { epoch.flatMap { zero in timeline?.start.map { $0 - zero } } ?? 0 }

    private func soundClock(_ muxer: Muxer) -> PacketClock {
        let rate = Int32(clamping: sound?.rate ?? 48000)
        let to = muxer.timeBase(of: .audio)
        // An edit list takes the padding away again, or Matroska's CodecDelay, which libavformat writes for Opus without
        // moving the blocks by it (tried, 5.1).
        let isShifted = container.isISO || (container == .matroska && namesPadding)
        return PacketClock(
            offset: soundOffset,
            from: AVRational(num: 1, den: rate),
            to: to,
            shift: isShifted ? av_rescale_q(Int64(sound?.padding ?? 0), AVRational(num: 1, den: rate), to) : 0
        )
    }

    func flush() throws(CaptureError) {
        try muxer?.flush(length: good.length, interval: interval.nanoseconds)
        good.keep()
        load.flushed(to: file.size)
        unflushed = 0
        lastFlush = .now
        flushed = written
        if let disk, file.position != lastSync {
            lastSync = file.position
            disk.request()
        }
        counters.update { counters in
            // What is told while it goes on is what a kill leaves.
            counters.duration = good.kept.length
            counters.bytes = UInt64(file.size)
        }
    }
}
