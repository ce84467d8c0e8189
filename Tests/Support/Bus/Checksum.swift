import Foundation

/// Checksums by another program than those that are tested.
public enum Checksum {
    /// The SHA-256 of some bytes, as sha256sum(1) prints it.
    public static func sha256(_ bytes: some Sequence<UInt8>) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/sha256sum")
        let (input, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(bytes))
        try input.fileHandleForWriting.close()
        let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return String(said.prefix(64))
    }
}
