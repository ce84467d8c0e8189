import CLinux
import CaptureSystem

/// The words of a ring's mapping, by offset.
///
/// Thread-safe: every access is atomic. The order that each one keeps is in its name; "relaxed" ones are ordered by the
/// fences and the acquire and release accesses around them. Offsets are checked by whoever made them: the writer made
/// the layout, the reader validated it.
struct RingMemory: Sendable {
    /// Keeps the mapping.
    let shared: SharedMemory
    private let base: UInt

    init(_ shared: SharedMemory) {
        self.shared = shared
        base = unsafe UInt(bitPattern: shared.bytes.baseAddress)
    }

    /// The address of a byte.
    func address(_ offset: Int) -> UnsafeMutableRawPointer? {
        unsafe UnsafeMutableRawPointer(bitPattern: base + UInt(offset))
    }

    func loadAcquire32(_ offset: Int) -> UInt32 { unsafe clinux_load_acquire_u32(address(offset)) }
    func loadAcquire64(_ offset: Int) -> UInt64 { unsafe clinux_load_acquire_u64(address(offset)) }
    func loadRelaxed32(_ offset: Int) -> UInt32 { unsafe clinux_load_relaxed_u32(address(offset)) }
    func loadRelaxed64(_ offset: Int) -> UInt64 { unsafe clinux_load_relaxed_u64(address(offset)) }
    func storeRelease64(_ offset: Int, _ value: UInt64) { unsafe clinux_store_release_u64(address(offset), value) }
    func storeRelaxed32(_ offset: Int, _ value: UInt32) { unsafe clinux_store_relaxed_u32(address(offset), value) }
    func storeRelaxed64(_ offset: Int, _ value: UInt64) { unsafe clinux_store_relaxed_u64(address(offset), value) }
    /// Stores a value over a zero.
    ///
    /// - Returns: Whether it was one.
    func replaceZero32(_ offset: Int, _ value: UInt32) -> Bool {
        unsafe clinux_replace_zero_u32(address(offset), value) != 0
    }
    func add32(_ offset: Int, _ value: UInt32) { _ = unsafe clinux_add_u32(address(offset), value) }
    func add64(_ offset: Int, _ value: UInt64) { _ = unsafe clinux_add_u64(address(offset), value) }
}
