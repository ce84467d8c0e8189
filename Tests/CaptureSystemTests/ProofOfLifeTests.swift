import CaptureCore
import CaptureSystem
import Testing

@Suite struct ProofOfLifeTests {
    private let proof = ProofOfLife()
    private let start = Timestamp(nanoseconds: 5_000_000_000)

    private func at(_ milliseconds: Int64) -> Timestamp { start.advanced(by: milliseconds * 1_000_000) }

    @Test func `no proof is needed before the beginning and after the end`() {
        #expect(proof.remaining(at: at(1_000_000)) > 1 << 60)
        proof.begin(at: start)
        #expect(proof.remaining(at: start) == ProofOfLife.patience)
        proof.end()
        #expect(proof.remaining(at: at(1_000_000)) > 1 << 60)
        // A round that ends late.
        proof.prove(.bus, since: start)
        #expect(proof.remaining(at: at(1_000_000)) > 1 << 60)
    }

    @Test func `the part that has been silent longest counts`() {
        proof.begin(at: start)
        for part in ProofOfLife.Part.allCases where part != .gate { proof.prove(part, since: at(1700)) }
        #expect(proof.remaining(at: at(1749)) == 1_000_000)
        #expect(proof.remaining(at: at(1750)) == 0)
        #expect(!proof.isProven(.gate, at: at(1750)))
        #expect(proof.isProven(.bus, at: at(1750)))
        proof.prove(.gate, since: at(1700))
        #expect(proof.remaining(at: at(1750)) == 1_700_000_000)
    }

    @Test func `a round that ends after a later one does not replace its proof`() {
        proof.begin(at: start)
        for part in ProofOfLife.Part.allCases { proof.prove(part, since: at(500)) }
        for part in ProofOfLife.Part.allCases { proof.prove(part, since: at(100)) }
        #expect(proof.remaining(at: at(500)) == ProofOfLife.patience)
    }
}
