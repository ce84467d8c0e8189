import BusSupport
import CaptureBus
import CaptureCore
import CaptureMessages
import Foundation
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

/// Interfaces as lines that can be compared, whatever their order was; the order of arguments counts.
private final class Lines: NSObject, XMLParserDelegate {
    private(set) var lines: Set<String> = []
    private var place: [String] = []
    private var argument = 0

    static func of(_ text: String) throws -> Set<String> {
        let reader = Lines()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = reader
        try #require(parser.parse(), "\(String(describing: parser.parserError))")
        return reader.lines.filter { $0.contains("org.capturekit.") }
    }

    func parser(
        _ parser: XMLParser,
        didStartElement element: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        if element == "method" || element == "signal" { argument = 0 }
        var words = [element]
        if element == "arg" {
            words.append("\(argument)")
            argument += 1
        }
        words += attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        place.append(words.joined(separator: " "))
        lines.insert(place.joined(separator: "/"))
    }

    func parser(
        _ parser: XMLParser,
        didEndElement: String,
        namespaceURI: String?,
        qualifiedName: String?
    ) {
        place.removeLast()
    }
}

/// The text of a file of the checkout.
func checkout(_ path: String) throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
}

/// A value of every type that properties of ours have.
private func anyValue(_ signature: String) -> BusValue {
    switch signature {
    case "s": .string("")
    case "u": .uint32(0)
    case "b": .bool(false)
    case "a{sb}": .dictionary("sb", [])
    default: .properties([:])
    }
}

@Suite(.timeLimit(.minutes(10)))
struct IntrospectionTests {
    @Test func `introspection shows what the reference documents`() async throws {
        let bus = try PrivateBus()
        let (server, client) = (try await bus.connect(), try await bus.connect())
        let parts = CaptureInterfaces.all.map { interface in
            BusImplementation(
                interface,
                methods: Dictionary(
                    uniqueKeysWithValues: interface.methods.map { ($0.name, { _ in [] } as BusHandler) }
                ),
                properties: Dictionary(
                    uniqueKeysWithValues: interface.properties.map { ($0.name, anyValue($0.signature)) }
                )
            )
        }
        try await server.export(try BusObject(path: CaptureNames.root, parts))
        let answer = try await client.call(
            server.uniqueName,
            CaptureNames.root,
            "org.freedesktop.DBus.Introspectable",
            "Introspect"
        )
        let shown = try Lines.of(try #require(answer.first?.text))
        let documented = try Lines.of(try checkout("config/org.capturekit.Capture1.xml"))
        #expect(shown.subtracting(documented).sorted() == [])
        #expect(documented.subtracting(shown).sorted() == [])
        #expect(shown.count > 100)
    }

    @Test(arguments: CaptureInterfaces.all)
    func `an interface without all of its handlers cannot be an object`(_ interface: BusInterface) {
        #expect(throws: CaptureError.self) { try BusObject(path: "/a", [BusImplementation(interface)]) }
    }

    @Test func `the policy lets only captured and root have the name`() async throws {
        let policy = try checkout("config/org.capturekit.Capture1.conf")
        let bus = try PrivateBus(policy: policy)
        let connection = try await bus.connect()
        if getuid() == 0 {
            try await connection.requestName(CaptureNames.service)
            let (server, _) = try await serve(bus)
            let refusal = await #expect(throws: CaptureError.self) {
                try await connection.ask(server, "Slow", "u", [.uint32(0)])
            }
            // It is the policy of a system bus: what is not allowed is denied.
            #expect(refusal?.code == .notPermitted)
        } else {
            #expect(await code { try await connection.requestName(CaptureNames.service) } == .notPermitted)
        }
    }
}
