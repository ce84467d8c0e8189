import CLibAV
import CaptureCore
import Glibc
import MediaConversion

/// Looks into a file that is one picture. Thread-bound.
struct PhotoExamination {
    /// What memory is filled with before a picture is decoded into it; the second when the first was found there.
    private static let fillings: [UInt8] = [0xa5, 0x5a]

    private let file: ExaminedFile
    private let signature: MediaSignature

    init(_ file: ExaminedFile, _ signature: MediaSignature) {
        self.file = file
        self.signature = signature
    }

    func run() throws(CaptureError) -> Examination {
        let loaded = try file.load()
        // What looks at the bytes does not hold them.
        defer { withExtendedLifetime(loaded) {} }
        let bytes = unsafe ByteView(loaded.bytes)
        let structure = try PhotoStructure(signature, bytes)
        var picture: Raster
        var size: (width: Int, height: Int)
        if signature == .jpeg {
            let photo = try JPEGPhoto(bytes)
            size = photo.size
            try Examination.check(size.width, size.height)
            picture = try photo.decode()
        } else {
            if let size = structure.size { try check(size.width, size.height) }
            let decoder = try decoded(loaded)
            defer { withExtendedLifetime(decoder) {} }
            let frame = unsafe decoder.frame
            size = unsafe (Int(frame.pointee.width), Int(frame.pointee.height))
            try check(size.width, size.height)
            let fitting = Raster.fit(size.width, size.height, within: ExaminedMedia.thumbnailEdges.max() ?? 1)
            picture = try unsafe Raster(frame, width: fitting.width, height: fitting.height, isPhoto: true)
        }
        let orientation = structure.exif?.orientation ?? .upright
        let isDNG = signature == .tiff && structure.exif?.isDNG == true
        if isDNG, let developed = developed(bytes, size) {
            picture = developed
        } else if isDNG {
            // The decoder makes a sensor's numbers linear.
            picture.codeLight()
        }
        if orientation.swapsSides { size = (size.height, size.width) }
        let media = ExaminedMedia(
            kind: .photo,
            mediaType: isDNG ? "image/x-adobe-dng" : signature.mediaType(.photo),
            codec: signature == .jpeg ? "mjpeg" : isDNG ? "dng" : signature.name.lowercased(),
            width: UInt32(size.width),
            height: UInt32(size.height),
            created: structure.exif?.date
        )
        return Examination(media, try Thumbnails.make(picture, orientation))
    }

    /// The JPEG that a DNG has inside, of the very size of its picture; `nil` for none that is whole.
    private func developed(_ bytes: ByteView, _ size: (width: Int, height: Int)) -> Raster? {
        let found = try? DNGPreview.find(size: Int64(bytes.count)) { place, count in
            bytes.part(from: Int(place), count: count).map { part in unsafe part.withBytes { unsafe Array($0) } } ?? []
        }
        guard let found, let part = bytes.part(from: Int(found.place), count: found.count),
            let photo = try? JPEGPhoto(part), photo.size == size
        else { return nil }
        return try? photo.decode()
    }

    private func check(_ width: Int, _ height: Int) throws(CaptureError) {
        try Examination.check(width, height)
        guard av_image_check_size(UInt32(width), UInt32(height), 0, nil) >= 0 else {
            throw CaptureError(
                .badData,
                "the picture is \(width) x \(height), more than the decoder of \(signature.name) takes; a JPEG may be so large"
            )
        }
    }

    /// The picture by libavcodec, with its last row decoded: its decoders are content with less.
    private func decoded(_ loaded: EncodedPacket) throws(CaptureError) -> StreamDecoder {
        for filling in PhotoExamination.fillings {
            let decoder = try decode(loaded, filling: filling)
            // A picture may be of just that value, and not of both.
            if !decoder.lastRow(is: filling) { return decoder }
        }
        throw CaptureError(.badData, "the \(signature.name) is cut off: its last rows are missing")
    }

    private func decode(_ loaded: EncodedPacket, filling: UInt8) throws(CaptureError) -> StreamDecoder {
        let codecs: [MediaSignature: AVCodecID] = [
            .png: AV_CODEC_ID_PNG, .webp: AV_CODEC_ID_WEBP, .tiff: AV_CODEC_ID_TIFF, .gif: AV_CODEC_ID_GIF,
        ]
        // The decoder of TIFF takes a tag that it does not know for a fault when it is strict; places beyond the end of the
        // file it refuses always.
        let isStrict = signature != .tiff
        let codec = codecs[signature] ?? AV_CODEC_ID_NONE
        let decoder = try unsafe StreamDecoder(codec, isStrict: isStrict, filling: filling)
        var fault = decoder.send(loaded)
        if fault >= 0 { fault = decoder.receive() }
        if fault == cav_error_eagain {
            _ = decoder.send(nil)
            fault = decoder.receive()
        }
        if fault == cav_error_from_errno(ENOMEM) {
            throw CaptureError(.badData, "the \(signature.name) takes more memory than looking into one may take")
        }
        guard fault == 0, decoder.isIntact else {
            let reason = fault == 0 ? "parts are missing" : LibAV.text(of: fault)
            throw CaptureError(.badData, "the \(signature.name) is cut off or damaged: \(reason)")
        }
        return decoder
    }
}
