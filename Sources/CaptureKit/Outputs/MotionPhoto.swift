public import CaptureCore
public import CaptureSystem

/// A photo with a movie of the time around it, in one file: a JPEG that has an MP4 behind its end and says so in XMP, as Google's
/// Motion Photo 1.0 has it. Programs that do not know it show the photo.
///
/// The media library keeps a live photo as such a file. This takes it apart:
///
///     let file = try await library.contents(of: asset.id)
///     if let motion = try MotionPhoto(file: file) { print(motion.photo.count, motion.movie.count) }
///
/// Files may come from anybody: lengths that a file names are checked before they are used.
public struct MotionPhoto: Hashable, Sendable {
    /// The JPEG. One that `LivePhoto.file` joined is as it was before that.
    public let photo: [UInt8]
    /// The MP4.
    public let movie: [UInt8]
    /// When in the movie the photo was captured; `nil` if the file does not tell.
    public let stillTime: Duration?

    /// The photo and the movie in the bytes of a JPEG; `nil` for anything else, and for a JPEG without a movie.
    ///
    /// - Throws: `CaptureError.Code.badData` for a file that says something impossible of its movie.
    public init?(jpeg: [UInt8]) throws(CaptureError) {
        try self.init(size: Int64(jpeg.count)) { place, count in
            Array(jpeg[Int(place)..<min(Int(place) + count, jpeg.count)])
        }
    }

    /// The photo and the movie in a file, which is read without moving its position; otherwise as for bytes.
    ///
    /// - Parameter file: A regular file, open for reading.
    /// - Throws: `CaptureError.Code.inputOutput` if it cannot be read; `badData` as for bytes.
    public init?(file: Descriptor) throws(CaptureError) {
        try self.init(size: try FilePart.size(of: file, "a movie")) { place, count throws(CaptureError) in
            try FilePart.read(file, place, count, "photo")
        }
    }

    private init?(
        size: Int64,
        read: (_ place: Int64, _ count: Int) throws(CaptureError) -> [UInt8]
    ) throws(CaptureError) {
        let head = try read(0, Int(min(size, Self.mostHead)))
        guard head.starts(with: [0xff, 0xd8, 0xff]), let packet = Self.packet(of: head)?.text,
            let facts = MotionFacts(packet)
        else { return nil }
        guard let length = facts.length, length >= 16, Int64(length) < size, Int64(length) <= Self.mostMovie else {
            throw CaptureError(
                .badData,
                "the photo has \(size) bytes, and says that a movie of \(facts.length.map { "\($0)" } ?? "no length") is in it"
            )
        }
        let (place, photoLength) = (size - Int64(length), Int(size) - length)
        guard photoLength <= Self.mostMovie else {
            throw CaptureError(.badData, "the photo has \(photoLength) bytes without its movie, too many")
        }
        let (photo, movie) = (try read(0, photoLength), try read(place, length))
        guard photo.count == photoLength, movie.count == length else {
            throw CaptureError(.badData, "the photo became shorter while it was read")
        }
        guard movie[4...].starts(with: "ftyp".utf8) else {
            throw CaptureError(.badData, "the photo says that a movie begins at \(place), but no movie is there")
        }
        self.photo = Self.unmarked(photo, facts.still ?? 0, length)
        self.movie = movie
        stillTime = facts.still.map { .microseconds($0) }
    }

    // MARK: Its parts

    /// Bytes before the picture that are looked at: more segments than these are no photo's.
    private static let mostHead: Int64 = 4 << 20
    /// Bytes that a movie or a photo may have.
    private static let mostMovie = 1 << 30
    /// How a segment of JPEG begins that has XMP.
    private static let signature = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
    /// Bytes behind a segment's marker, at most.
    private static let mostBytes = 0xffff

    /// The file of a photo and a movie.
    ///
    /// - Parameter still: When in the movie the photo was captured.
    static func join(_ jpeg: [UInt8], _ movie: [UInt8], still: Duration) throws(CaptureError) -> [UInt8] {
        guard jpeg.starts(with: [0xff, 0xd8, 0xff]), jpeg.suffix(2) == [0xff, 0xd9] else {
            throw CaptureError(.badData, "the photo of a live photo is no JPEG")
        }
        let facts = description(still.nanoseconds / 1000, movie.count)
        var place = 2
        if let (place, text) = packet(of: jpeg) {
            guard let end = text.range(of: "</rdf:RDF>") else {
                throw CaptureError(.badData, "the photo of a live photo has XMP that does not end")
            }
            let longer = try segment(text[..<end.lowerBound] + facts + text[end.lowerBound...])
            return jpeg[..<place.lowerBound] + longer + jpeg[place.upperBound...] + movie
        }
        for segment in segments(of: jpeg) {
            // Behind the first ones, which say what the file is: JFIF's and EXIF's.
            if [0xe0, 0xe1].contains(jpeg[segment.lowerBound + 1]) { place = segment.upperBound }
        }
        return jpeg[..<place] + (try segment(Self.packet(with: facts))) + jpeg[place...] + movie
    }

