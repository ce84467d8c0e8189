import CaptureKit
import CaptureSystem
import Glibc
import PickerMessages
import Synchronization

/// The program that shows the picker's window, as a child: orders go in, reports come out. It speaks to nobody else, and
/// ends when this process does. Thread-safe.
final class PickerProcess: Sendable {
    /// What it says. Ends with the process, after an error for what is no message.
    let reports: AsyncStream<Result<PickerReport, CaptureError>>
    private let program: String
    private let input: Descriptor
    /// Its id, until it is reaped; and how it ended.
    private let child: Mutex<(id: Int32?, status: Int32)>

    /// How long it may take to say that it can show a window: less than the daemon waits for an agent.
    static let patience: Duration = .seconds(8)

    /// Starts it.
    ///
    /// - Throws: `nobodyToAsk` when it cannot be started.
    init(_ program: String) throws(CaptureError) {
        self.program = program
        let feed: AsyncStream<Result<PickerReport, CaptureError>>.Continuation
        (reports, feed) = AsyncStream.makeStream()
        do throws(SystemError) {
            let (theirInput, input) = try Descriptor.pipe()
            let (output, theirOutput) = try Descriptor.pipe()
            self.input = input
            let id = try ChildProcess.spawn(program, standardInput: theirInput, standardOutput: theirOutput)
            child = Mutex((id, 0))
            do throws(SystemError) {
                try WorkerThread.detached(name: "picker") {
                    self.read(output, feed)
                    self.end()
                    feed.finish()
                }
            } catch {
                end()
                throw error
            }
        } catch {
            throw CaptureError(.nobodyToAsk, "the picker does not start: \(error)", errno: error.errno)
        }
    }

    /// Waits until it is able to show a window.
    ///
    /// - Throws: `nobodyToAsk` with the reason when it is not; then it has ended.
    func ready(within patience: Duration = patience) async throws(CaptureError) {
        let timer = Task {
            try await Task.sleep(for: patience)
            self.end()
        }
        defer { timer.cancel() }
        var iterator = reports.makeAsyncIterator()
        let why: String
        switch await iterator.next() {
        case .success(.ready): return
        case .success(.unable(let message)): why = Printable.text(message, limit: 300)
        case .success: why = "it said something else first"
        case .failure(let error): why = error.message
        case nil: why = ending
        }
        end()
        throw CaptureError(.nobodyToAsk, "\(program) cannot show a window: \(why)")
    }

    /// Tells it something.
    ///
    /// - Throws: `inputOutput` when it is gone.
    func send(_ order: PickerOrder) async throws(CaptureError) {
        try await WorkerThread.run("picker order") { [input] () throws(CaptureError) in
            try CaptureError.wrap(.inputOutput, try input.write(all: PickerLine.encode(order)))
        }
    }

    /// Ends it, and takes its window off the screen. Nothing is lost with it.
    func end() {
        child.withLock { child in
            guard let id = child.id else { return }
            kill(id, SIGKILL)
            child = (nil, ChildProcess.reap(id))
        }
    }

    /// How it ended.
    var ending: String {
        let status = child.withLock(\.status)
        // As wait(2) has it: the signal in the lower bits, else the exit code above them.
        switch (status & 0x7f, status >> 8 & 0xff) {
        case (0, 127): return "it ended at once, a library is missing: GTK 3 is needed"
        case (0, let code): return "it ended, exit code \(code)"
        case (SIGKILL, _): return "it did not answer"
        case (let signal, _): return "it ended by signal \(signal)"
        }
    }

    private func read(_ output: Descriptor, _ feed: AsyncStream<Result<PickerReport, CaptureError>>.Continuation) {
        var lines = PickerLines(longest: PickerLine.longestReport)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        do {
            while true {
                let count = unsafe try buffer.withUnsafeMutableBytes { unsafe try output.read(into: $0) }
                if count == 0 { return }
                for line in try lines.take(buffer[..<count]) { feed.yield(.success(try PickerLine.decode(line))) }
            }
        } catch {
            feed.yield(.failure(CaptureError(.badData, "cannot understand the picker: \(error)")))
        }
    }
}
