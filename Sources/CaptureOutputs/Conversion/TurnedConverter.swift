import CaptureCore
import CaptureRing
import MediaConversion
import MediaExamination

/// Turns and mirrors pictures of red, green and blue that another converter makes. One photo needs no faster way.
/// Thread-bound.
@safe
final class TurnedConverter: BufferConverter {
    private let inner: any BufferConverter
    private let source: PictureLayout
    private let turn: PictureOrientation
    private let scratch: UnsafeMutableRawBufferPointer

    /// The turned picture.
    let layout: PictureLayout
    var capacity: Int { layout.size }

    /// A converter of what `inner` makes of `source`, which is `.rgb`.
    init(_ inner: any BufferConverter, _ source: PictureLayout, _ turn: PictureOrientation) {
        self.inner = inner
        self.source = source
        self.turn = turn
        layout = PictureLayout(
            width: turn.swapsSides ? source.height : source.width,
            height: turn.swapsSides ? source.width : source.height,
            samples: source.samples
        )
        // As much as buffers of the recorder have behind their end.
        unsafe scratch = .allocate(byteCount: inner.capacity + 64, alignment: 64)
    }

    deinit {
        unsafe scratch.deallocate()
    }

    func convert(_ buffer: RingBuffer, into memory: UnsafeMutableRawBufferPointer) -> Int? {
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: scratch[..<inner.capacity])
        guard unsafe inner.convert(buffer, into: room) == source.size, memory.count >= layout.size else { return nil }
        var at = 0
        for y in 0..<layout.height {
            for x in 0..<layout.width {
                let place = turn.source(x, y, width: source.width, height: source.height)
                let from = place.y * source.row + 3 * place.x
                for byte in 0..<3 { unsafe memory[at + byte] = scratch[from + byte] }
                at += 3
            }
        }
        return layout.size
    }
}
