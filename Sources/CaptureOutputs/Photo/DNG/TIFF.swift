import CTIFF
import CaptureCore
import Glibc
import MediaConversion

/// A TIFF that is made in memory. Thread-bound.
@safe
final class TIFFFile {
    /// What libtiff writes to.
    private final class Memory {
        var bytes: [UInt8] = []
        var place = 0

        func write(_ from: UnsafeRawBufferPointer) {
            if place + from.count > bytes.count {
                bytes += repeatElement(0, count: place + from.count - bytes.count)
            }
            unsafe bytes.withUnsafeMutableBytes {
                unsafe UnsafeMutableRawBufferPointer(rebasing: $0[place...]).copyMemory(from: from)
            }
            place += from.count
        }

        static func of(_ client: UnsafeMutableRawPointer?) -> Memory? {
            unsafe client.map { unsafe Unmanaged<Memory>.fromOpaque($0).takeUnretainedValue() }
        }
    }

    private let tiff: UnsafePointer<ctiff>
    private let memory = Memory()
    private let handle: OpaquePointer

    /// libtiff; `nil` where it is not installed.
    private nonisolated(unsafe) static let loaded = unsafe ctiff_load()

    /// Loads libtiff. A recorder does so while it may still open files.
    ///
    /// - Throws: `.inputOutput` if it is not installed.
    @discardableResult static func load() throws(CaptureError) -> UnsafePointer<ctiff> {
        guard let loaded = unsafe loaded else {
            throw CaptureError(.inputOutput, "a DNG or TIFF needs libtiff, which is not installed (Debian: libtiff6)")
        }
        return unsafe loaded
    }

    /// An empty file of little-endian numbers, without a directory.
    ///
    /// - Parameter capacity: The bytes that it will have, about.
    init(capacity: Int) throws(CaptureError) {
        unsafe tiff = try TIFFFile.load()
        memory.bytes.reserveCapacity(capacity)
        let opened = unsafe tiff.pointee.open(
            "photo",
            "wl",
            Unmanaged.passUnretained(memory).toOpaque(),
            { client, into, count in
                guard let memory = unsafe Memory.of(client), let into = unsafe into else { return -1 }
                let there = max(0, min(Int(count), memory.bytes.count - memory.place))
                guard there > 0 else { return 0 }
                unsafe memory.bytes.withUnsafeBytes { bytes in
                    let from = unsafe UnsafeRawBufferPointer(rebasing: bytes[memory.place..<memory.place + there])
                    unsafe UnsafeMutableRawBufferPointer(start: into, count: there).copyMemory(from: from)
                }
                memory.place += there
                return tmsize_t(there)
            },
            { client, from, count in
                guard let memory = unsafe Memory.of(client), count >= 0 else { return -1 }
                unsafe memory.write(UnsafeRawBufferPointer(start: from, count: Int(count)))
                return count
            },
            { client, offset, whence in
                guard let memory = unsafe Memory.of(client) else { return .max }
                let base = whence == SEEK_CUR ? memory.place : whence == SEEK_END ? memory.bytes.count : 0
                memory.place = max(0, base &+ Int(truncatingIfNeeded: offset))
                return UInt64(memory.place)
            },
            { _ in 0 },
            { client in unsafe Memory.of(client).map { UInt64($0.bytes.count) } ?? 0 },
            nil,
            nil
        )
        unsafe handle = try LibAV.made(opened)
    }

    deinit {
        unsafe tiff.pointee.close(handle)
    }

    /// The file as it is so far.
    var bytes: [UInt8] { memory.bytes }

    /// Begins the directory of a picture, or that of EXIF, which its picture's names by where it is.
    func begin(isEXIF: Bool = false) throws(CaptureError) {
        try check(
            unsafe isEXIF ? tiff.pointee.make_exif_directory(handle) : tiff.pointee.make_directory(handle),
            0,
            "begin a directory"
        )
    }

    /// Ends the directory of a picture, and begins the next one.
    func end() throws(CaptureError) { try check(unsafe tiff.pointee.write_directory(handle), 1, "write a directory") }

    /// Ends the directory of EXIF.
    ///
    /// - Returns: Where it is.
    func endEXIF() throws(CaptureError) -> UInt64 {
        var place: UInt64 = 0
        try check(unsafe tiff.pointee.write_custom_directory(handle, &place), 1, "write the directory of EXIF")
        return place
    }

    /// Writes the whole picture, whose directory has one strip.
    func write(_ pixels: inout [UInt8]) throws(CaptureError) {
        let count = pixels.count
        let written = unsafe pixels.withUnsafeMutableBytes { bytes in
            unsafe tiff.pointee.write_strip(handle, 0, bytes.baseAddress, tmsize_t(count))
        }
        guard written == tmsize_t(count) else {
            throw CaptureError(.inputOutput, "libtiff could not write the picture")
        }
    }

    private func check(_ result: Int32, _ good: Int32, _ what: String) throws(CaptureError) {
        guard result == good else { throw CaptureError(.inputOutput, "libtiff could not \(what)") }
    }
}

// MARK: Tags

extension TIFFFile {
    func set(_ tag: UInt32, _ text: String) throws(CaptureError) {
        if !text.isEmpty { try set(tag, [UInt8](text.utf8) + [0]) }
    }

    /// Sets a tag of one number.
    func set(_ tag: UInt32, number: Int) throws(CaptureError) {
        try check(unsafe ctiff_set_number(tiff, handle, tag, UInt32(clamping: number)), 1, "set tag \(tag)")
    }

    func set(_ tag: UInt32, offset: UInt64) throws(CaptureError) {
        try check(unsafe ctiff_set_offset(tiff, handle, tag, offset), 1, "set tag \(tag)")
    }

    /// Sets a tag of two numbers that libtiff takes one by one.
    func set(_ tag: UInt32, _ first: UInt16, _ second: UInt16) throws(CaptureError) {
        try check(unsafe ctiff_set_pair(tiff, handle, tag, first, second), 1, "set tag \(tag)")
    }

    func set(_ tag: UInt32, fraction: Double) throws(CaptureError) {
        try check(unsafe ctiff_set_fraction(tiff, handle, tag, fraction), 1, "set tag \(tag)")
    }

    /// Sets a tag of several numbers, which have the size that libtiff has for them: `Float` for fractions.
    func set<Number: BitwiseCopyable>(_ tag: UInt32, _ numbers: [Number]) throws(CaptureError) {
        let result = unsafe numbers.withUnsafeBufferPointer { (list) -> Int32 in
            guard let start = list.baseAddress else { return 0 }
            return unsafe ctiff_set_list(tiff, handle, tag, UInt32(list.count), start)
        }
        try check(result, 1, "set tag \(tag)")
    }
}
