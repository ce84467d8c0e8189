import Foundation
import Testing

/// A program of the documentation, compiled against CaptureKit as it was built for the tests.
enum SwiftProgram {
    private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Sources").standardizedFileURL

    /// Compiles a program.
    ///
    /// - Returns: The executable, in a folder of its own.
    static func built(_ text: String) async throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("program-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let main = folder.appendingPathComponent("main.swift")
        try Data(text.utf8).write(to: main)
        let products = try URL(
            fileURLWithPath: FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        ).deletingLastPathComponent()
        var arguments = ["swiftc", "-swift-version", "6", "-I", products.appendingPathComponent("Modules").path]
        for map in try moduleMaps(products) { arguments += ["-Xcc", "-fmodule-map-file=\(map)"] }
        arguments +=
            try objects(products) + ["-lsystemd", main.path, "-o", folder.appendingPathComponent("program").path]
        let (status, said) = try await run(arguments)
        try #require(status == 0, "\(said)")
        return folder.appendingPathComponent("program")
    }

    /// Removes what `built` made.
    static func remove(_ program: URL) {
        try? FileManager.default.removeItem(at: program.deletingLastPathComponent())
    }

    private static func moduleMaps(_ products: URL) throws -> [String] {
        let own = try FileManager.default.contentsOfDirectory(atPath: sources.path).map {
            sources.appendingPathComponent("\($0)/module.modulemap").path
        }
        return (own + [products.appendingPathComponent("CLinux.build/module.modulemap").path])
            .filter(FileManager.default.fileExists)
    }

    /// What the kit is made of, file by file: objects of files that went may lie among them.
    private static func objects(_ products: URL) throws -> [String] {
        let modules = ["CaptureKit", "CaptureBus", "CaptureCore", "CaptureSystem", "CaptureRing", "CLinux"]
        return modules.flatMap { module in
            let files = FileManager.default.subpaths(atPath: sources.appendingPathComponent(module).path) ?? []
            return files.filter { $0.hasSuffix(".swift") || $0.hasSuffix(".c") }.map { file in
                products.appendingPathComponent("\(module).build/\(file.split(separator: "/").last ?? "").o").path
            }
        }
    }

    private static func run(_ arguments: [String]) async throws -> (Int32, String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let said = output.fileHandleForReading.readDataToEndOfFile()
                process.waitUntilExit()
                continuation.resume(returning: String(decoding: said, as: UTF8.self))
            }
        }
        return (process.terminationStatus, text)
    }
}
