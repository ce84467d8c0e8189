import CaptureCore

/// What a photo says of its making in XMP (ISO 16684-1), for programs that do not look into EXIF.
///
/// It is one text with a few values in it, so no library makes it. A packet that the camera wrote stays in its place.
enum XMPPacket {
    /// How the packet begins in a segment of JPEG.
    static let signature = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
    /// The keyword of a text of PNG, no compression, and no language.
    static let keyword = Array("XML:com.adobe.xmp\0\0\0\0\0".utf8)
    /// The number of TIFF's tag.
    static let tag: UInt32 = 700

    /// The packet, in UTF-8.
    static func bytes(_ facts: FileFacts) -> [UInt8] {
        let values = [
            ("xmp:CreateDate", facts.date.iso), ("xmp:CreatorTool", FileFacts.software),
            ("exif:DateTimeOriginal", facts.date.iso), ("tiff:Make", facts.origin.cameraMaker),
            ("tiff:Model", facts.origin.camera),
        ]
        let attributes = values.filter { !$0.1.isEmpty }.map { "\n  \($0.0)=\"\(escaped($0.1))\"" }.joined()
        let text = """
            <?xpacket begin="\u{feff}" id="W5M0MpCehiHzreSzNTczkc9d"?>
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
            <rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:exif="http://ns.adobe.com/exif/1.0/"
              xmlns:tiff="http://ns.adobe.com/tiff/1.0/"\(attributes)/>
            </rdf:RDF></x:xmpmeta>
            <?xpacket end="r"?>
            """
        return Array(text.utf8)
    }

    /// A device may have any name; control characters cannot stand in XML at all.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case _ where scalar.value < 0x20 || scalar.value == 0xfffe || scalar.value == 0xffff: continue
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
