import CLinux
import CaptureCore
import CaptureSystem
import Glibc
import Logging
import Synchronization

/// The buffers' way out of and back into the driver's queue.
extension CaptureLoop {
    /// The most buffers that V4L2 has a number for.
    private static let mostBuffers = 32
    /// Buffers of the driver's own, when frames are copied.
    private static let mappedBuffers = 6

    /// Gets buffers, queues them and turns streaming on. After a failure nothing is held.
    func begin() throws(SystemError) {
        if try !useSlots() { try useMapped() }
        do {
            try SystemError.check("start \(node.path)") {
                clinux_v4l2_stream(node.descriptor, node.bufferType, 1)
            }
            try checkFormat()
        } catch {
            end()
            throw error
        }
        isOn = true
        counters.memory.store(pool == nil ? 1 : 2, ordering: .relaxed)
        let way = pool == nil ? "writes into the ring's slots" : "writes into buffers of its own, which are copied"
        log.debug("\(node.path) streams \(format): the driver \(way), \(queued.nonzeroBitCount) are queued")
    }

    /// Turns streaming off and gives every buffer back: slots to the sink, memory to the driver.
    ///
    /// - Returns: Whether the driver turned it off. If not, it may still write into slots until it is closed.
    @discardableResult
    func end() -> Bool {
        isOn = false
        let isOff = clinux_v4l2_stream(node.descriptor, node.bufferType, 0) == 0
        log.debug("\(node.path) is at its end, \(isOff ? "turned off" : "gone"): \(counters.statistics)")
        // A device that is gone may still write until it is closed, so its slots stay claimed.
        if isOff { takeBack() }
        formers = []
        held = 0
        queued = 0
        idle = 0
        let memory = pool == nil ? V4L2_MEMORY_USERPTR.rawValue : V4L2_MEMORY_MMAP.rawValue
        pool?.unmap()
        pool = nil
        release(memory)
        return isOff
    }

    /// Takes the buffers back from a driver that no longer writes. Slots go back to the sink; the loop's own buffers
    /// wait to be queued.
    func takeBack() {
        if pool == nil {
            let ours = formers.reduce(queued) { $0 & ~$1.buffers } | held
            for slot in 0..<CaptureLoop.mostBuffers where ours & 1 << UInt32(slot) != 0 { sink.abandon(slot) }
            formers = []
        } else {
            idle |= queued
        }
        held = 0
        queued = 0
    }

    /// Puts what is free into the driver's queue.
    ///
    /// - Throws: When the driver takes no buffer any more, and has none.
    func refill() throws(SystemError) {
        var isRefused = false
        if pool == nil {
            while queued.nonzeroBitCount + held.nonzeroBitCount < share, !isRefused {
                guard let slot = sink.claim() else { break }
                if !formers.isEmpty, queued & 1 << UInt32(slot) != 0 {
                    held |= 1 << UInt32(slot)
                } else if !queue(slot) {
                    sink.abandon(slot)
                    isRefused = true
                }
            }
        } else {
            while idle != 0, !isRefused {
                let index = idle.trailingZeroBitCount
                if queue(index) { idle &= ~(1 << UInt32(index)) } else { isRefused = true }
            }
        }
        if queued == 0 {
            if isRefused { throw SystemError("queue a buffer of \(node.path)", errno: errno) }
            isStarved = true
        }
    }

    /// Queues one buffer; the kernel's number is in errno when it is refused.
    func queue(_ index: Int) -> Bool {
        let memory = pool == nil ? V4L2_MEMORY_USERPTR.rawValue : V4L2_MEMORY_MMAP.rawValue
        let base = unsafe pool == nil ? UInt(bitPattern: sink.memory(ofSlot: index).baseAddress) : 0
        let result = unsafe clinux_v4l2_queue(
            node.descriptor,
            node.bufferType,
            memory,
            UInt32(index),
            UInt32(planeCount),
            base,
            layout,
            layout + 4
        )
        if result == 0 { queued |= 1 << UInt32(index) }
        return result == 0
    }

    /// Lets the driver write into the sink's slots, buffer n into slot n, so that each stays pinned where it is.
    ///
    /// - Returns: False when the driver does not take user pointers, or not these.
    private func useSlots() throws(SystemError) -> Bool {
        guard sink.slotCount <= CaptureLoop.mostBuffers else { return false }
        var granted = UInt32(sink.slotCount)
        let request = unsafe clinux_v4l2_request_buffers(
            node.descriptor,
            node.bufferType,
            V4L2_MEMORY_USERPTR.rawValue,
            &granted
        )
        if request == -1 {
            if errno == EINVAL || errno == ENOTTY { return false }
            throw SystemError("get buffers of \(node.path)", errno: errno)
        }
        if Int(granted) >= sink.slotCount {
            share = depth.first
            while queued.nonzeroBitCount < share, let slot = sink.claim() {
                if !queue(slot) {
                    sink.abandon(slot)
                    break
                }
            }
            if queued != 0 { return true }
        }
        // As a driver that needs contiguous memory does.
        release(V4L2_MEMORY_USERPTR.rawValue)
        return false
    }

    private func useMapped() throws(SystemError) {
        do throws(SystemError) {
            let pool = try MappedPool(node, count: CaptureLoop.mappedBuffers, planes: planeCount)
            self.pool = pool
            for index in 0..<pool.count where !queue(index) {
                throw SystemError("queue a buffer of \(node.path)", errno: errno)
            }
        } catch {
            end()
            throw error
        }
    }

    private func release(_ memory: UInt32) {
        var none: UInt32 = 0
        // Fails for a device that is gone; closing it frees what it holds.
        _ = unsafe clinux_v4l2_request_buffers(node.descriptor, node.bufferType, memory, &none)
    }
}
