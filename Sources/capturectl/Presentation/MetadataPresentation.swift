import CaptureKit

/// The metadata of cameras' frames, as JSON.
enum MetadataPresentation {
    static func json(_ metadata: CameraMetadata) -> JSON {
        [
            "timestamp": JSON(metadata.time.nanoseconds), "frame": metadata.frame.map { JSON($0) } ?? .null,
            "sequence": JSON(metadata.sequence), "format": JSON("\(metadata.format)"),
            "bytes": JSON(hexadecimal(metadata.bytes)),
            "blocks": metadata.uvcBlocks.map { .array($0.map(json)) } ?? .null,
        ]
    }

    private static func json(_ block: UVCMetadataBlock) -> JSON {
        [
            "hostTime": JSON(block.hostTime), "hostFrame": JSON(block.hostFrame), "flags": JSON(block.flags),
            "presentationTime": block.presentationTime.map { JSON($0) } ?? .null,
            "cameraClock": block.cameraClock.map { JSON($0) } ?? .null,
            "cameraFrame": block.cameraFrame.map { JSON($0) } ?? .null,
            "items": block.items.flatMap { $0.isEmpty ? nil : .array($0.map(json)) } ?? .null,
        ]
    }

    private static func json(_ item: UVCMetadataItem) -> JSON {
        ["id": JSON(item.id), "bytes": JSON(hexadecimal(item.bytes))]
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
