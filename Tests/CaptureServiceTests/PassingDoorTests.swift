import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureSystem
import Foundation
import Testing

@testable import CaptureKit
@testable import CaptureService

/// Passes descriptors to the daemon through real `captured-door` processes.
@Suite struct PassingDoorTests {
    private let bus: PrivateBus
    private let daemon: BusConnection
    private let doors = PassingDoors.ofTests
    private let callers: CallerDirectory

    init() async throws {
        bus = try PrivateBus()
        daemon = try await BusConnection.open(bus.kind)
        let doors = doors
        callers = CallerDirectory(bus: daemon, root: SystemRoot(ofProcessOne: false)) { await doors.clientGone($0) }
        try await daemon.export(
            try BusObject(path: CaptureNames.root, [doors.implementation(for: callers)])
        )
        try await daemon.requestName(CaptureNames.service)
    }

    private func pass(_ file: Descriptor, by client: BusConnection) async throws -> (DescriptorDoor, ticket: String) {
        let door = try await DescriptorDoor(of: client, startsService: false)
        let ticket = try #require(try await door.passing(.descriptor(file)).text)
        return (door, ticket)
    }

    @Test func `a descriptor reaches the socket that the daemon names, and its ticket is good once`() async throws {
        let client = try await BusConnection.open(bus.kind)
        let (reading, writing) = try Descriptor.pipe()
        let (door, ticket) = try await pass(writing, by: client)
        let file = try await doors.file(ticket, of: client.uniqueName)
        #expect(file.facts == PassedFileFacts(isWritable: true, identity: nil))
        await #expect(throws: CaptureError.self) { try await doors.file(ticket, of: client.uniqueName) }
        let (ours, theirs) = try PacketSocket.pair()
        try await file.hand("a job", over: theirs, with: [reading])
        let message = try #require(try await ours.next())
        #expect(message.text == "a job" && message.files.count == 2)
        let sent = Array("hello".utf8)
        try unsafe sent.withUnsafeBytes { try unsafe message.files[0].write(all: $0) }
        var got = [UInt8](repeating: 0, count: 5)
        _ = try unsafe got.withUnsafeMutableBytes { try unsafe message.files[1].read(into: $0) }
        #expect(got == sent)
        withExtendedLifetime(door) {}
    }

    @Test func `calls that come at one time get no more doors than one after the other`() async throws {
        let client = ClientIdentity(
            program: "exe:/usr/bin/tool",
            tier: .claimed,
            user: 1234,
            name: "tool",
            detail: "a test"
        )
        let caller = SessionClient(identity: client, connection: ":1.9") { () throws(CaptureError) in client }
        let doors = doors
        let given = await withTaskGroup { group in
            for _ in 0..<40 { group.addTask { try? await doors.open(for: caller) } }
            var given: [(socket: Descriptor, number: UInt32)] = []
            for await one in group { if let one { given.append(one) } }
            return given
        }
        #expect(given.count == PassingDoors.mostUntakenOfUser)
    }

    @Test func `a ticket is good only for the connection that passed the descriptor`() async throws {
        let client = try await BusConnection.open(bus.kind)
        let other = try await BusConnection.open(bus.kind)
        let (door, ticket) = try await pass(try Descriptor.open("/dev/null", O_RDWR), by: client)
        for wrong in [ticket + "0", "1", "", "1.1.1", "-1.1", "999.1", "\u{1B}[2J.1"] {
            await #expect(throws: CaptureError.self) { try await doors.file(wrong, of: client.uniqueName) }
        }
        await #expect(throws: CaptureError.self) { try await doors.file(ticket, of: other.uniqueName) }
        #expect(try await doors.file(ticket, of: client.uniqueName).facts.isWritable)
        withExtendedLifetime(door) {}
    }

    @Test func `a door keeps descriptors after its program left, until their last use`() async throws {
        let client = try await BusConnection.open(bus.kind)
        let (reading, writing) = try Descriptor.pipe()
        var file: PassedFile?
        do {
            let (_, ticket) = try await pass(writing, by: client)
            file = try await doors.file(ticket, of: client.uniqueName)
        }
        let (ours, theirs) = try PacketSocket.pair()
        try await file?.hand("late", over: theirs, with: [])
        #expect(try await ours.next()?.files.count == 1)
        file = nil
        // The pipe ends when nobody holds its other end: neither this test, which closes its own here, nor the door.
        try Self.close(writing)
        #expect(try !Poll.wait(reading.descriptor, timeout: 60_000).isDisjoint(with: .failed))
    }

