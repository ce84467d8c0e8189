/// Where everything lies in a ring: a sealed memfd (memfd_create(2), `F_SEAL_SHRINK | F_SEAL_GROW |
/// F_SEAL_FUTURE_WRITE | F_SEAL_SEAL`) that one process writes and any number map read-only.
///
/// All numbers are little-endian and naturally aligned. Offsets are in bytes from the start of the file unless said
/// otherwise. A program in any language can map a ring by this table; an example in Python is among the tests.
///
///     THE HEADER, 4096 bytes; fixed from creation, but for the live part
///        0  u8[8]  magic                 "CAPRING" and a zero byte
///        8  u32    layout version        1
///       12  u32    header size           4096
///       16  u32    kind                  1 video, 2 audio
///       20  u32    slot count            2 to 4096
///       24  u64    slot stride           bytes from one slot to the next, whole pages
///       32  u64    order offset          of the order table: `slot count` entries of u32
///       40  u64    descriptors offset    of the slot descriptors: `slot count` of 128 bytes
///       48  u64    data offset           of slot 0, page-aligned
///       56  u64    file size             data offset + slot count * slot stride
///       64  u32    descriptor size       128
///       68  u32    kept                  how many of the newest slots are never claimed for writing
///     video format
///      128  u32    pixel format          four-character code, as in linux/videodev2.h
///      132  u32    width                 pixels
///      136  u32    height                rows
///      140  u32    interval numerator    seconds from frame to frame, 0 unknown
///      144  u32    interval denominator  at least 1
///      148  u32    colour space          enum v4l2_colorspace, 0 unknown
///      152  u32    transfer function     enum v4l2_xfer_func
///      156  u32    encoding              enum v4l2_ycbcr_encoding
///      160  u32    quantization          enum v4l2_quantization
///      164  u32    plane count           memory planes, 1 to 4
///      168  24 bytes a plane:            u64 offset from the start of the slot, u64 stride (0 when compressed),
///                                        u64 size
///     audio format
///      320  u32    sample format         1 S16_LE, 2 S24_3LE, 3 S32_LE, 4 FLOAT_LE
///      324  u32    sample rate           Hz
///      328  u32    channels              interleaved
///      332  u32    period frames         sample frames a slot holds at most
///     live part: what changes on every buffer, on a cache line of its own
///     1024  u64    published             buffers published so far = the sequence of the next one
///     1032  u32    futex word            changes on every publication and at the end; FUTEX_WAIT on it (not PRIVATE)
///     1036  u32    end                   0 streaming, 1 stopped, 2 device lost, 3 moved to another ring, 4 revoked
///     1040  u64    oldest                sequence of the oldest buffer that is not being written again
///     1048  i64    last timestamp        ns on CLOCK_MONOTONIC: capture of the newest buffer
///     1056  i64    last published at     ns on CLOCK_MONOTONIC
///     1088  u64[8] drops                 by cause: sequence gap, device error, no slot, overrun, revocation, paused, 0, 0
///
///     THE ORDER TABLE
///       entry s % slot count             u32 slot that holds the buffer of sequence s
///
///     A SLOT DESCRIPTOR, 128 bytes
///        0  u64    generation            odd while the slot is being written, even when it is whole
///        8  u64    sequence              the ring's own count, from 0, without gaps
///       16  i64    timestamp             ns on CLOCK_MONOTONIC
///       24  u64    device sequence       the device's count, losses included
///       32  u64    position              sound: sample frames before the first of this slot, silence included
///       40  u32[4] bytes used            of each memory plane; sound uses the first
///       56  u32    flags                 1 keyframe, 2 monotonic, 4 stamped on arrival, 8 start of exposure,
///                                        16 silence, 32 discontinuity
///       60  u32    lost before           frames or periods lost directly before this one
///       64  i64    published at          ns on CLOCK_MONOTONIC
///       72  u8[56] zero
///
/// **Reading a buffer** of sequence s: load `published` (acquire), s must be below it; take the slot from the order
/// table; load the descriptor's generation (acquire): it must be even, and the descriptor's sequence must be s, else
/// the buffer was overwritten and is missed. Use the bytes; then, after an acquire fence, load the generation again: if
/// it differs, what was read may be torn and must be thrown away.
///
/// **Waiting**: load the futex word, look whether there is something new or an end, and if not FUTEX_WAIT on the word
/// with that value.
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
