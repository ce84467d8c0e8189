package import CaptureRing

/// Makes of a slot's bytes what an output needs, in memory of the program's own. Thread-bound to one reader.
package protocol BufferConverter: AnyObject {
    /// Bytes that a converted buffer takes at most.
    var capacity: Int { get }

    /// Converts a slot, which may be overwritten meanwhile.
    ///
    /// - Returns: Bytes in use, or `nil` for a buffer that is broken and must be left out.
    func convert(_ buffer: RingBuffer, into memory: UnsafeMutableRawBufferPointer) -> Int?
}
