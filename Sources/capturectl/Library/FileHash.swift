import CCrypto
import CaptureKit

/// The SHA-256 of some bytes, taken piece by piece. Thread-bound.
@safe struct FileHash: ~Copyable {
    private let context: OpaquePointer

    /// Of no bytes yet.
    init() throws(CaptureError) {
        guard let context = unsafe EVP_MD_CTX_new() else { throw FileHash.failure }
        guard unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            unsafe EVP_MD_CTX_free(context)
            throw FileHash.failure
        }
        unsafe self.context = unsafe context
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) throws(CaptureError) {
        guard unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1 else { throw FileHash.failure }
    }

    /// In hexadecimal digits, as sha256sum(1) prints it. Nothing may be added after it.
    mutating func digits() throws(CaptureError) -> String {
        var digest = [UInt8](repeating: 0, count: 32)
        guard unsafe EVP_DigestFinal_ex(context, &digest, nil) == 1 else { throw FileHash.failure }
        let signs = Array("0123456789abcdef".utf8)
        return String(decoding: digest.flatMap { [signs[Int($0 >> 4)], signs[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// That of all bytes at once.
    static func digits(of bytes: [UInt8]) throws(CaptureError) -> String {
        var hash = try FileHash()
        try unsafe bytes.withUnsafeBufferPointer { (bytes) throws(CaptureError) in
            try unsafe hash.add(UnsafeRawBufferPointer(bytes))
        }
        return try hash.digits()
    }

    private static var failure: CaptureError { CaptureError(.internalFault, "libcrypto makes no SHA-256") }
}
