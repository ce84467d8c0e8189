import CaptureCore
import MediaExamination

/// Which packets the index of a Matroska file points at. libavformat keeps 40 bytes for each until the file ends, and would
/// note every picture of a stream in which decoding can begin everywhere. Thread-bound.
struct SparseIndex {
    /// Nanoseconds between two places. Players read on from the one before what is looked for.
    static let interval: Int64 = 900_000_000

    /// How many packets it points at.
    private(set) var count: Int64 = 0
    private var last: Int64?
    private var heldSound: Int64?

    /// Takes the next packet, at nanoseconds of the file, and says whether what libavformat writes now may be noted.
    mutating func takes(_ packet: EncodedPacket, at time: Int64, hasVideo: Bool) -> Bool {
        guard packet.isKeyframe, packet.kind == .video || !hasVideo else { return false }
        var noted = time
        if packet.kind == .audio {
            // It holds each packet of sound until the next comes.
            defer { heldSound = time }
            guard let held = heldSound else { return false }
            noted = held
        }
        if let last, noted - last < SparseIndex.interval { return false }
        last = noted
        count += 1
        return true
    }
}
