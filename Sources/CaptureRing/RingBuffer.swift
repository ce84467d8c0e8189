import CLinux
public import CaptureCore
import CaptureSystem

/// A published buffer, in the ring's own memory: nothing is copied.
///
/// The writer may claim its slot at any time. Whoever uses the bytes looks at `isIntact` afterwards, and throws away
/// what it made of them when that is false. Thread-safe: it can be looked at from any thread, and keeps the mapping.
public struct RingBuffer: Sendable {
    /// The ring's own count of buffers, without gaps.
    public let sequence: UInt64
    /// What the writer said about it.
    public let info: BufferInfo
    /// Buffers between the one read before and this one that were overwritten before they were read.
    public let missedBefore: UInt64
    /// When it was published.
    public let published: Timestamp
    let memory: RingMemory
    let generation: UInt64
    let generationOffset: Int
    let dataOffset: Int
    let planes: RingPlanes

    /// From the slot's start to the end of its last plane's bytes in use. Valid while the buffer is.
    public var bytes: UnsafeRawBufferPointer {
        var end = 0
        for index in 0..<planes.count { end = max(end, planes.offset(index) + used(index)) }
        return unsafe UnsafeRawBufferPointer(start: memory.address(dataOffset), count: end)
    }

    /// The bytes in use of one memory plane; empty for a plane that the format does not have.
    public func plane(_ index: Int) -> UnsafeRawBufferPointer {
        guard index >= 0, index < planes.count else { return unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
        return unsafe UnsafeRawBufferPointer(
            start: memory.address(dataOffset + planes.offset(index)),
            count: used(index)
        )
    }

    /// Whether the bytes are still those that were published. Asked after use: true means that all that was read until
    /// now was whole.
    public var isIntact: Bool {
        // Reads of the slot's bytes stay before the second look at the generation.
        clinux_fence_acquire()
        return memory.loadRelaxed64(generationOffset) == generation
    }

    /// Bytes in use of a plane; never more than the format gives it, whatever the descriptor says.
    private func used(_ index: Int) -> Int {
        let claimed =
            switch index {
            case 0: info.bytesUsed.0
            case 1: info.bytesUsed.1
            case 2: info.bytesUsed.2
            default: info.bytesUsed.3
            }
        return min(claimed, planes.size(index))
    }
}

/// Where the planes of a slot lie, without an allocation a buffer.
struct RingPlanes: Sendable {
    let count: Int
    private let offsets: (Int, Int, Int, Int)
    private let sizes: (Int, Int, Int, Int)

    init(_ format: MediaFormat) {
        var all: [(Int, Int)]
        switch format {
        case .video(let video): all = video.planes.map { ($0.offset, $0.size) }
        case .audio(let audio): all = [(0, audio.periodBytes)]
        case .metadata(let metadata): all = [(0, metadata.capacity)]
        }
        count = all.count
        while all.count < RingLayout.Video.mostPlanes { all.append((0, 0)) }
        offsets = (all[0].0, all[1].0, all[2].0, all[3].0)
        sizes = (all[0].1, all[1].1, all[2].1, all[3].1)
    }

    func offset(_ index: Int) -> Int { RingPlanes.pick(offsets, index) }
    func size(_ index: Int) -> Int { RingPlanes.pick(sizes, index) }

    private static func pick(_ four: (Int, Int, Int, Int), _ index: Int) -> Int {
        switch index {
        case 0: four.0
        case 1: four.1
        case 2: four.2
        default: four.3
        }
    }
}
