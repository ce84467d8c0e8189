import BusSupport
import CaptureBus
import CaptureCore
import Foundation
import Testing

@testable import CaptureService

@Suite(.timeLimit(.minutes(10)))
struct `A program's root` {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("root-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("app/share"),
            withIntermediateDirectories: true
        )
    }

    private func read(_ path: String, followsLinks: Bool = true, limit: Int = 100) throws -> ForeignFile {
        try ProgramRoot(folder: folder.path).read(path, followsLinks: followsLinks, limit: limit)
    }

    private func write(_ text: String, to path: String) throws {
        try text.write(to: folder.appendingPathComponent(path), atomically: false, encoding: .utf8)
    }

    private func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder.appendingPathComponent(path).path,
            withDestinationPath: target
        )
    }

    private func isUnusable(_ file: ForeignFile) -> Bool {
        if case .unusable = file { true } else { false }
    }

    @Test func `has files with their owners`() throws {
        try write("text", to: "app/share/x")
        guard case .file(let found) = try read("app/share/x") else {
            Issue.record("the file was not found")
            return
        }
        #expect(found.text == "text")
        #expect(found.owner == geteuid())
        #expect(!found.isOpenToOthers)
        #expect(try read("app/share/y") == .absent)
        #expect(try read("app/share/x/y") == .absent)
        #expect(try !ProgramRoot(folder: folder.path).isShared)
        #expect(try ProgramRoot(folder: "/").isShared)
    }

    @Test func `is not left by links`() throws {
        try write("inside", to: "app/share/x")
        try link("absolute", to: "/app/share/x")
        try link("up", to: "../../../../../../app/share/x")
        try link("passwd", to: "/etc/passwd")
        try link("magic", to: "/proc/self/root/etc/passwd")
        for path in ["absolute", "up", "../../app/share/x"] {
            guard case .file(let found) = try read(path) else {
                Issue.record("\(path) was not found")
                return
            }
            #expect(found.text == "inside")
        }
        #expect(try read("passwd") == .absent)
        #expect(try read("magic") == .absent)
        #expect(isUnusable(try read("absolute", followsLinks: false)))
        try link("share", to: "app/share")
        #expect(isUnusable(try read("share/x", followsLinks: false)))
    }

    @Test func `is not waited for: pipes and folders are no files, and large ones are not read`() throws {
        #expect(unsafe mkfifo(folder.path + "/pipe", 0o600) == 0)
        #expect(try read("pipe") == .unusable("is not a regular file"))
        #expect(try read("app") == .unusable("is not a regular file"))
        try write(String(repeating: "a", count: 101), to: "large")
        #expect(try read("large") == .unusable("is larger than 100 bytes"))
    }

    @Test func `belongs to the process that was meant, or nobody`() throws {
        var started: UInt64 = 0
        let stat = try String(contentsOfFile: "/proc/self/stat", encoding: .utf8)
        started = try #require(UInt64(stat.components(separatedBy: ") ")[1].split(separator: " ")[19]))
        #expect(try ProgramRoot.visit(getpid(), startedAt: started) { $0.isShared })
        #expect(code { try ProgramRoot.visit(getpid(), startedAt: started + 1) { $0.isShared } } == .notPermitted)
    }

    @Test(.enabled(if: Sandbox.isThere)) func `of a sandbox has the file that Flatpak puts there`() async throws {
        let bus = try PrivateBus()
        let server = try await bus.connect()
        let program = try await Sandbox.start(bus, server)
        let facts = try await server.credentials(of: program.name)
        #expect(facts.hasOwnRoot)
        guard case .file(let found) = facts.flatpakInfo else {
            Issue.record("\(facts.flatpakInfo)")
            return
        }
        #expect(found.text == Sandbox.metadata)
        #expect(found.owner == geteuid())
        #expect(found.isInMemory)
        let own = try await server.credentials(of: server.uniqueName)
        #expect(own.flatpakInfo == .absent)
        #expect(!own.hasOwnRoot)
        try await program.end()
    }
}

/// A program on a bus in a sandbox that is made the way Flatpak does it.
private enum Sandbox {
    static let metadata = "[Application]\nname=org.a.B\n[Instance]\ninstance-id=1\n"
    /// Whether such sandboxes can be made here.
    static let isThere: Bool = {
        let trial = Process()
        trial.executableURL = URL(fileURLWithPath: "/usr/bin/bwrap")
        trial.arguments = ["--ro-bind", "/", "/", "--unshare-user", "/bin/true"]
        guard (try? trial.run()) != nil else { return false }
        trial.waitUntilExit()
        return trial.terminationStatus == 0
    }()

    /// Starts it.
    static func start(_ bus: PrivateBus, _ server: BusConnection) async throws -> PythonCaller {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("info-\(UUID().uuidString)")
        try metadata.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        // A file of the root itself, and another over it that cannot be written: it outlives the mounts of the sandbox.
        let script = """
            exec bwrap --unshare-user --ro-bind /usr /usr --symlink usr/lib /lib --symlink usr/lib64 /lib64 \
              --ro-bind /etc /etc --bind /tmp /tmp --proc /proc --dev /dev --perms 0600 --file 8 /.flatpak-info \
              --ro-bind-data 9 /.flatpak-info /usr/bin/python3 "$@" 8<"$0" 9<"$0"
            """
        return try await PythonCaller(bus, seenBy: server, command: ["/bin/sh", "-c", script, file.path])
    }
}
