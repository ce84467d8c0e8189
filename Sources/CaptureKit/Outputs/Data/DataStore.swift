import CaptureRing

/// Memory of this program's own for a converted frame or stretch of sound. Immutable while anyone but its store has it.
@safe
final class StoredData: @unchecked Sendable {
    let bytes: UnsafeMutableRawBufferPointer

    init(capacity: Int) {
        unsafe bytes = .allocate(byteCount: capacity, alignment: 64)
    }

    deinit {
        unsafe bytes.deallocate()
    }
}

/// A bounded number of memories of one size, each made when it is first needed and used again once nobody has it.
/// Thread-bound.
struct DataStore {
    /// Bytes of each.
    let capacity: Int
    /// How many there can be.
    let most: Int
    private var all: [StoredData] = []

    init(capacity: Int, most: Int) {
        self.capacity = max(capacity, 1)
        self.most = most
    }

    /// A memory that nobody has; `nil` if the program holds all of them.
    mutating func take() -> StoredData? {
        for index in all.indices where isKnownUniquelyReferenced(&all[index]) { return all[index] }
        guard all.count < most else { return nil }
        let made = StoredData(capacity: capacity)
        all.append(made)
        return made
    }
}

/// Where the bytes of a frame or a stretch of sound are.
enum DataPlace: Sendable {
    /// Where the daemon's device wrote them.
    case ring(RingBuffer)
    /// In memory of this program's own.
    case own(StoredData)

    /// A memory plane, up to so many bytes of it. Memory of our own has one, in which the planes lie as in the ring.
    func plane(_ index: Int, offset: Int, _ count: Int) -> UnsafeRawBufferPointer {
        switch self {
        case .ring(let buffer):
            return unsafe UnsafeRawBufferPointer(rebasing: buffer.plane(index).prefix(count))
        case .own(let data):
            return unsafe UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(data.bytes)[offset..<offset + count])
        }
    }

    var isIntact: Bool {
        switch self {
        case .ring(let buffer): buffer.isIntact
        case .own: true
        }
    }
}
