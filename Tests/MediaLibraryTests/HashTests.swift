@testable import MediaLibrary
import CaptureCore
import Testing

@Suite struct `A hash of a content` {
    @Test func `is SHA-256 in hexadecimal, however the bytes come`() throws {
        #expect(try hash([]) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(try hash(["abc"]) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(try hash(["a", "", "bc"]) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    private func hash(_ pieces: [String]) throws -> String {
        let hash = try SHA256()
        for piece in pieces {
            try unsafe Array(piece.utf8).withUnsafeBytes { try unsafe hash.update($0) }
        }
        return try hash.finish()
    }
}