    /// A packet of XMP with nothing else.
    private static func packet(with facts: String) -> String {
        """
        <?xpacket begin="\u{feff}" id="W5M0MpCehiHzreSzNTczkc9d"?>
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
        \(facts)</rdf:RDF></x:xmpmeta>
        <?xpacket end="r"?>
        """
    }

    /// The first packet of XMP, and its segment.
    private static func packet(of jpeg: [UInt8]) -> (segment: Range<Int>, text: String)? {
        for segment in segments(of: jpeg) where jpeg[segment.lowerBound + 1] == 0xe1 {
            let body = jpeg[segment].dropFirst(4)
            guard body.starts(with: signature) else { continue }
            return (segment, String(decoding: body.dropFirst(signature.count), as: UTF8.self))
        }
        return nil
    }

    /// A photo without what `join` said in it of a movie; one that others joined stays as it is.
    private static func unmarked(_ jpeg: [UInt8], _ still: Int64, _ length: Int) -> [UInt8] {
        let facts = description(still, length)
        guard let (place, text) = packet(of: jpeg), let said = text.range(of: facts) else { return jpeg }
        // It made the packet itself if there is nothing else in it. What is left of another's is shorter than before, so it
        // has room.
        let isOwn = text == packet(with: facts)
        let rest = try? isOwn ? [] : segment(text[..<said.lowerBound] + text[said.upperBound...])
        return rest.map { jpeg[..<place.lowerBound] + $0 + jpeg[place.upperBound...] } ?? jpeg
    }

    /// The segments before the picture.
    private static func segments(of jpeg: [UInt8]) -> [Range<Int>] {
        var segments: [Range<Int>] = []
        var place = 2
        while place + 4 <= jpeg.count, jpeg[place] == 0xff, jpeg[place + 1] != 0xda {
            let end = place + 2 + Int(jpeg[place + 2]) << 8 + Int(jpeg[place + 3])
            guard end > place + 3, end <= jpeg.count else { break }
            segments.append(place..<end)
            place = end
        }
        return segments
    }

    private static func segment(_ packet: some StringProtocol) throws(CaptureError) -> [UInt8] {
        let body = signature + Array(packet.utf8)
        guard body.count + 2 <= mostBytes else {
            throw CaptureError(.badData, "the photo of a live photo has no room in its XMP")
        }
        let count = body.count + 2
        return [0xff, 0xe1, UInt8(count >> 8), UInt8(count & 0xff)] + body
    }

    private static func description(_ microseconds: Int64, _ bytes: Int) -> String {
        func item(_ mime: String, _ semantic: String, _ length: Int) -> String {
            """
              <rdf:li rdf:parseType="Resource"><Container:Item Item:Mime="\(mime)" Item:Semantic="\(semantic)" \
            Item:Length="\(length)" Item:Padding="0"/></rdf:li>

            """
        }
        return """
            <rdf:Description rdf:about="" xmlns:GCamera="http://ns.google.com/photos/1.0/camera/"
              xmlns:Container="http://ns.google.com/photos/1.0/container/"
              xmlns:Item="http://ns.google.com/photos/1.0/container/item/"
              GCamera:MotionPhoto="1" GCamera:MotionPhotoVersion="1"
              GCamera:MotionPhotoPresentationTimestampUs="\(microseconds)">
             <Container:Directory><rdf:Seq>
            \(item("image/jpeg", "Primary", 0))\(item("video/mp4", "MotionPhoto", bytes)) </rdf:Seq></Container:Directory>
            </rdf:Description>

            """
    }
}

/// What a packet of XMP says of a movie behind the photo.
private struct MotionFacts {
    /// Bytes of the movie; `nil` if that cannot be understood.
    var length: Int?
    /// Microseconds from the movie's beginning.
    var still: Int64?

    /// - Returns: `nil` if it tells of none.
    init?(_ packet: String) {
        var isMotion = false
        var items = 0
        for tag in packet.split(separator: "<") {
            if let value = Self.value(of: "MotionPhoto", in: tag) { isMotion = isMotion || value == "1" }
            if let value = Self.value(of: "MotionPhotoPresentationTimestampUs", in: tag) {
                still = Int64(value).flatMap { (0...1_000_000_000_000).contains($0) ? $0 : nil }
            }
            guard Self.value(of: "Semantic", in: tag) == "MotionPhoto" else { continue }
            items += 1
            length = Self.value(of: "Length", in: tag).flatMap { Int($0) }
        }
        guard isMotion, items > 0 else { return nil }
        if items > 1 { length = nil }
    }

    /// The value of an attribute, whatever its prefix.
    private static func value(of name: String, in tag: Substring) -> Substring? {
        for part in tag.split(separator: ":").dropFirst() where part.hasPrefix(name) {
            let rest = part.dropFirst(name.count)
            guard rest.first == "=", let quote = rest.dropFirst().first, quote == "\"" || quote == "'" else { continue }
            return rest.dropFirst(2).prefix { $0 != quote }
        }
        return nil
    }
}

extension String {
    /// Where another text is in this one, first.
    fileprivate func range(of other: String) -> Range<Index>? {
        let (text, wanted) = (utf8, other.utf8)
        return text.indices.first { text[$0...].starts(with: wanted) }.map { start in
            start..<text.index(start, offsetBy: wanted.count)
        }
    }
}
