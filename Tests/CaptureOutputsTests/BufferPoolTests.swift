import CaptureCore
import Testing

@testable import CaptureOutputs

@Suite struct `A pool of buffers` {
    private let size = 1 << 16

    /// A buffer whose memory went back to the system holds zeros.
    private func written(_ pool: BufferPool, _ count: Int) throws -> Int {
        let taken = try (0..<count).map { _ in try #require(pool.take()) }
        defer { taken.reversed().forEach(pool.give) }
        return taken.filter { unsafe $0.bytes[size / 2] == 1 }.count
    }

    @Test func `gives back what only a slow encoder needed`() throws {
        let pool = try BufferPool(count: 8, capacity: size)
        let taken = try (0..<8).map { _ in try #require(pool.take()) }
        for memory in taken { unsafe memory.bytes.initializeMemory(as: UInt8.self, repeating: 1) }
        taken.reversed().forEach(pool.give)
        #expect(try written(pool, 8) == 8)
        for _ in 0..<1000 { pool.give(try #require(pool.take())) }
        #expect(try written(pool, 8) == 1)
    }

    @Test func `keeps what is in use`() throws {
        let pool = try BufferPool(count: 4, capacity: size)
        let held = try (0..<3).map { _ in try #require(pool.take()) }
        for memory in held { unsafe memory.bytes.initializeMemory(as: UInt8.self, repeating: 1) }
        for _ in 0..<1000 { pool.give(try #require(pool.take())) }
        #expect(held.allSatisfy { unsafe $0.bytes.allSatisfy { $0 == 1 } })
    }
}
