import CCrypto
import CaptureCore
import GRDB

/// Seals what programs are given to give back: places in pages, tokens of changes, and ids of what was picked.
///
/// By AES-256-GCM under a key that the library was made with, and bound to what it is for: nobody reads or makes one, and
/// one of another library, program or query does not open. Two of the same are never alike, except for ids.
struct Sealing {
    private static let nonceSize = 12
    private static let tagSize = 16
    private static let keySize = 32

    /// Keeps a new key. It is in the index, so that tokens hold as long as the index does.
    static var statement: String {
        "INSERT INTO meta(key, value) VALUES('sealing', x'\(Hexadecimal.text(random(keySize)))');"
    }

    private let key: [UInt8]

    /// The library's key.
    init(_ database: Database) throws {
        let key = try DatabaseValue.fetchOne(
            database.cachedStatement(sql: "SELECT value FROM meta WHERE key = 'sealing'")
        )
        guard case .blob(let bytes)? = key?.storage, bytes.count == Sealing.keySize else {
            throw CaptureError(.inputOutput, "the media library's index is damaged: its key for tokens is gone")
        }
        self.key = Array(bytes)
    }

    /// Seals some bytes.
    ///
    /// - Parameters:
    ///   - purpose: What they are for; opening takes the same.
    ///   - isLasting: Whether the same bytes give the same digits each time.
    /// - Returns: Hexadecimal digits, as many for as many bytes.
    func seal(_ bytes: [UInt8], for purpose: String, isLasting: Bool = false) throws -> String {
        let nonce = isLasting ? try lastingNonce(bytes, purpose) : Sealing.random(Sealing.nonceSize)
        let context = try Context(key, nonce, Array(purpose.utf8), sealing: true)
        let sealed = try context.update(bytes)
        return Hexadecimal.text(nonce + sealed + (try context.finishSealing(Sealing.tagSize)))
    }

    /// The bytes that were sealed for a purpose; `nil` for anything else.
    ///
    /// - Parameter count: How many they have to be.
    func open(_ text: String, for purpose: String, count: Int) throws -> [UInt8]? {
        let size = Sealing.nonceSize + count + Sealing.tagSize
        guard Hexadecimal.isText(text, digits: 2 * size) else { return nil }
        let bytes = Sealing.bytes(text)
        let context = try Context(key, Array(bytes.prefix(Sealing.nonceSize)), Array(purpose.utf8), sealing: false)
        let opened = try context.update(Array(bytes.dropFirst(Sealing.nonceSize).dropLast(Sealing.tagSize)))
        return context.isGenuine(Array(bytes.suffix(Sealing.tagSize))) ? opened : nil
    }

    /// A nonce that no other bytes and no other purpose have. Nobody can compute it without the key.
    private func lastingNonce(_ bytes: [UInt8], _ purpose: String) throws -> [UInt8] {
        let hash = try SHA256()
        // With the length, so that no part runs into the next.
        let all = key + SealedNumbers.bytes([Int64(purpose.utf8.count)]) + Array(purpose.utf8) + bytes
        try unsafe all.withUnsafeBytes { try unsafe hash.update($0) }
        return Array(Sealing.bytes(try hash.finish()).prefix(Sealing.nonceSize))
    }

    /// Bytes that nobody can guess.
    static func random(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// The bytes of a text that is known to be hexadecimal digits.
    static func bytes(_ text: String) -> [UInt8] {
        let digits = text.utf8.map { $0 < 0x3A ? $0 - 0x30 : $0 - 0x61 + 10 }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// OpenSSL's, for one message.
    @safe private final class Context {
        private let context: OpaquePointer

        init(_ key: [UInt8], _ nonce: [UInt8], _ purpose: [UInt8], sealing: Bool) throws(CaptureError) {
            guard let context = unsafe EVP_CIPHER_CTX_new() else {
                throw CaptureError(.internalFault, "OpenSSL has no memory for AES")
            }
            unsafe self.context = context
            var written: Int32 = 0
            guard
                unsafe EVP_CipherInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce, sealing ? 1 : 0) == 1,
                unsafe EVP_CipherUpdate(context, nil, &written, purpose, Int32(purpose.count)) == 1
            else { throw CaptureError(.internalFault, "OpenSSL offers no AES-256-GCM on this machine") }
        }

        deinit {
            unsafe EVP_CIPHER_CTX_free(context)
        }

        func update(_ bytes: [UInt8]) throws(CaptureError) -> [UInt8] {
            var result = [UInt8](repeating: 0, count: bytes.count)
            var written: Int32 = 0
            guard
                unsafe EVP_CipherUpdate(context, &result, &written, bytes, Int32(bytes.count)) == 1,
                written == Int32(bytes.count)
            else { throw CaptureError(.internalFault, "OpenSSL failed to seal or open \(bytes.count) bytes") }
            return result
        }

        func finishSealing(_ count: Int) throws(CaptureError) -> [UInt8] {
            var rest = [UInt8](repeating: 0, count: 16)
            var tag = [UInt8](repeating: 0, count: count)
            var written: Int32 = 0
            guard
                unsafe EVP_CipherFinal_ex(context, &rest, &written) == 1,
                unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(count), &tag) == 1
            else { throw CaptureError(.internalFault, "OpenSSL failed to seal a token") }
            return tag
        }

        func isGenuine(_ tag: [UInt8]) -> Bool {
            var tag = tag
            var rest = [UInt8](repeating: 0, count: 16)
            var written: Int32 = 0
            guard unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1 else {
                return false
            }
            return unsafe EVP_CipherFinal_ex(context, &rest, &written) == 1
        }
    }
}

/// Numbers in what is sealed, most significant byte first.
enum SealedNumbers {
    static func bytes(_ numbers: [Int64]) -> [UInt8] {
        numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } }
    }

    static func number(_ bytes: some Collection<UInt8>) -> Int64 {
        bytes.prefix(8).reduce(0) { $0 << 8 | Int64($1) }
    }
}
