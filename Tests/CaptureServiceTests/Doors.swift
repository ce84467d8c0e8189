import BusSupport
import CaptureBus
import CaptureCore
import CaptureSystem

@testable import CaptureService

extension PassingDoors {
    /// Doors that run the `captured-door` built beside the tests.
    static var ofTests: PassingDoors {
        PassingDoors(program: TestPrograms.path("captured-door"))
    }

    /// The part of the manager's interface with `OpenDoor`.
    nonisolated func implementation(for callers: CallerDirectory) -> BusImplementation {
        BusImplementation(
            BusInterface(
                CaptureNames.manager,
                methods: [
                    BusMethod("OpenDoor", returns: [BusArgument("door", "h"), BusArgument("number", "u")])
                ]
            ),
            methods: ["OpenDoor": opening(for: callers)]
        )
    }
}

/// The programs built beside the tests.
enum TestPrograms {
    /// The recorder, which examines files, too.
    static let recorder = RecorderOrigin.program(path: path("captured-recorder"))

    /// The path of one of them.
    static func path(_ name: String) -> String { "\(RealDaemon.programs)/\(name)" }
}

extension PacketSocket {
    /// The next message, received on a thread of its own, because the shared threads are needed to answer.
    func next() async throws -> (text: String, files: [Descriptor])? {
        try await WorkerThread.run("receive") { () throws(CaptureError) in
            do throws(SystemError) {
                return try self.receive()
            } catch {
                throw CaptureError(.inputOutput, error)
            }
        }
    }
}
