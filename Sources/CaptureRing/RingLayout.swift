/// Where everything lies in a ring: a sealed memfd that one process writes and any number map read-only.
///
/// `docs/ring.md` has the layout, field by field, and how to read and wait. The offsets below follow it.
public struct RingLayout: Hashable, Sendable {
    /// How many slots there are.
    public let slotCount: Int
    /// Bytes from one slot to the next, whole pages.
    public let slotStride: Int
    /// How many of the newest slots are never claimed for writing.
    public let kept: Int
    /// Where the order table starts.
    public let orderOffset: Int
    /// Where the slot descriptors start.
    public let descriptorsOffset: Int
    /// Where slot 0 starts.
    public let dataOffset: Int
    /// Bytes in all.
    public let fileSize: Int

    /// The version of the layout that this module writes and reads.
    public static let version: UInt32 = 1
    /// "CAPRING" and a zero byte, as one little-endian number.
    public static let magic: UInt64 = 0x0047_4E49_5250_4143
    /// Bytes of the header.
    public static let headerSize = 4096
    /// Bytes of a slot descriptor.
    public static let descriptorSize = 128
    /// The numbers of slots that a ring can have.
    public static let slotCounts = 2...4096

    /// Offsets of the header's fixed fields.
    enum Header {
        static let magic = 0
        static let version = 8
        static let headerSize = 12
        static let kind = 16
        static let slotCount = 20
        static let slotStride = 24
        static let orderOffset = 32
        static let descriptorsOffset = 40
        static let dataOffset = 48
        static let fileSize = 56
        static let descriptorSize = 64
        static let kept = 68
    }

    /// Offsets of the video format's fields.
    enum Video {
        static let pixelFormat = 128
        static let width = 132
        static let height = 136
        static let intervalNumerator = 140
        static let intervalDenominator = 144
        static let colorSpace = 148
        static let transfer = 152
        static let encoding = 156
        static let quantization = 160
        static let planeCount = 164
        static let mostPlanes = 4
        static let fields = 264

        /// Where a plane's offset, stride and size stand.
        static func plane(_ index: Int) -> (offset: Int, stride: Int, size: Int) {
            (168 + index * 24, 176 + index * 24, 184 + index * 24)
        }
    }

    /// Offsets of the audio format's fields.
    enum Audio {
        static let sampleFormat = 320
        static let sampleRate = 324
        static let channels = 328
        static let periodFrames = 332
    }

    /// Offsets of the metadata format's fields.
    enum Metadata {
        static let code = 384
        static let capacity = 388
    }

    /// Offsets of what changes with every buffer.
    enum Live {
        static let published = 1024
        static let futexWord = 1032
        static let end = 1036
        static let oldest = 1040
        static let lastTimestamp = 1048
        static let lastPublished = 1056
        static let drops = 1088
    }

    /// Offsets in a slot's descriptor, from its start.
    enum Slot {
        static let generation = 0
        static let sequence = 8
        static let timestamp = 16
        static let deviceSequence = 24
        static let position = 32
        static let bytesUsed = 40
        static let flags = 56
        static let lostBefore = 60
        static let publishedAt = 64
    }

    /// Where the order table's entry of a sequence lies.
    func order(of sequence: UInt64) -> Int {
        orderOffset + Int(sequence % UInt64(slotCount)) * 4
    }

    /// Where a slot's descriptor lies.
    func descriptor(of slot: Int) -> Int {
        descriptorsOffset + slot * RingLayout.descriptorSize
    }

    /// Where a slot's bytes lie.
    func data(of slot: Int) -> Int {
        dataOffset + slot * slotStride
    }
}
