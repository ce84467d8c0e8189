import CaptureSystem
import Glibc
import Synchronization
import Testing

@testable import CaptureAgent
@testable import CaptureKit

/// A terminal whose keyboard and screen are the test's.
private final class Desk: Sendable {
    let path: String
    private let keyboard: Descriptor
    /// Held open, so that the terminal is there before and after the prompt; tells what was typed and not taken.
    private let line: Descriptor
    private let shown: AsyncStream<String>
    private let stop: EventSignal
    private let reader: WorkerThread

    init() throws {
        let keyboard = try Descriptor.open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var isLocked: Int32 = 0
        var number: Int32 = 0
        // TIOCSPTLCK and TIOCGPTN; unlockpt(3) and ptsname(3) are not imported.
        #expect(unsafe ioctl(keyboard.descriptor, 0x4004_5431, &isLocked) == 0)
        #expect(unsafe ioctl(keyboard.descriptor, 0x8004_5430, &number) == 0)
        path = "/dev/pts/\(number)"
        line = try Descriptor.open(path, O_RDWR | O_NOCTTY)
        let stop = try EventSignal()
        let (shown, feed) = AsyncStream<String>.makeStream()
        reader = try WorkerThread(name: "screen") {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
            defer { unsafe buffer.deallocate() }
            while let (ready, ended) = try? Poll.wait(keyboard.descriptor, stop.descriptor), ended.isEmpty,
                ready.contains(.readable), let count = try? unsafe keyboard.read(into: buffer), count > 0
            {
                feed.yield(unsafe String(decoding: UnsafeRawBufferPointer(rebasing: buffer[..<count]), as: UTF8.self))
            }
            feed.finish()
        }
        (self.keyboard, self.shown, self.stop) = (keyboard, shown, stop)
    }

    deinit {
        stop.raise()
        reader.join()
    }

    func type(_ keys: String) {
        let bytes = Array(keys.utf8)
        #expect(unsafe write(keyboard.descriptor, bytes, bytes.count) == bytes.count)
    }

    /// Types while nobody takes keys, and returns when the terminal has them.
    func typeEarly(_ keys: String) throws {
        type(keys)
        #expect(try Poll.wait(line.descriptor, timeout: 60_000).contains(.readable))
    }

    /// What the screen shows until a text is there.
    func screen(until text: String) async -> String {
        var all = ""
        for await new in shown {
            all += new
            if all.contains(text) { break }
        }
        return all
    }
}

@Suite(.timeLimit(.minutes(10)))
struct `Keys at a prompt` {
    private let desk: Desk
    private let wake: EventSignal
    private let ready: EventSignal

    init() throws {
        desk = try Desk()
        wake = try EventSignal()
        ready = try EventSignal()
    }

    private static let request = PromptRequest(
        Question(
            cookie: "c",
            program: "exe:/usr/bin/tool",
            tier: "claimed"
        ),
        services: [.camera]
    )

    /// How many moments there were.
    private final class Moments: Sendable { let count = Atomic(0) }
    private let moments = Moments()

    /// The prompt, on a thread of its own as an agent has it; its moment is over when the test raises `ready`.
    private func prompt() -> Task<PromptAnswer, Never> {
        let (path, wake, ready, moments) = (desk.path, wake, ready, moments)
        return Task {
            await TerminalPrompt.onThread {
                guard let file = try? Descriptor.open(path, O_RDWR | O_NOCTTY) else { return .dismissed }
                let terminal = ControllingTerminal(file)
                return TerminalPrompt.converse(PromptDialog(Self.request), on: terminal, wake) { wake in
                    moments.count.add(1, ordering: .relaxed)
                    return try Poll.wait(wake.descriptor, ready.descriptor).0.contains(.readable)
                }
            }
        }
    }

    @Test func `are thrown away until the question is put, and that is said`() async throws {
        let prompt = prompt()
        #expect(await !desk.screen(until: "Ctrl-D").contains("d details]"))
        try desk.typeEarly("y")
        ready.raise()
        #expect(await desk.screen(until: "d details]").contains("too early"))
        // Who types on has not seen it yet.
        #expect(moments.count.load(ordering: .relaxed) == 2)
        desk.type("n")
        #expect(await prompt.value == .answered([.camera: false]))
    }

    @Test func `that were typed before anything was asked are thrown away`() async throws {
        try desk.typeEarly("yyyy\n")
        ready.raise()
        let prompt = prompt()
        _ = await desk.screen(until: "d details]")
        desk.type("n")
        #expect(await prompt.value == .answered([.camera: false]))
    }

    @Test func `count at sight of the question`() async throws {
        ready.raise()
        let prompt = prompt()
        #expect(await !desk.screen(until: "d details]").contains("too early"))
        desk.type("y")
        #expect(await prompt.value == .answered([.camera: true]))
    }

    @Test func `are no answer at the end of what is pasted`() async throws {
        ready.raise()
        let prompt = prompt()
        _ = await desk.screen(until: "d details]")
        desk.type(String(repeating: "x", count: 64) + "y")
        // Until the paste is over they are part of it.
        let typing = Task {
            while !Task.isCancelled {
                try await Task.sleep(for: .milliseconds(200))
                desk.type("n")
            }
        }
        #expect(await prompt.value == .answered([.camera: false]))
        typing.cancel()
    }

    @Test func `are not waited for when the question is withdrawn before it was put`() async throws {
        let prompt = prompt()
        _ = await desk.screen(until: "Ctrl-D")
        wake.raise()
        #expect(await prompt.value == .withdrawn)
        #expect(await desk.screen(until: "withdrawn").contains("the question was withdrawn"))
    }

    @Test func `are taken no sooner than the moment that a person has to look`() async throws {
        let (path, wake) = (desk.path, wake)
        let start = SuspendingClock.now
        let prompt = Task {
            await TerminalPrompt.onThread {
                guard let file = try? Descriptor.open(path, O_RDWR | O_NOCTTY) else { return .dismissed }
                return TerminalPrompt.converse(PromptDialog(Self.request), on: ControllingTerminal(file), wake)
            }
        }
        _ = await desk.screen(until: "d details]")
        #expect(start.duration(to: .now) >= PromptDialog.moment)
        #expect(PromptDialog.moment >= .milliseconds(500))
        desk.type("n")
        #expect(await prompt.value == .answered([.camera: false]))
    }
}
