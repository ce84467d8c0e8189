import CaptureCore

/// A JPEG that has an MP4 behind its end, and says so in XMP: Google's Motion Photo 1.0. Programs that do not know it show the
/// photo.
enum MotionPhoto {
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
        for segment in segments(of: jpeg) {
            let body = jpeg[segment].dropFirst(4)
            if jpeg[segment.lowerBound + 1] == 0xe1, body.starts(with: signature) {
                let packet = String(decoding: body.dropFirst(signature.count), as: UTF8.self)
                guard let end = packet.range(of: "</rdf:RDF>") else {
                    throw CaptureError(.badData, "the photo of a live photo has XMP that does not end")
                }
                let text = packet[..<end.lowerBound] + facts + packet[end.lowerBound...]
                return jpeg[..<segment.lowerBound] + (try self.segment(String(text))) + jpeg[segment.upperBound...]
                    + movie
            }
            // Behind the first ones, which say what the file is: JFIF's and EXIF's.
            if [0xe0, 0xe1].contains(jpeg[segment.lowerBound + 1]) { place = segment.upperBound }
        }
        let packet = """
            <?xpacket begin="\u{feff}" id="W5M0MpCehiHzreSzNTczkc9d"?>
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
            \(facts)</rdf:RDF></x:xmpmeta>
            <?xpacket end="r"?>
            """
        return jpeg[..<place] + (try segment(packet)) + jpeg[place...] + movie
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

    private static func segment(_ packet: String) throws(CaptureError) -> [UInt8] {
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

extension String {
    /// Where another text is in this one, first.
    fileprivate func range(of other: String) -> Range<Index>? {
        let (text, wanted) = (utf8, other.utf8)
        return text.indices.first { text[$0...].starts(with: wanted) }.map { start in
            start..<text.index(start, offsetBy: wanted.count)
        }
    }
}
