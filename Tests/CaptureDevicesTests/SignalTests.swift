import CLinux
import CaptureCore
import CaptureRing
import CaptureSystem
import LyingDriver
import Testing

@testable import CaptureDevices

@Suite(.serialized, .timeLimit(.minutes(10))) struct `A camera whose input has no signal` {
    private static let height = LyingCamera.height

    /// A camera without a signal, streaming.
    private func silent(isMapped: Bool = false) async throws -> (LyingCamera, LyingStream) {
        let camera = try LyingCamera {
            $0.status = UInt32(V4L2_IN_ST_NO_SIGNAL)
            $0.signal_height = Self.height
        }
        return (camera, try await LyingStream(camera, isMapped: isMapped))
    }

    /// Waits until the driver was asked so many things more.
    private func wait(for calls: UInt64, of camera: LyingCamera) throws {
        let (end, limit) = (camera.calls + calls, Timestamp.now.advanced(by: 10_000_000_000))
        let never = try EventSignal()
        while camera.calls < end, Timestamp.now < limit { _ = try Poll.wait(never.descriptor, timeout: 10) }
    }

    @Test(arguments: [false, true]) func `delivers no noise, and goes on when the signal returns`(isMapped: Bool)
        async throws
    {
        let (camera, stream) = try await silent(isMapped: isMapped)
        camera.deliver(0)
        let (never, limit) = (try EventSignal(), Timestamp.now.advanced(by: 60_000_000_000))
        while stream.camera.interruption == nil, Timestamp.now < limit {
            _ = try Poll.wait(never.descriptor, timeout: 10)
        }
        try #require(stream.camera.interruption != nil)
        try wait(for: 6, of: camera)
        #expect(stream.ring.statistics.published == 0)
        camera.say { $0.status = 0 }
        var number: UInt32 = 0
        while stream.ring.statistics.published == 0, Timestamp.now < limit {
            number += 1
            camera.deliver(number)
            _ = try Poll.wait(never.descriptor, timeout: 50)
        }
        #expect(try #require(try stream.next()).deviceSequence > 0)
        stream.camera.close()
    }

    @Test func `ends when another signal comes`() async throws {
        let (camera, stream) = try await silent()
        camera.say {
            $0.status = 0
            $0.signal_height = 2 * Self.height
        }
        camera.deliver(0)
        let error = try stream.end()
        #expect(error.code.exitCode == 74)
        #expect(error.message.contains("64x64") && error.message.contains("64x32"), "\(error)")
        #expect(stream.ring.statistics.published == 0)
        stream.camera.close()
    }

    @Test func `can be stopped meanwhile`() async throws {
        let (camera, stream) = try await silent()
        try wait(for: 3, of: camera)
        stream.camera.close()
        #expect(stream.ring.statistics.published == 0)
    }
}
