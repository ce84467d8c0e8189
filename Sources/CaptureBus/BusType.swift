import CaptureCore

/// One complete type of a D-Bus signature.
indirect enum BusType: Hashable, Sendable {
    /// A basic type or variant, by its character.
    case basic(UInt8)
    case variant
    case array(BusType)
    case dictionary(key: BusType, value: BusType)
    case structure([BusType])

    /// The deepest nesting that signatures may have and messages are read to: the specification's limit of 32 arrays
    /// and 32 structures is far beyond what any interface needs.
    static let deepestNesting = 32

    /// Reads a signature.
    ///
    /// - Throws: `.invalidArgument` when it is not a valid D-Bus signature, or longer than 255 characters.
    static func parse(_ signature: String) throws(CaptureError) -> [BusType] {
        var rest = ArraySlice(signature.utf8)
        guard rest.count <= 255 else { throw CaptureError(.invalidArgument, "a signature is over 255 characters long") }
        var types: [BusType] = []
        while !rest.isEmpty {
            guard let type = next(&rest, depth: 0) else {
                throw CaptureError(.invalidArgument, "'\(signature)' is not a D-Bus signature")
            }
            types.append(type)
        }
        return types
    }

    private static func next(_ rest: inout ArraySlice<UInt8>, depth: Int) -> BusType? {
        guard depth < deepestNesting, let character = rest.popFirst() else { return nil }
        switch character {
        case _ where isBasic(character): return .basic(character)
        case UInt8(ascii: "v"): return .variant
        case UInt8(ascii: "("):
            var members: [BusType] = []
            while let following = rest.first, following != UInt8(ascii: ")") {
                guard let member = next(&rest, depth: depth + 1) else { return nil }
                members.append(member)
            }
            guard rest.popFirst() != nil, !members.isEmpty else { return nil }
            return .structure(members)
        case UInt8(ascii: "a"):
            guard rest.first == UInt8(ascii: "{") else {
                return next(&rest, depth: depth + 1).map { .array($0) }
            }
            rest.removeFirst()
            guard case .basic(let key)? = next(&rest, depth: depth + 1),
                let value = next(&rest, depth: depth + 1), rest.popFirst() == UInt8(ascii: "}")
            else { return nil }
            return .dictionary(key: .basic(key), value: value)
        default: return nil
        }
    }

    private static func isBasic(_ character: UInt8) -> Bool {
        "ybnqiuxtdsogh".utf8.contains(character)
    }

    /// The type as a signature.
    var signature: String {
        switch self {
        case .basic(let character): String(Unicode.Scalar(character))
        case .variant: "v"
        case .array(let element): "a" + element.signature
        case .dictionary(let key, let value): "a{" + key.signature + value.signature + "}"
        case .structure(let members): "(" + members.map(\.signature).joined() + ")"
        }
    }

    /// Whether a value is of this type, all the way down. Strings with NUL characters are of no type.
    func accepts(_ value: BusValue, depth: Int = 0) -> Bool {
        guard depth <= BusType.deepestNesting else { return false }
        switch (self, value) {
        case (.variant, .variant(let inner)):
            guard let types = try? BusType.parse(inner.typeSignature), types.count == 1 else { return false }
            return types[0].accepts(inner, depth: depth + 1)
        case (.array(let element), .array(let signature, let elements)):
            return signature == element.signature && elements.allSatisfy { element.accepts($0, depth: depth + 1) }
        case (.dictionary(let key, let value), .dictionary(let signature, let entries)):
            return signature == key.signature + value.signature
                && entries.allSatisfy {
                    key.accepts($0.key, depth: depth + 1) && value.accepts($0.value, depth: depth + 1)
                }
        case (.structure(let types), .structure(let members)):
            return types.count == members.count && zip(types, members).allSatisfy { $0.accepts($1, depth: depth + 1) }
        case (.basic(let character), _):
            guard value.typeSignature.utf8.elementsEqual([character]) else { return false }
            return value.text.map { !$0.utf8.contains(0) } ?? true
        default: return false
        }
    }
}

extension [BusType] {
    /// Makes sure that the values are of these types, before they go to the bus thread.
    ///
    /// - Throws: `.internalFault`: the caller is at fault, whatever the values are.
    func check(_ values: [BusValue], of member: String) throws(CaptureError) {
        guard count == values.count, zip(self, values).allSatisfy({ $0.accepts($1) }) else {
            let got = values.map(\.typeSignature).joined()
            let wanted = map(\.signature).joined()
            throw CaptureError(.internalFault, "\(member) takes values of type '\(wanted)', not '\(got)'")
        }
    }
}
