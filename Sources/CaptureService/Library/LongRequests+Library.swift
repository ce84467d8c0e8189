import CaptureBus
import CaptureCore
import CaptureEngine

/// Requests to the media library, which `Finished` ends.
extension LongRequests {
    /// Begins a request to the media library.
    ///
    /// - Returns: The answer to the call: the request's number.
    func answer(
        _ client: SessionClient,
        _ work: @escaping @Sendable (_ number: UInt32) async throws(CaptureError) -> [String: BusValue]
    ) throws(CaptureError) -> [BusValue] {
        let number = try begin(for: client) { number in
            do throws(CaptureError) {
                // Nothing is done for a caller that left before its request was noted.
                _ = try await client.identifyAgain()
                return Outcome(result: .properties(try await work(number)))
            } catch {
                return Outcome(fault: error, result: .properties([:]))
            }
        }
        return [.uint32(number)]
    }
}

extension LongRequests.Rules {
    static let library = LongRequests.Rules(
        interface: CaptureNames.library,
        signal: "Finished",
        noResult: .properties([:]),
        mostOfConnection: 16,
        mostOfProgram: 16,
        mostOfUser: 64,
        tooMany: "16 requests of a program and 64 of a user to the media library may be under way at a time; wait for "
            + "one to end",
        name: "a request to the media library",
        verb: "is under way",
        awaitsEnd: false
    )
}
