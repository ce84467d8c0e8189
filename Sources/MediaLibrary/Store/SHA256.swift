import CCrypto
import CaptureCore

/// SHA-256 of what is given piece by piece.
///
/// By OpenSSL, which takes the processor's own instructions: several times as fast as what a portable one would make of
/// a recording of gigabytes. For one thread at a time, whichever: who shares it has a lock around it.
@safe final class SHA256: @unchecked Sendable {
    /// Bytes of a hash.
    static let size = 32

    private let context: OpaquePointer

    /// The hash of nothing yet.
    ///
    /// - Throws: `internalFault` when OpenSSL has no SHA-256, as where a policy of the machine's forbids it.
    init() throws(CaptureError) {
        guard let context = unsafe EVP_MD_CTX_new() else {
            throw CaptureError(.internalFault, "OpenSSL has no memory for a SHA-256")
        }
        guard unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            unsafe EVP_MD_CTX_free(context)
            throw CaptureError(.internalFault, "OpenSSL offers no SHA-256 on this machine")
        }
        unsafe self.context = context
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
    }

    /// Takes in more bytes.
    func update(_ bytes: UnsafeRawBufferPointer) throws(CaptureError) {
        guard unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1 else {
            throw CaptureError(.internalFault, "OpenSSL failed to hash \(bytes.count) bytes")
        }
    }

    /// The hash of everything that was taken in, as 64 hexadecimal digits. Called once, at the end.
    func finish() throws(CaptureError) -> String {
        var digest = [UInt8](repeating: 0, count: SHA256.size)
        var length: UInt32 = 0
        guard unsafe EVP_DigestFinal_ex(context, &digest, &length) == 1, length == UInt32(SHA256.size) else {
            throw CaptureError(.internalFault, "OpenSSL failed to finish a SHA-256")
        }
        return Hexadecimal.text(digest)
    }
}

/// Bytes as hexadecimal digits.
enum Hexadecimal {
    /// Two lower-case digits a byte.
    static func text(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String($0, digits: 2, radix: 16) }.joined()
    }

    /// Whether a text has just so many lower-case hexadecimal digits and nothing else.
    static func isText(_ text: String, digits: Int) -> Bool {
        text.utf8.count == digits && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
