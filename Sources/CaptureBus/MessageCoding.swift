import CLinux
import CSystemd
import CaptureCore
import CaptureSystem
import Glibc

/// Appends values to a message. On the bus thread.
@safe struct MessageWriter {
    let message: OpaquePointer

    func append(_ values: [BusValue], types: [BusType]) throws(CaptureError) {
        try types.check(values, of: "a message")
        for (value, type) in zip(values, types) { try append(value, type) }
    }

    private func append(_ value: BusValue, _ type: BusType) throws(CaptureError) {
        switch value {
        case .string(let text): try append(text, "s")
        case .objectPath(let text): try append(text, "o")
        case .signature(let text): try append(text, "g")
        case .bool(let flag): try append(Int32(flag ? 1 : 0), "b")
        case .byte(let number): try append(number, "y")
        case .int16(let number): try append(number, "n")
        case .uint16(let number): try append(number, "q")
        case .int32(let number): try append(number, "i")
        case .uint32(let number): try append(number, "u")
        case .int64(let number): try append(number, "x")
        case .uint64(let number): try append(number, "t")
        case .double(let number): try append(number, "d")
        case .descriptor(let file): try append(file.descriptor, "h")
        case .variant(let inner):
            guard let innerType = try BusType.parse(inner.typeSignature).first else { return }
            try container("v", innerType.signature) { () throws(CaptureError) in try append(inner, innerType) }
        case .structure(let members):
            guard case .structure(let types) = type else { return }
            try container("r", types.map(\.signature).joined()) { () throws(CaptureError) in
                for (member, type) in zip(members, types) { try append(member, type) }
            }
        case .array(_, let elements):
            guard case .array(let element) = type else { return }
            try container("a", element.signature) { () throws(CaptureError) in
                for value in elements { try append(value, element) }
            }
        case .dictionary(_, let entries):
            guard case .dictionary(let key, let value) = type else { return }
            let signature = key.signature + value.signature
            try container("a", "{" + signature + "}") { () throws(CaptureError) in
                for entry in entries {
                    try container("e", signature) { () throws(CaptureError) in
                        try append(entry.key, key)
                        try append(entry.value, value)
                    }
                }
            }
        }
    }

    private func append(_ text: String, _ type: Unicode.Scalar) throws(CaptureError) {
        let code = unsafe text.withCString { text in
            unsafe sd_bus_message_append_basic(message, CChar(type.value), text)
        }
        try MessageWriter.check(code, "'\(text)' cannot be sent as a value of type '\(type)'")
    }

    private func append<Number: BitwiseCopyable>(_ number: Number, _ type: Unicode.Scalar) throws(CaptureError) {
        let code = unsafe withUnsafePointer(to: number) { number in
            unsafe sd_bus_message_append_basic(message, CChar(type.value), number)
        }
        try MessageWriter.check(code, "a value of type '\(type)' cannot be sent")
    }

    private func container(
        _ type: Unicode.Scalar,
        _ contents: String,
        _ body: () throws(CaptureError) -> Void
    ) throws(CaptureError) {
        let failure = "a container of '\(contents)' cannot be sent"
        try MessageWriter.check(unsafe sd_bus_message_open_container(message, CChar(type.value), contents), failure)
        try body()
        try MessageWriter.check(unsafe sd_bus_message_close_container(message), failure)
    }

    private static func check(_ code: Int32, _ failure: @autoclosure () -> String) throws(CaptureError) {
        if code < 0 {
            throw CaptureError(.invalidArgument, "\(failure()): \(SystemError.text(of: -code))", errno: -code)
        }
    }
}

/// Reads the values of a message. On the bus thread.
@safe struct MessageReader {
    /// How much is read from one message. The bus lets 128 MiB through, which as values would be gigabytes, and a
    /// caller may have many calls waiting.
    struct Limits {
        var values: Int
        var text: Int
        /// Values that are descriptors. One descriptor of a message may be named by any number of its values, each of which
        /// becomes a descriptor of its own here.
        var files = 0

        /// What a caller may send, beside the descriptors that a method declares.
        static let call = Limits(values: 4096, text: 64 << 10)
        /// What an answer or a signal may bring: the list of every format of many cameras is long.
        static let answer = Limits(values: 1 << 20, text: 16 << 20, files: 16)
        /// For the answer of a program that is no service, such as an agent, which returns nothing but errors.
        static let strangersAnswer = Limits(values: 16 << 10, text: 256 << 10, files: 1)

        /// The same for a method that takes descriptors.
        func with(files: Int) -> Limits { Limits(values: values, text: text, files: files) }
    }

    let message: OpaquePointer
    private var remaining: Limits

    init(_ message: OpaquePointer, _ limits: Limits) {
        unsafe self.message = unsafe message
        remaining = limits
    }

    /// Every value of the message, from the start.
    ///
    /// - Throws: `.invalidArgument` when it is damaged, too deep or too large.
    static func values(of message: OpaquePointer, _ limits: Limits) throws(CaptureError) -> [BusValue] {
        try unsafe measured(message, limits).values
    }

