import Authorization
import CaptureCore
import Foundation
import Testing

@testable import CaptureService

/// The processes of a machine as `/proc` has them.
final class FakeProcesses: Sendable {
    let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "processes-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// - Parameters:
    ///   - terminal: The number below /dev/pts of its controlling terminal.
    ///   - holds: Numbers of the terminals whose other ends it holds.
    func add(
        _ pid: Int32,
        parent: Int32 = 1,
        runs program: String = "/bin/sh",
        terminal: UInt32? = nil,
        holds: [Int] = [],
        user: String = "1000\t1000"
    )
        throws
    {
        let own = "\(folder)/\(pid)"
        let files = FileManager.default
        try addDescriptors(own, holds)
        try files.createSymbolicLink(atPath: own + "/exe", withDestinationPath: program)
        let device = terminal.map { 136 << 8 | $0 & 0xff | ($0 & 0xfff00) << 12 } ?? 0
        let rest = String(repeating: " 0", count: 14)
        try "\(pid) (a) b (c)) S \(parent) \(pid) \(pid) \(Int32(bitPattern: device)) \(pid)\(rest)\n"
            .write(toFile: own + "/stat", atomically: false, encoding: .utf8)
        try "Name:\ta\nUid:\t\(user)\t0\t0\n"
            .write(toFile: own + "/status", atomically: false, encoding: .utf8)
    }

    /// A thread of a process, with descriptors of its own.
    func addThread(_ thread: Int32, of pid: Int32, holds: [Int]) throws {
        try addDescriptors("\(folder)/\(pid)/task/\(thread)", holds)
    }

    private func addDescriptors(_ own: String, _ holds: [Int]) throws {
        let files = FileManager.default
        try files.createDirectory(atPath: own + "/fd", withIntermediateDirectories: true)
        try files.createDirectory(atPath: own + "/fdinfo", withIntermediateDirectories: true)
        for (descriptor, number) in holds.enumerated() {
            try files.createSymbolicLink(atPath: "\(own)/fd/\(descriptor)", withDestinationPath: "/dev/pts/ptmx")
            try "pos:\t0\nflags:\t02\nmnt_id:\t23\ntty-index:\t\(number)\n"
                .write(toFile: "\(own)/fdinfo/\(descriptor)", atomically: false, encoding: .utf8)
        }
    }
}

@Suite struct `Who drives a terminal` {
    private let machine: FakeProcesses
    private var drivers: TerminalDrivers { TerminalDrivers(processes: machine.folder) }

    init() throws {
        machine = try FakeProcesses()
    }

    private func found(_ pid: Int32) throws -> [Int32] { try drivers.find(pid).map(\.pid) }

    @Test func `is whoever holds its other end, and whoever started what runs on it`() throws {
        try machine.add(2)
        try machine.add(10, parent: 2)
        try machine.add(20, parent: 10, terminal: 3)
        try machine.add(30, holds: [4, 3])
        try machine.add(31, holds: [13])
        #expect(try found(20) == [10, 2, 30])
    }

    @Test func `is whoever has its other end in a thread with descriptors of its own`() throws {
        try machine.add(20, terminal: 3)
        try machine.add(30)
        try machine.addThread(31, of: 30, holds: [3])
        try machine.add(40)
        try machine.addThread(41, of: 40, holds: [4])
        #expect(try found(20) == [30])
    }

    @Test func `is found for numbers beyond a byte, and is nobody without a pseudo-terminal`() throws {
        try machine.add(20, terminal: 300)
        try machine.add(21)
        try machine.add(30, holds: [300])
        try machine.add(31, holds: [44])
        #expect(try found(20) == [30])
        #expect(try found(21) == [])
    }

    @Test func `cannot be told of a process that is gone, and a circle of parents ends`() throws {
        #expect(throws: CaptureError.self) { try drivers.find(99) }
        try machine.add(20, parent: 21)
        try machine.add(21, parent: 20)
        #expect(try found(20) == [21, 20])
    }

    /// Whoever holds terminal 3, as one of user 1000 alone; root's own and the daemon's are believed.
    private func stranger() async throws -> Int32? {
        try await drivers.stranger(holdingTerminalOf: 20, below: SystemRoot(ofProcessOne: false))?.pid
    }

    @Test func `is a stranger unless its file is root's alone and no interpreter`() async throws {
        try machine.add(20, terminal: 3)
        #expect(try await stranger() == nil)
        try machine.add(30, runs: "/usr/bin/env", holds: [3])
        try machine.add(31, runs: "/bin/cat", holds: [3], user: "0\t0")
        try machine.add(32, runs: NSTemporaryDirectory() + "nothing", holds: [3], user: "0\t0")
        // `env` runs what it is told to.
        #expect(try await stranger() == 30)
        try FileManager.default.removeItem(atPath: machine.folder + "/30")
        #expect(try await stranger() == nil)
        let cat = "/usr/bin/cat"
        try machine.add(33, runs: cat, holds: [3])
        #expect(try await stranger() == nil)
        let copy = machine.folder + "/tool"
        try FileManager.default.copyItem(atPath: cat, toPath: copy)
        try machine.add(34, runs: copy, holds: [3])
        #expect(try await stranger() == 34)
    }

    @Test func `is a stranger who may become somebody else, or says nothing of its user`() async throws {
        try machine.add(20, terminal: 3)
        try machine.add(30, runs: "/home/me/nothing", holds: [3], user: "1000\t0")
        #expect(try await stranger() == 30)
        try "".write(toFile: machine.folder + "/30/status", atomically: false, encoding: .utf8)
        #expect(try await stranger() == 30)
    }

    @Test func `is no stranger who ended while it was looked at, unless that is so each time`() {
        let root = SystemRoot(ofProcessOne: false)
        let ended = TerminalDrivers.Driver(pid: 30, user: .max, path: "", device: 0, inode: 0)
        var looks = 0
        let stranger = TerminalDrivers.stranger(below: root) {
            looks += 1
            return looks < 3 ? [ended] : []
        }
        #expect(stranger == nil && looks == 3)
        #expect(TerminalDrivers.stranger(below: root) { [ended] } == ended)
    }

    @Test func `is the asking program by its process or its file, of an interpreter by its process`() throws {
        let file = try #require(ExecutableFile.inspect("/usr/bin/env"))
        var client = ClientIdentity(
            program: "exe:/home/me/tool",
            tier: .claimed,
            user: 1000,
            name: "tool",
            detail: "a test",
            executable: ExecutableFile(
                path: "/home/me/tool",
                device: file.device,
                inode: file.inode,
                isProtected: false
            ),
            pid: 10
        )
        let other = TerminalDrivers.Driver(
            pid: 30,
            user: 1000,
            path: "/home/me/tool",
            device: file.device,
            inode: file.inode
        )
        #expect(other.isProgram(of: client))
        client.executable?.path = "/usr/bin/python3.11"
        #expect(!other.isProgram(of: client))
        client.pid = 30
        #expect(other.isProgram(of: client))
        let unknown = TerminalDrivers.Driver(pid: 31, user: 1000, path: "", device: 0, inode: 0)
        #expect(!unknown.isProgram(of: client))
    }
}
