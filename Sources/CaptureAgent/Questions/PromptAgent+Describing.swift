import CaptureBus
public import CaptureCore
import CaptureSystem
import CaptureKit

extension PromptAgent {
    /// Looks in the person's files for the reasons why a program captures, on a thread that may wait for them.
    ///
    /// - Parameters:
    ///   - program: Its id, as `exe:/home/alice/gauge`.
    ///   - unit: The unit that it runs in; may be empty.
    ///   - services: The services that it wants.
    /// - Returns: The reasons found.
    public typealias Describer =
        @Sendable (
            _ program: String,
            _ unit: String,
            _ services: [AuthorizationService]
        ) -> [AuthorizationService: String]

    static func describe(_ arguments: [BusValue], _ describe: Describer?) async throws(CaptureError) -> [BusValue] {
        guard arguments.count == 3, let program = arguments[0].text, let unit = arguments[1].text,
            let names = arguments[2].texts
        else { throw CaptureError(.invalidArgument, "Describe needs a program's id, its unit and services") }
        let services = names.compactMap(AuthorizationService.init(rawValue:))
        let found = try await WorkerThread.run("describe") { describe?(program, unit, services) ?? [:] }
        let entries = found.sorted { $0.key < $1.key }.map { BusEntry(.string($0.key.rawValue), .string($0.value)) }
        return [.dictionary("ss", entries)]
    }
}
