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
    /// The path of one of them.
    static func path(_ name: String) -> String {
        let own = Files.link(at: "/proc/self/exe") ?? ""
        return own.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/" + name
    }
}

extension PacketSocket {
    /// The next message, received on a thread of its own, because the shared threads are needed to answer.
    func next() async throws -> (text: String, files: [Descriptor])? {
        try await WorkerThread.run("receive") {
            do throws(SystemError) {
                return .success(try self.receive())
            } catch {
                return .failure(CaptureError(.inputOutput, error))
            }
        }
    }
}
