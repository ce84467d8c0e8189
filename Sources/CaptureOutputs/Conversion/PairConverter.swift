import CaptureRing
import MediaConversion

/// Makes of one slot what two encoders take, so that both have the same frame. Thread-bound to one reader; `parts` is for
/// any thread.
final class PairConverter: BufferConverter {
    /// Room for the length of the first part; what follows stays aligned.
    private static let head = 64

    private let first: any BufferConverter
    private let second: any BufferConverter
    /// Where the second part begins.
    private let middle: Int

    let capacity: Int

    init(_ first: any BufferConverter, _ second: any BufferConverter) {
        self.first = first
        self.second = second
        // Some decoders read a few bytes past the end of what they are given.
        middle = PairConverter.head + (first.capacity + 127) / 64 * 64
        capacity = middle + second.capacity
    }

    func convert(_ buffer: RingBuffer, into memory: UnsafeMutableRawBufferPointer) -> Int? {
        guard memory.count >= capacity else { return nil }
        let room = unsafe UnsafeMutableRawBufferPointer(
            rebasing: memory[PairConverter.head..<PairConverter.head + first.capacity]
        )
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[middle...])
        guard let made = unsafe first.convert(buffer, into: room),
            let more = unsafe second.convert(buffer, into: rest)
        else { return nil }
        unsafe memory.storeBytes(of: made, as: Int.self)
        return middle + more
    }

    /// The two parts of a buffer that it made.
    func parts(of buffer: MediaBuffer) -> [MediaBuffer] {
        let made = unsafe buffer.bytes.load(as: Int.self)
        return [buffer.part(PairConverter.head..<PairConverter.head + made), buffer.part(middle..<buffer.count)]
    }
}
