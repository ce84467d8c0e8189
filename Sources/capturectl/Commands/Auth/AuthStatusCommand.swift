import ArgumentParser
import CaptureKit

struct AuthStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show how a program stands with each service.",
        discussion: """
            Without a program: how this command stands, as seen from here. Nobody is asked. What is restricted is so by the \
            policy's file and line beside it.
            """
    )

    @OptionGroup var bus: BusOptions

    @OptionGroup var subject: ProgramOptions

    func run() async throws {
        try subject.check()
        let panel = AuthorizationPanel(on: try await bus.connect())
        var statuses: [AuthorizationService: AuthorizationStatus] = [:]
        var name: String
        if let program = subject.program {
            name = program
            statuses = try await panel.statuses(of: program, user: subject.user ?? "")
        } else {
            name = try await panel.whoAmI().program
            for service in [AuthorizationService.camera, .microphone] {
                statuses[service] = try await panel.status(service)
            }
        }
        let rows = statuses.sorted { $0.key < $1.key }
        var places: [AuthorizationService: String] = [:]
        for service in rows.filter({ $0.value == .restricted }).map(\.key) {
            let program = subject.program ?? ""
            places[service] = try await panel.explain(program, [service], user: subject.user ?? "").first?.policySource
        }
        if subject.json {
            return Output.print([
                "program": JSON(name),
                "statuses": .object(rows.map { JSON.Member(key: $0.key.rawValue, value: JSON($0.value.word)) }),
                "policy": .object(
                    rows.filter { places[$0.key] != nil }.map {
                        JSON.Member(key: $0.key.rawValue, value: JSON(places[$0.key]))
                    }
                ),
            ])
        }
        var table = Table(places.isEmpty ? ["SERVICE", "STATUS"] : ["SERVICE", "STATUS", "BY"])
        for row in rows { table.add([row.key.rawValue, row.value.word, places[row.key] ?? ""]) }
        Output.print(Printable.text(name) + "\n" + table.text)
    }
}
