import Foundation
import Testing

/// What libFuzzer's findings and a bounded number of new inputs come to: an input that traps ends the run, and the seed
/// makes it come again.
@Suite(.timeLimit(.minutes(10)))
struct `What parses bytes from outside` {
    /// How many mutations each takes here; `make fuzz` takes many more.
    static let mutations = 2000
    private static let targets = FuzzTarget.all
    private static let corpora = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Corpus")

    private static func corpus(_ name: String) throws -> [[UInt8]] {
        let folder = corpora.appendingPathComponent(name)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        return try names.map { Array(try Data(contentsOf: folder.appendingPathComponent($0))) }
    }

    private static func dictionary() throws -> [String] {
        try String(contentsOf: corpora.appendingPathComponent("dictionary"), encoding: .utf8)
            .split(separator: "\n").filter { $0.hasPrefix("\"") }.map { line in
                line.dropFirst().dropLast().replacingOccurrences(of: "\\x0A", with: "\n")
                    .replacingOccurrences(of: "\\x00", with: "\0").replacingOccurrences(of: "\\\\", with: "\\")
            }
    }

    @Test(arguments: targets.map(\.name))
    func `keeps its promises, whatever it is given`(name: String) throws {
        let target = try #require(Self.targets.first { $0.name == name })
        let corpus = try Self.corpus(name)
        #expect(!corpus.isEmpty)
        for input in corpus { target.run(input) }
        target.run([])
        var mutator = Mutator(seed: 1, dictionary: try Self.dictionary())
        var grown = corpus
        for round in 0..<Self.mutations {
            let input = mutator.mutate(grown.randomElement(using: &mutator) ?? [], among: corpus)
            target.run(input)
            // Changes upon changes lead further than changes of the corpus alone.
            if round % 16 == 0, grown.count < 256 { grown.append(input) }
        }
    }

    @Test func `has a corpus each, and no corpus is left over`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.corpora.path)
        #expect(Set(names) == Set(Self.targets.map(\.name) + ["dictionary"]))
    }
}
