import CLibAV
import CaptureCore
import MediaConversion

/// Looks into a file of sound, from its first packet to its last. Thread-bound.
@safe
struct SoundExamination {
    /// How much of a sound is decoded at most, in nanoseconds; of a longer one, stretches all over it.
    private static let decoded: Int64 = 900_000_000_000
    /// Packets of such a stretch.
    private static let stretch = 8

    private let container: MediaContainer
    private let sound: UnsafeMutablePointer<AVStream>
    private let signature: MediaSignature
    private let structure: ContainerStructure
    private let isWhole: Bool

    init(
        _ container: MediaContainer,
        _ sound: UnsafeMutablePointer<AVStream>,
        _ signature: MediaSignature,
        _ structure: ContainerStructure,
        isWhole: Bool
    ) {
        self.container = container
        unsafe self.sound = unsafe sound
        self.signature = signature
        self.structure = structure
        self.isWhole = isWhole
    }

    func run() throws(CaptureError) -> Examination {
        let parameters = unsafe UnsafePointer(sound.pointee.codecpar)
        guard let parameters = unsafe parameters else { throw CaptureError(.badData, "the sound has no form") }
        if isWhole { try container.checkIndex() }
        let codec = unsafe parameters.pointee.codec_id
        let base = unsafe sound.pointee.time_base
        let said = unsafe MediaContainer.nanoseconds(sound.pointee.duration, base)
        // Frames of FLAC carry sums, so that what is damaged shows; other decoders conceal more than they find.
        let isChecked = codec == AV_CODEC_ID_FLAC && isWhole
        let decoder = try unsafe StreamDecoder(codec, parameters, isStrict: isChecked)
        var reading = Reading(decoder, step: Int(said / SoundExamination.decoded) + 1, isChecked: isChecked)
        try read(&reading, base)
        guard reading.decoded > 0 else {
            throw CaptureError(.badData, "no sound of the \(signature.name) file can be decoded")
        }
        let heard = max(0, reading.end - (reading.start ?? 0))
        if isChecked, heard + 1_000_000 < said {
            throw CaptureError(
                .badData,
                "the \(signature.name) file is cut off: it says \(seconds(said)) s of sound, and \(seconds(heard)) s are there"
            )
        }
        let isTold = said > 0 && isWhole && !structure.isOpenEnded
        let duration = isTold ? said : heard
        guard duration > 0 else { throw CaptureError(.badData, "the \(signature.name) file has no length") }
        let media = ExaminedMedia(
            kind: .sound,
            mediaType: signature.mediaType(.sound),
            codec: StreamDecoder.name(of: codec),
            duration: duration,
            created: container.created
        )
        return Examination(media, try Thumbnails.make(reading.wave.picture(), .upright))
    }

    private func seconds(_ time: Int64) -> String { "\(time / 1_000_000_000).\(time / 100_000_000 % 10)" }

    /// What is known of the sound so far.
    private struct Reading {
        let decoder: StreamDecoder
        /// One packet in so many is decoded.
        let step: Int
        let isChecked: Bool
        var wave = SoundWave()
        var (start, end): (Int64?, Int64) = (nil, 0)
        var decoded = 0

        init(_ decoder: StreamDecoder, step: Int, isChecked: Bool) {
            self.decoder = decoder
            self.step = step
            self.isChecked = isChecked
        }

        mutating func decode(_ packet: EncodedPacket, at time: Int64) throws(CaptureError) {
            var fault = decoder.send(packet)
            while fault >= 0 {
                fault = decoder.receive()
                guard fault >= 0 else { break }
                decoded += 1
                unsafe wave.add(decoder.frame, at: time)
            }
            guard fault == cav_error_eagain || fault == cav_error_eof || !isChecked else {
                throw CaptureError(
                    .badData,
                    "the sound is cut off or damaged at byte \(unsafe packet.packet.pointee.pos): \(LibAV.text(of: fault))"
                )
            }
        }
    }

    private func read(_ reading: inout Reading, _ base: AVRational) throws(CaptureError) {
        var (packet, spare) = (try EncodedPacket(.audio), try EncodedPacket(.audio))
        var skipped: Int64?
        var count = 0
        while true {
            do throws(CaptureError) {
                guard try container.read(spare) else { break }
            } catch {
                if !isWhole { break }
                throw error
            }
            guard unsafe spare.packet.pointee.stream_index == sound.pointee.index else { continue }
            swap(&packet, &spare)
            // Where the length was not known, the last packet is what is left.
            if unsafe packet.packet.pointee.flags & AV_PKT_FLAG_CORRUPT != 0, isWhole, !structure.isOpenEnded {
                throw CaptureError(.badData, "the \(signature.name) file is cut off: its last packet is not whole")
            }
            let time = unsafe MediaContainer.nanoseconds(packet.packet.pointee.pts, base)
            let isTimed = unsafe packet.packet.pointee.pts != cav_no_pts
            let begin = isTimed ? time : reading.end
            reading.start = min(reading.start ?? begin, begin)
            reading.end = max(
                reading.end,
                begin + MediaContainer.nanoseconds(unsafe packet.packet.pointee.duration, base)
            )
            let isSkipped = count / SoundExamination.stretch % reading.step != 0
            count += 1
            skipped = isSkipped ? begin : nil
            if !isSkipped { try reading.decode(packet, at: begin) }
        }
        // The last one tells whether the file was cut within it.
        if let skipped { try reading.decode(packet, at: skipped) }
        _ = reading.decoder.send(nil)
        if reading.decoder.receive() == 0 {
            reading.decoded += 1
            unsafe reading.wave.add(reading.decoder.frame, at: reading.end)
        }
    }
}
