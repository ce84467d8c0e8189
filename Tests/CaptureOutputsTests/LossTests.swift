import CaptureCore
import CaptureSystem
import Glibc
import Synchronization
import Testing

@testable import CaptureOutputs

/// What a file lacks whose recorder was killed: the real program, fed as fast as a camera and a microphone do. Prints a
/// table.
///
/// `CAPTURE_TEST_KILLS` says how often a movie of each kind is killed at each rate, 4 times if it is not set, and a sound
/// file three times as often.
@Suite(.serialized) struct LossTests {
    private static let kills = unsafe getenv("CAPTURE_TEST_KILLS").flatMap { unsafe Int(String(cString: $0)) } ?? 4
    /// How many recorders run beside each other, on a machine that shall keep up with them.
    private static let width = 6

    /// What a kill left.
    private struct Loss {
        /// Seconds from what the file ends with to the kill.
        var behind: Double
        /// Seconds that were reported and are not in the file.
        var broken: Double
    }

    @Test(arguments: Material.movies, [UInt32(5), 30, 60])
    func `a killed recorder costs a movie at most a second`(container: String, rate: UInt32) throws {
        let format = Material.yuyv(160, 120, fps: rate)
        try hold("\(container) at \(rate) frames a second", LossTests.kills) {
            let output = OutputDescription(name: "m", kind: .movie, format: container, videoCodec: "h264")
            return try loss(output, format)
        }
    }

    @Test(arguments: Material.sounds)
    func `a killed recorder costs a sound file at most a second`(container: String) throws {
        try hold(container, 3 * LossTests.kills) {
            try loss(OutputDescription(name: "s", kind: .sound, format: container), nil)
        }
    }

    /// Tries it so often, and prints the row.
    private func hold(_ what: String, _ kills: Int, _ loss: @escaping @Sendable () throws -> Loss) throws {
        let found = Mutex<(left: Int, losses: [Loss], errors: [any Error])>((kills, [], []))
        let threads = try (0..<LossTests.width).map { number in
            try WorkerThread(name: "kill-\(number)") {
                while found.withLock({ found in
                    found.left -= 1
                    return found.left >= 0
                }) {
                    do {
                        let one = try loss()
                        found.withLock { $0.losses.append(one) }
                    } catch {
                        found.withLock { $0.errors.append(error) }
                    }
                }
            }
        }
        for thread in threads { thread.join() }
        let (_, losses, errors) = found.withLock { $0 }
        #expect(errors.isEmpty, "\(errors)")
        #expect(losses.count == kills)
        let behind = losses.map(\.behind).sorted()
        let most = try #require(behind.last)
        let middle = behind[behind.count / 2]
        let broken = losses.map(\.broken).max() ?? 0
        func text(_ seconds: Double) -> String { "\(Int((seconds * 1000).rounded())) ms" }
        print(
            "# \(what): \(losses.count) kills, lost \(text(middle)) in the middle, \(text(most)) at most; reported and lost \(text(broken))"
        )
        #expect(most <= 1)
        // A packet's own length, and the rounding of containers.
        #expect(broken <= 0.03)
    }

    /// Records until a moment that nobody chose, and kills.
    private func loss(_ output: OutputDescription, _ video: VideoFormat?) throws -> Loss {
        let rig = try Rig(output, video: video, audio: Material.stereo, slots: 16, process: RecorderProcess.Limits())
        let picture = video.map { Material.flat(90, $0) } ?? []
        let interval = video?.interval.nanoseconds ?? .max
        let end = Int64.random(in: 1_500_000_000...4_000_000_000)
        var begun = Timestamp.now
        var (nextPicture, nextPeriod) = (video == nil ? Int64.max : 0, Int64(0))
        while min(nextPicture, nextPeriod) < end {
            let due = min(nextPicture, nextPeriod)
            let wait = due - (Timestamp.now - begun)
            if wait > 0 { usleep(UInt32(wait / 1000)) }
            // What was held up goes on at its pace: no camera delivers seconds at once.
            if wait < -50_000_000 { begun = begun.advanced(by: -wait) }
            if nextPicture == due {
                try rig.frame(picture, at: due)
                nextPicture += interval
            } else {
                let position = UInt64(due / 10_000_000 * 480)
                try rig.period(Material.tone(Material.stereo, position: position), at: due, position: position)
                nextPeriod += 10_000_000
            }
        }
        let process = try #require(rig.process)
        process.kill(SIGKILL)
        // While this thread was held up, there was nothing to lose.
        let killed = min(Timestamp.now - begun, min(nextPicture, nextPeriod))
        _ = try process.wait()
        let reported = try rig.lastReported()
        let streams = video == nil ? ["a"] : ["v", "a"]
        // Of each stream what it ends with; a movie has lost what the shorter one has.
        let ends = try streams.map { stream in
            let last = try Probe.packets(rig.path, stream).map(\.time).max() ?? 0
            return last + (stream == "v" ? Double(interval) / 1e9 : 0.02)
        }
        let seconds = Double(killed) / 1e9
        return Loss(behind: seconds - (ends.min() ?? 0), broken: max(reported - (ends.max() ?? 0), 0))
    }
}
