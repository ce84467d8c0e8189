/// What parses bytes from outside, each as a function of some bytes that must neither trap nor break its promises.
///
/// The same functions are run by libFuzzer (`make fuzz`) and, with the kept corpora and a mutator that is seeded, by the
/// unit tests.
struct FuzzTarget: Sendable {
    /// Its name, and that of its corpus.
    let name: String
    /// Takes some bytes; a broken promise traps.
    let run: @Sendable ([UInt8]) -> Void

    /// All of them.
    static let all: [FuzzTarget] = [
        FuzzTarget(name: "keyfile", run: FuzzFiles.keyFile),
        FuzzTarget(name: "configuration", run: FuzzFiles.configuration),
        FuzzTarget(name: "policy", run: FuzzFiles.policy),
        FuzzTarget(name: "usage", run: FuzzFiles.usage),
        FuzzTarget(name: "identity", run: FuzzIdentity.process),
        FuzzTarget(name: "program", run: FuzzIdentity.program),
        FuzzTarget(name: "ring", run: FuzzRing.reader),
        FuzzTarget(name: "body", run: FuzzBodies.body),
        FuzzTarget(name: "signature", run: FuzzBodies.signature),
        FuzzTarget(name: "message", run: FuzzMessage.message),
        FuzzTarget(name: "row", run: FuzzRow.row),
        FuzzTarget(name: "keys", run: FuzzKeys.keys),
        FuzzTarget(name: "history", run: FuzzDaemon.history),
        FuzzTarget(name: "lifetimes", run: FuzzDaemon.lifetimes),
        FuzzTarget(name: "helper", run: FuzzDaemon.helper),
    ]

    /// Traps, told why, unless something holds; not left out of optimized code.
    static func hold(_ holds: Bool, _ promise: @autoclosure () -> String) {
        if !holds { fatalError("broken promise: \(promise())") }
    }
}

/// Bytes that are taken from the front as numbers and texts; zero and empty at their end.
struct FuzzInput {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    /// Whether everything was taken.
    var isEmpty: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number {
        var number: Number = 0
        for place in 0..<Number.bitWidth / 8 { number |= Number(truncatingIfNeeded: byte()) << (place * 8) }
        return number
    }

    /// Up to the next zero byte, as text; what is no UTF-8 is mended as it is where files are read.
    mutating func text() -> String {
        let bytes = rest.prefix { $0 != 0 }
        rest = rest.dropFirst(bytes.count + 1)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// All that is left.
    mutating func remainder() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }

    /// One of some values, by a byte.
    mutating func one<Value>(of values: [Value]) -> Value { values[Int(byte()) % values.count] }
}
