public import CaptureBus
public import CaptureCore

/// What travels as an `a{sv}` with keys in lower case with dashes.
public protocol BusCodable {
    /// Reads it.
    ///
    /// - Throws: `.invalidArgument` that names the key that is unknown, missing, of a wrong type or out of range.
    init(busValue value: BusValue) throws(CaptureError)

    /// It, as `a{sv}`.
    var busValue: BusValue { get }
}

extension BusValue {
    /// `aa{sv}`
    public static func list(_ values: [some BusCodable]) -> BusValue {
        .array("a{sv}", values.map(\.busValue))
    }

    /// The parts of an `aa{sv}`, from an answer or an argument.
    ///
    /// - Throws: `.invalidArgument` when it is not one, or a part is not as it should be.
    public func list<Element: BusCodable>(of _: Element.Type = Element.self) throws(CaptureError) -> [Element] {
        guard case .array("a{sv}", let elements) = unwrapped else {
            throw CaptureError(.invalidArgument, "a list is of type '\(typeSignature)', not 'aa{sv}'")
        }
        return try elements.map { element throws(CaptureError) in try Element(busValue: element) }
    }

    /// The tickets in an `a{ss}`, by the names of their outputs.
    ///
    /// - Throws: `.invalidArgument` if it is not an `a{ss}`, repeats a name, or has more than 16 names.
    public func tickets() throws(CaptureError) -> [String: String] {
        guard case .dictionary("ss", let entries) = self, entries.count <= CodingLimits.mostParts else {
            throw CaptureError(
                .invalidArgument,
                "files must be an 'a{ss}' of at most \(CodingLimits.mostParts) tickets"
            )
        }
        var tickets: [String: String] = [:]
        for entry in entries {
            guard let name = entry.key.text, CodingLimits.isName(name), let ticket = entry.value.text,
                tickets.updateValue(ticket, forKey: name) == nil
            else { throw CaptureError(.invalidArgument, "files must be named after outputs, each once") }
        }
        return tickets
    }
}
