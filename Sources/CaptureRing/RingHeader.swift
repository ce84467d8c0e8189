import CaptureCore
import CaptureSystem

/// The fixed part of a ring's header: made by the writer, believed by a reader only after every number was checked.
extension RingLayout {
    /// The layout of a new ring.
    ///
    /// - Throws: `CaptureError.Code.invalidArgument` when a number is out of range.
    init(format: MediaFormat, slots: Int, kept: Int) throws(CaptureError) {
        guard RingLayout.slotCounts.contains(slots) else {
            throw CaptureError(.invalidArgument, "a ring has 2 to 4096 slots, not \(slots)")
        }
        guard kept >= 1, kept < slots else {
            throw CaptureError(.invalidArgument, "a ring of \(slots) slots keeps 1 to \(slots - 1), not \(kept)")
        }
        let size = try RingLayout.checkedSlotSize(of: format, .invalidArgument)
        self.slotCount = slots
        self.kept = kept
        slotStride = SharedMemory.pages(size)
        orderOffset = RingLayout.headerSize
        descriptorsOffset = (orderOffset + slots * 4 + 127) / 128 * 128
        dataOffset = SharedMemory.pages(descriptorsOffset + slots * RingLayout.descriptorSize)
        let (total, overflow) = slotStride.multipliedReportingOverflow(by: slots)
        guard !overflow, total <= RingLayout.mostBytes else {
            throw CaptureError(.invalidArgument, "\(slots) slots of \(size) bytes are more than a ring can hold")
        }
        fileSize = dataOffset + total
    }

    /// The layout that a ring's header claims, checked against the size of its file and against itself.
    ///
    /// Each number is read once, so that a writer who changes it afterwards changes nothing here.
    ///
    /// - Throws: `CaptureError.Code.badData`, naming the field.
    init(reading memory: RingMemory) throws(CaptureError) {
        let available = memory.shared.size
        guard available >= RingLayout.headerSize else { throw RingLayout.bad("file size", available) }
        let magic = memory.loadRelaxed64(Header.magic)
        guard magic == RingLayout.magic else {
            throw CaptureError(.badData, "this is not a ring: its magic is missing")
        }
        func number(_ offset: Int, _ name: String, _ range: ClosedRange<Int>) throws(CaptureError) -> Int {
            let value = Int(memory.loadRelaxed32(offset))
            guard range.contains(value) else { throw RingLayout.bad(name, value) }
            return value
        }
        func length(_ offset: Int, _ name: String, _ range: ClosedRange<Int>) throws(CaptureError) -> Int {
            let raw = memory.loadRelaxed64(offset)
            guard let value = Int(exactly: raw), range.contains(value) else { throw RingLayout.bad(name, raw) }
            return value
        }
        let version = Int(RingLayout.version)
        _ = try number(Header.version, "layout version", version...version)
        _ = try number(Header.headerSize, "header size", RingLayout.headerSize...RingLayout.headerSize)
        _ = try number(Header.descriptorSize, "descriptor size", RingLayout.descriptorSize...RingLayout.descriptorSize)
        fileSize = try length(Header.fileSize, "file size", RingLayout.headerSize...available)
        slotCount = try number(Header.slotCount, "slot count", RingLayout.slotCounts)
        kept = try number(Header.kept, "kept slots", 1...(slotCount - 1))
        slotStride = try length(Header.slotStride, "slot stride", 4096...RingLayout.mostBytes)
        guard slotStride % 4096 == 0 else { throw RingLayout.bad("slot stride", slotStride) }
        orderOffset = try length(Header.orderOffset, "order offset", RingLayout.headerSize...fileSize)
        descriptorsOffset = try length(Header.descriptorsOffset, "descriptors offset", RingLayout.headerSize...fileSize)
        dataOffset = try length(Header.dataOffset, "data offset", RingLayout.headerSize...fileSize)
        // None of these overflows: offsets are at most the file's size, counts at most 4096.
        guard orderOffset % 4 == 0, orderOffset + slotCount * 4 <= descriptorsOffset else {
            throw RingLayout.bad("order offset", orderOffset)
        }
        guard descriptorsOffset % 8 == 0, descriptorsOffset + slotCount * RingLayout.descriptorSize <= dataOffset else {
            throw RingLayout.bad("descriptors offset", descriptorsOffset)
        }
        guard dataOffset % 4096 == 0 else { throw RingLayout.bad("data offset", dataOffset) }
        let (total, overflow) = slotStride.multipliedReportingOverflow(by: slotCount)
        guard !overflow, total <= fileSize - dataOffset else { throw RingLayout.bad("slot stride", slotStride) }
    }

    /// Writes the fixed part of a new ring's header.
    func write(to memory: RingMemory, format: MediaFormat) {
        memory.storeRelaxed32(Header.version, RingLayout.version)
        memory.storeRelaxed32(Header.headerSize, UInt32(RingLayout.headerSize))
        memory.storeRelaxed32(Header.slotCount, UInt32(slotCount))
        memory.storeRelaxed64(Header.slotStride, UInt64(slotStride))
        memory.storeRelaxed64(Header.orderOffset, UInt64(orderOffset))
        memory.storeRelaxed64(Header.descriptorsOffset, UInt64(descriptorsOffset))
        memory.storeRelaxed64(Header.dataOffset, UInt64(dataOffset))
        memory.storeRelaxed64(Header.fileSize, UInt64(fileSize))
        memory.storeRelaxed32(Header.descriptorSize, UInt32(RingLayout.descriptorSize))
        memory.storeRelaxed32(Header.kept, UInt32(kept))
        format.write(to: memory)
        // Last, so that a header is whole once its magic is there.
        memory.storeRelease64(Header.magic, RingLayout.magic)
    }

    /// The most bytes of all slots: 64 GiB, far below where sums could overflow.
    static let mostBytes = 1 << 36

    static func bad(_ field: String, _ value: some CustomStringConvertible) -> CaptureError {
        CaptureError(.badData, "a ring's header is damaged: its \(field) cannot be \(value)")
    }
}
