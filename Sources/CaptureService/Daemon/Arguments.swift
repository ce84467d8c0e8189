import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureMessages
import CaptureSystem

/// The arguments of a call, whose types the bus has checked against the interface already.
extension [BusValue] {
    func argument(_ index: Int) throws(CaptureError) -> BusValue {
        guard indices.contains(index) else {
            throw CaptureError(.invalidArgument, "the call lacks its argument \(index + 1)")
        }
        return self[index]
    }

    private func wrong(_ index: Int, _ expected: String) -> CaptureError {
        CaptureError(.invalidArgument, "argument \(index + 1) is not \(expected)")
    }

    private func value<Value>(
        _ index: Int,
        _ expected: String,
        _ read: (BusValue) -> Value?
    ) throws(CaptureError) -> Value {
        guard let value = read(try argument(index)) else { throw wrong(index, expected) }
        return value
    }

    func text(_ index: Int) throws(CaptureError) -> String { try value(index, "a text", \.text) }

    func number(_ index: Int) throws(CaptureError) -> Int64 { try value(index, "a number", \.integer) }

    /// Numbers of things, by the number of their process.
    func counts(_ index: Int) throws(CaptureError) -> [Int32: Int] {
        guard case .dictionary("uu", let entries) = try argument(index) else { throw wrong(index, "a list of counts") }
        var counts: [Int32: Int] = [:]
        for entry in entries {
            guard let process = entry.key.integer(as: Int32.self), let count = entry.value.integer(as: Int.self) else {
                throw wrong(index, "a list of counts")
            }
            counts[process] = count
        }
        return counts
    }

    func boolean(_ index: Int) throws(CaptureError) -> Bool { try value(index, "a truth value", \.boolean) }

    func real(_ index: Int) throws(CaptureError) -> Double { try value(index, "a number", \.number) }

    func texts(_ index: Int) throws(CaptureError) -> [String] { try value(index, "a list of texts", \.texts) }

    /// Metadata, none of it of a time far ahead.
    func metadata(_ index: Int) throws(CaptureError) -> [TimedMetadata] {
        let items = try [TimedMetadata](busValue: argument(index))
        for item in items { try item.check(at: .now) }
        return items
    }

    /// A table, in which nothing is named twice: nobody can tell which of two values is meant.
    func properties(_ index: Int) throws(CaptureError) -> [String: BusValue] {
        guard case .dictionary(_, let entries) = try argument(index), let properties = try argument(index).properties
        else { throw wrong(index, "a table of properties") }
        guard properties.count == entries.count else { throw wrong(index, "a table that names nothing twice") }
        return properties
    }

    /// The descriptor of a ticket, to read from.
    func source(_ index: Int, from doors: PassingDoors, of connection: String) async throws(CaptureError) -> PassedFile
    {
        try await doors.file(text(index), of: connection)
    }

    /// The descriptor of a ticket, for an output to write to.
    func file(_ index: Int, from doors: PassingDoors, of connection: String) async throws(CaptureError) -> PassedFile {
        let file = try await source(index, from: doors, of: connection)
        guard file.facts.isWritable else { throw wrong(index, "the ticket of a descriptor that is open for writing") }
        return file
    }

    /// The descriptors of a table of tickets, for outputs to write to, by name.
    func files(
        _ index: Int,
        from doors: PassingDoors,
        of connection: String
    ) async throws(CaptureError) -> [String: any OpenFile] {
        var files: [String: any OpenFile] = [:]
        for (name, ticket) in try argument(index).tickets() {
            let file = try await doors.file(ticket, of: connection)
            guard file.facts.isWritable else {
                throw wrong(index, "a table of tickets of descriptors that are open for writing")
            }
            files[name] = file
        }
        return files
    }

    /// A service by its name. `orLibrary` is as in `Service(named:orLibrary:)`.
    func service(_ index: Int, orLibrary: Bool = false) throws(CaptureError) -> Service {
        try Service(named: text(index), orLibrary: orLibrary)
    }

    /// Services by their names.
    func services(_ index: Int) throws(CaptureError) -> [Service] {
        try texts(index).map { name throws(CaptureError) in try Service(named: name) }
    }
}

extension Service {
    /// The service of a name.
    ///
    /// - Parameter orLibrary: Whether the caller could have named both levels of the library together, too.
    /// - Throws: `.invalidArgument` that lists the names there are.
    init(named name: String, orLibrary: Bool = false) throws(CaptureError) {
        guard let service = Service(rawValue: name) else {
            let both = orLibrary ? [LibraryChoice.serviceName] : []
            let known = (Service.allCases.map(\.rawValue) + both).joined(separator: ", ")
            let shown = DisplayText.neutralized(name, limit: 64)
            throw CaptureError(.invalidArgument, "unknown service '\(shown)', expected one of \(known)")
        }
        self = service
    }
}
