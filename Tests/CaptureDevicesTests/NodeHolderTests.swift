import CaptureCore
import CaptureSystem
import Foundation
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

    @Test func `is found where only one thread of the process has it, with descriptors of its own`() throws {
        let script = """
            import ctypes, os, sys, threading
            node = os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
            kept = threading.Event()
            def keep():
                if ctypes.CDLL(None).unshare(0x400) != 0: os._exit(1)
                kept.set()
                sys.stdin.read()
                os._exit(0)
            threading.Thread(target=keep).start()
            kept.wait()
            os.close(node)
            print("closed", flush=True)
            threading.Event().wait()
            """
        let child = Process()
        let (input, output) = (Pipe(), Pipe())
        child.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        child.arguments = ["-c", script]
        (child.standardInput, child.standardOutput) = (input, output)
        try child.run()
        #expect(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self).hasPrefix("closed"))
        let holders = NodeHolders.find(["/dev/ptmx"]).filter { $0.process == child.processIdentifier }
        try input.fileHandleForWriting.close()
        child.waitUntilExit()
        #expect(holders.map(\.node) == ["/dev/ptmx"])
    }
}
