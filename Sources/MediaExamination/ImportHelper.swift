import CLinux
package import CaptureCore
package import CaptureSystem
import Glibc
import MediaConversion
import Synchronization

/// Copies what a program passed, or examines a file: what a recorder process does for the media library.
///
/// The work may wait for ever, in a read of a file system that hangs, or in a decoder that a file leads in circles; so a
/// second thread ends the process when the daemon closes the connection, or on a signal. Thread-bound.
package struct ImportHelper {
    /// The most bytes of address space: enough for the largest pictures and the libraries themselves.
    private static let mostMemory: UInt64 = 4 << 30
    /// The least bytes of address space: enough for movies of usual sizes.
    private static let leastMemory: UInt64 = 1 << 30
    /// Seconds of processor time for one file.
    private static let processorTime: UInt64 = 100

    private let socket: PacketSocket
    private let isSandboxed: Bool

    package init(_ socket: PacketSocket, isSandboxed: Bool) {
        self.socket = socket
        self.isSandboxed = isSandboxed
    }

    /// Does one job and reports how it went.
    ///
    /// - Parameters:
    ///   - job: A job to copy or to examine.
    ///   - files: The file and the pipe.
    ///   - wake: Readable when the process shall end.
    /// - Returns: The exit code.
    package func run(_ job: RecorderJob, _ files: [Descriptor], wake: EventSignal) -> Int32 {
        let isDone = ImportHelper.watch(socket, wake)
        let report: ImportReport
        do throws(CaptureError) {
            report = try answer(job, files)
        } catch {
            report = .failed(error)
        }
        isDone.value.store(true, ordering: .releasing)
        do throws(SystemError) {
            try socket.send(report.text)
        } catch {
            StandardError.write("captured-recorder: nobody hears how it went: \(error)")
        }
        guard case .failed(let error) = report else { return 0 }
        return error.code.exitCode
    }

    private func answer(_ job: RecorderJob, _ files: [Descriptor]) throws(CaptureError) -> ImportReport {
        guard files.count == 2 else {
            throw CaptureError(.internalFault, "a job to import came with \(files.count) descriptors in the place of 2")
        }
        let (input, pipe) = (files[0], files[1])
        switch job {
        case .record: throw CaptureError(.internalFault, "a recording is no import")
        case .copy(let limit):
            close(limitingTime: false)
            return .copied(bytes: try SourceCopy(from: SourceFile(input), to: pipe, limit: limit).run())
        case .examine(let isWhole):
            MediaDate.learnZone()
            try LibAV.load()
            close(limitingTime: true)
            let examination = try Examination(of: ExaminedFile(input), isWhole: isWhole)
            for thumbnail in examination.thumbnails { try send(thumbnail, through: pipe) }
            return .examined(examination.media)
        }
    }

    /// The limit of address space on a machine with so much memory: half of it, between 1 and 4 GiB.
    ///
    /// A file of a few hundred bytes can declare a picture of gigabytes, and would make a small machine run out of memory.
    static func memory(of machine: UInt64) -> UInt64 { min(max(machine / 2, leastMemory), mostMemory) }

    /// The machine's memory in bytes; 0 if it is unknown.
    private static var machine: UInt64 {
        UInt64(max(0, sysconf(Int32(_SC_PHYS_PAGES)))) * UInt64(max(0, sysconf(Int32(_SC_PAGESIZE))))
    }

    /// Gives up what the job does not need, before the first of its bytes is looked at.
    private func close(limitingTime: Bool) {
        guard isSandboxed else { return }
        let time = limitingTime ? ImportHelper.processorTime : UInt64.max
        if clinux_limit_process(ImportHelper.memory(of: ImportHelper.machine), time) != 0 {
            let why = SystemError.text(of: errno)
            StandardError.write("captured-recorder: memory and time are not limited here (\(why))")
        }
        for layer in Sandbox.close() { StandardError.write("captured-recorder: \(layer)") }
    }

    private func send(_ thumbnail: [UInt8], through pipe: Descriptor) throws(CaptureError) {
        var framed: [UInt8] = []
        framed.append(UInt32(thumbnail.count))
        framed += thumbnail
        try CaptureError.wrap(.inputOutput, try pipe.write(all: framed))
    }

    /// Whether the work is done, for the thread that would end the process.
    private final class Flag: Sendable {
        let value = Atomic(false)
    }

    /// Ends the process at once when the daemon leaves or it is told to stop, until the work is done.
    private static func watch(_ socket: PacketSocket, _ wake: EventSignal) -> Flag {
        let isDone = Flag()
        do throws(SystemError) {
            try WorkerThread.detached(name: "watch") {
                let ready = try? Poll.wait(socket.file.descriptor, wake.descriptor)
                guard !isDone.value.load(ordering: .acquiring) else { return }
                if ready == nil { StandardError.write("captured-recorder: the daemon's connection cannot be watched") }
                _exit(CaptureError.Code.unreachable.exitCode)
            }
        } catch {
            // The daemon kills it all the same, or its processor time ends.
            StandardError.write("captured-recorder: \(error)")
        }
        return isDone
    }
}
