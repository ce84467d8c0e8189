import CaptureSystem
import Glibc
import Testing

@testable import CaptureDevices

@Suite struct `Who holds a node` {
    @Test func `is found by the device, with process, user and program, each node once`() throws {
        let node = "/dev/full"
        let file = try Descriptor.open(node, O_RDWR)
        // Waits for the end of what never ends.
        let endless = try Descriptor.open("/dev/ptmx", O_RDWR | O_NOCTTY)
        let child = try ChildProcess.spawn("/bin/cat", standardInput: endless)
        defer {
            kill(child, SIGKILL)
            ChildProcess.reap(child)
        }
        let holders = NodeHolders.find(["/dev/ptmx", node]).filter { $0.process == child }
        #expect(holders.map(\.node) == ["/dev/ptmx"])
        #expect(holders.first?.user == getuid())
        #expect(holders.first?.program.hasSuffix("/cat") == true)
        #expect(NodeHolders.of("/dev/nowhere").isEmpty)
        // This process itself is not past the daemon.
        #expect(!NodeHolders.find([node]).contains { $0.process == getpid() })
        withExtendedLifetime(file) {}
    }
}