    /// Reads a message's values and returns their cost, too.
    static func measured(_ message: OpaquePointer, _ limits: Limits) throws(CaptureError)
        -> (values: [BusValue], size: Limits)
    {
        unsafe sd_bus_message_rewind(message, 1)
        var reader = unsafe MessageReader(message, limits)
        let values = try reader.all(depth: 0)
        let left = reader.remaining
        return (values, Limits(values: limits.values - left.values, text: limits.text - left.text))
    }

    /// The values up to the end of the container that is open.
    private mutating func all(depth: Int) throws(CaptureError) -> [BusValue] {
        var values: [BusValue] = []
        while let value = try next(depth: depth) { values.append(value) }
        return values
    }

    private mutating func next(depth: Int) throws(CaptureError) -> BusValue? {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        guard try check(unsafe sd_bus_message_peek_type(message, &type, &contents)) > 0 else { return nil }
        remaining.values -= 1
        guard remaining.values >= 0 else { throw tooMuch }
        guard depth < BusType.deepestNesting else {
            throw CaptureError(
                .invalidArgument,
                "the message's values are nested more than \(BusType.deepestNesting) levels deep"
            )
        }
        let signature = unsafe contents.map { unsafe String(cString: $0) } ?? ""
        switch UInt8(bitPattern: type) {
        case UInt8(ascii: "s"): return .string(try text(type))
        case UInt8(ascii: "o"): return .objectPath(try text(type))
        case UInt8(ascii: "g"): return .signature(try text(type))
        case UInt8(ascii: "b"): return .bool(try basic(type, Int32(0)) != 0)
        case UInt8(ascii: "y"): return .byte(try basic(type, 0))
        case UInt8(ascii: "n"): return .int16(try basic(type, 0))
        case UInt8(ascii: "q"): return .uint16(try basic(type, 0))
        case UInt8(ascii: "i"): return .int32(try basic(type, 0))
        case UInt8(ascii: "u"): return .uint32(try basic(type, 0))
        case UInt8(ascii: "x"): return .int64(try basic(type, 0))
        case UInt8(ascii: "t"): return .uint64(try basic(type, 0))
        case UInt8(ascii: "d"): return .double(try basic(type, 0))
        case UInt8(ascii: "h"): return .descriptor(try file(type))
        case UInt8(ascii: "v"):
            let inner = try container(type, signature, depth)
            guard let value = inner.first else { throw damaged }
            return .variant(value)
        case UInt8(ascii: "r"): return .structure(try container(type, signature, depth))
        case UInt8(ascii: "a") where signature.hasPrefix("{"): return try dictionary(type, signature, depth)
        case UInt8(ascii: "a"): return .array(signature, try container(type, signature, depth))
        default: throw damaged
        }
    }

    private mutating func dictionary(_ type: CChar, _ signature: String, _ depth: Int) throws(CaptureError) -> BusValue
    {
        let entry = String(signature.dropFirst().dropLast())
        try check(unsafe sd_bus_message_enter_container(message, type, signature))
        var entries: [BusEntry] = []
        while try check(unsafe sd_bus_message_enter_container(message, CChar(UInt8(ascii: "e")), entry)) > 0 {
            guard let key = try next(depth: depth + 1), let value = try next(depth: depth + 1) else { throw damaged }
            entries.append(BusEntry(key, value))
            try check(unsafe sd_bus_message_exit_container(message))
        }
        try check(unsafe sd_bus_message_exit_container(message))
        return .dictionary(entry, entries)
    }

    private mutating func container(
        _ type: CChar,
        _ signature: String,
        _ depth: Int
    ) throws(CaptureError) -> [BusValue] {
        try check(unsafe sd_bus_message_enter_container(message, type, signature))
        let values = try all(depth: depth + 1)
        try check(unsafe sd_bus_message_exit_container(message))
        return values
    }

    private mutating func text(_ type: CChar) throws(CaptureError) -> String {
        var text: UnsafePointer<CChar>?
        try check(unsafe sd_bus_message_read_basic(message, type, &text))
        guard let text = unsafe text else { throw damaged }
        // Checked before it is copied: the text may fill most of a message of 32 MiB.
        remaining.text -= unsafe strlen(text)
        guard remaining.text >= 0 else { throw tooMuch }
        return unsafe String(cString: text)
    }

    private func basic<Number: BitwiseCopyable>(_ type: CChar, _ zero: Number) throws(CaptureError) -> Number {
        var number = zero
        try check(unsafe sd_bus_message_read_basic(message, type, &number))
        return number
    }

    /// The message closes its own descriptor, so the value gets another.
    private mutating func file(_ type: CChar) throws(CaptureError) -> Descriptor {
        remaining.files -= 1
        guard remaining.files >= 0 else { throw tooMuch }
        let number = try basic(type, Int32(-1))
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else {
            throw CaptureError(.invalidArgument, SystemError("keep a descriptor from the bus", errno: errno))
        }
        return Descriptor(owning: copy)
    }

    private var tooMuch: CaptureError { BusErrors.tooMuch }

    private var damaged: CaptureError { CaptureError(.invalidArgument, "the message is damaged") }

    @discardableResult
    private func check(_ code: Int32) throws(CaptureError) -> Int32 {
        if code < 0 { throw damaged }
        return code
    }
}
