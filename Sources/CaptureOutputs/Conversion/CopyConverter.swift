import CaptureCore
import CaptureRing
import MediaConversion

/// Takes a buffer's bytes as they are: compressed frames, sound. Thread-bound.
final class CopyConverter: BufferConverter {
    let capacity: Int

    /// A converter of buffers of the given format.
    init(_ format: MediaFormat) {
        switch format {
        case .video(let video): capacity = video.planes.first?.size ?? 0
        case .audio(let audio): capacity = audio.periodBytes
        case .metadata(let metadata): capacity = metadata.capacity
        }
    }

    func convert(_ buffer: RingBuffer, into memory: UnsafeMutableRawBufferPointer) -> Int? {
        let bytes = unsafe buffer.plane(0)
        guard unsafe !bytes.isEmpty, bytes.count <= memory.count else { return nil }
        unsafe memory.copyMemory(from: bytes)
        return bytes.count
    }
}

/// Takes a raw frame as it is, but for the padding behind its rows. Thread-bound.
final class TightConverter: BufferConverter {
    private let format: VideoFormat
    private let planes: [ColorPlane]

    /// A converter of frames of the given format; those of an unknown layout keep all their bytes.
    init(_ format: VideoFormat) {
        self.format = format
        planes = PixelStructure(format.pixelFormat)?.planes(of: format) ?? []
    }

    var capacity: Int {
        planes.isEmpty ? format.planes.reduce(0) { $0 + $1.size } : planes.reduce(0) { $0 + $1.row * $1.rows }
    }

    func convert(_ buffer: RingBuffer, into memory: UnsafeMutableRawBufferPointer) -> Int? {
        var done = 0
        for plane in planes {
            let bytes = unsafe buffer.plane(plane.memory)
            guard bytes.count >= plane.end else { return nil }
            let isTight = plane.stride == plane.row
            let length = isTight ? plane.row * plane.rows : plane.row
            for row in 0..<(isTight ? 1 : plane.rows) {
                let from = plane.offset + row * plane.stride
                unsafe UnsafeMutableRawBufferPointer(rebasing: memory[done..<done + length])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[from..<from + length]))
                done += length
            }
        }
        if planes.isEmpty {
            for index in format.planes.indices {
                let bytes = unsafe buffer.plane(index)
                guard unsafe !bytes.isEmpty else { return nil }
                unsafe UnsafeMutableRawBufferPointer(rebasing: memory[done..<done + bytes.count])
                    .copyMemory(from: bytes)
                done += bytes.count
            }
        }
        return done
    }
}