    @Test func `a door holds at most sixteen descriptors and takes one with each message`() async throws {
        let client = try await BusConnection.open(bus.kind)
        let null = try Descriptor.open("/dev/null", O_RDWR)
        let door = try await DescriptorDoor(of: client, startsService: false)
        for _ in 0..<16 { _ = try await door.passing(.descriptor(null)) }
        await #expect(throws: CaptureError.self) { try await door.passing(.descriptor(null)) }

        let answer = try await client.callDaemon("OpenDoor", on: CaptureNames.manager)
        let socket = PacketSocket(try #require(answer[0].file))
        try socket.send("two", with: [null, null])
        #expect(try await socket.next()?.text.hasPrefix("refused") == true)
        try socket.send("none")
        #expect(try await socket.next()?.text.hasPrefix("refused") == true)
        try socket.send("one", with: [null])
        #expect(try await socket.next()?.text == "1")
    }

    @Test func `a user's oldest door closes when the user has too many`() async throws {
        let client = try await BusConnection.open(bus.kind)
        let null = try Descriptor.open("/dev/null", O_RDWR)
        let (oldest, ticket) = try await pass(null, by: client)
        var others: [DescriptorDoor] = []
        for _ in 0..<PassingDoors.mostOfUser { others.append(try await pass(null, by: client).0) }
        await #expect(throws: CaptureError.self) { try await oldest.passing(.descriptor(null)) }
        await #expect(throws: CaptureError.self) { try await doors.file(ticket, of: client.uniqueName) }
        let last = try await pass(null, by: client)
        #expect(try await doors.file(last.ticket, of: client.uniqueName).facts.isWritable)
    }

    /// The bus stops reading from the daemon while 64 descriptors of its answers are not read.
    @Test func `doors that nobody uses are few`() async throws {
        let client = try await BusConnection.open(bus.kind)
        let other = try await BusConnection.open(bus.kind)
        let identity = ClientIdentity(program: "exe:/x", tier: .claimed, user: 77, name: "x", detail: "test")
        func opened(_ client: BusConnection) async throws(CaptureError) -> PacketSocket {
            let client = SessionClient(identity: identity, connection: client.uniqueName) { identity }
            return PacketSocket(try await doors.open(for: client).socket)
        }
        var sockets: [PacketSocket] = []
        for _ in 0..<PassingDoors.mostUntakenOfUser { sockets.append(try await opened(client)) }
        #expect(await code { _ = try await opened(other) } == .busy)
        try sockets[0].send("used")
        _ = try await sockets[0].next()
        sockets.append(try await opened(other))
        // One whose program has left is none any more.
        sockets.removeLast()
        try await until { await doors.count == PassingDoors.mostUntakenOfUser }
        sockets.append(try await opened(other))
        await #expect(throws: CaptureError.self) { _ = try await opened(other) }
        await doors.clientGone(client.uniqueName)
        _ = try await opened(other)
        withExtendedLifetime(sockets) {}
    }

    /// The daemon may hear of the end before it has noted the door.
    @Test func `a door whose process ends at once is not kept`() async throws {
        let doors = PassingDoors(program: "/bin/true")
        for first in stride(from: UInt32(1), to: 401, by: PassingDoors.mostUntaken) {
            try await withThrowingTaskGroup { group in
                for user in first..<first + UInt32(PassingDoors.mostUntaken) {
                    let identity = ClientIdentity(
                        program: "exe:/x",
                        tier: .claimed,
                        user: user,
                        name: "x",
                        detail: "test"
                    )
                    let client = SessionClient(identity: identity, connection: ":1.\(user)") { identity }
                    group.addTask { _ = try await doors.open(for: client) }
                }
                try await group.waitForAll()
            }
            try await until { await doors.count == 0 }
        }
    }

    /// A descriptor whose last close takes 300 s. The daemon must answer calls all the same.
    @Test func `a descriptor that cannot be closed hangs nobody`() async throws {
        let client = try await BusConnection.open(bus.kind)
        let hostile = try LingeringSocket()
        var door: DescriptorDoor?
        let file: PassedFile
        do {
            let (opened, ticket) = try await pass(hostile.file, by: client)
            door = opened
            file = try await doors.file(ticket, of: client.uniqueName)
        }
        hostile.leave()
        // The door drops it and hangs there; nothing here hangs.
        withExtendedLifetime(file) {}
        door = nil
        let (_, next) = try await pass(try Descriptor.open("/dev/null", O_RDWR), by: client)
        #expect(try await doors.file(next, of: client.uniqueName).facts.isWritable)
        await client.close()
        withExtendedLifetime(door) {}
    }

    /// Closes a descriptor before its object goes, and puts something harmless in its place.
    private static func close(_ file: Descriptor) throws {
        let null = try Descriptor.open("/dev/null", O_RDWR)
        try SystemError.check("replace a descriptor") { dup2(null.descriptor, file.descriptor) }
    }
}

/// A TCP connection with unsent data and SO_LINGER, whose peer never reads. Its last close waits.
final class LingeringSocket: Sendable {
    let file: Descriptor
    private let peer: Descriptor

    init() throws {
        let listening = Descriptor(
            owning: try SystemError.check("socket") { socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
        )
        let end = Descriptor(
            owning: try SystemError.check("socket") { socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
        )
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        peer = try unsafe withUnsafeMutablePointer(to: &address) { pointer in
            try unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                try SystemError.check("bind") { unsafe bind(listening.descriptor, address, length) }
                try SystemError.check("listen") { listen(listening.descriptor, 1) }
                try SystemError.check("name") { unsafe getsockname(listening.descriptor, address, &length) }
                let number = end.descriptor
                try SystemError.check("connect") { unsafe connect(number, address, length) }
                return Descriptor(
                    owning: try SystemError.check("accept") { accept(listening.descriptor, nil, nil) }
                )
            }
        }
        file = end
        let block = [UInt8](repeating: 0, count: 1 << 16)
        while unsafe send(file.descriptor, block, block.count, Int32(MSG_DONTWAIT)) > 0 {}
        var option = linger(l_onoff: 1, l_linger: 300)
        try SystemError.check("linger") {
            unsafe setsockopt(file.descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
    }

    /// Closes this process's copy. Blocks if it is the last one.
    func leave() {
        let null = unsafe open("/dev/null", O_RDWR)
        _ = dup2(null, file.descriptor)
        Glibc.close(null)
    }
}
