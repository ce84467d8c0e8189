import CaptureBus
import CaptureCore
import CaptureSystem

@testable import captured

extension PassingDoors {
    /// Doors of the program that was built beside the tests.
    static var ofTests: PassingDoors {
        PassingDoors(program: TestPrograms.path("captured-door"))
    }

    /// The part of the manager's interface that makes doors.
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

/// The programs that were built beside the tests.
enum TestPrograms {
    /// Where one lies.
    static func path(_ name: String) -> String {
        let own = Files.link(at: "/proc/self/exe") ?? ""
        return own.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/" + name
    }
}

extension PacketSocket {
    /// The next message, received on a thread of its own: those that tests share are for who answers.
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
