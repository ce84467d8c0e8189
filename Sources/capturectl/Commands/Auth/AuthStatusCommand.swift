import ArgumentParser
import CaptureKit

struct AuthStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show a program's status for each service.",
        discussion: """
            Without a program, shows the status of this command, run from here. Asks nobody. Beside a restricted \
            service stand the file and line of the policy. A program that asks without a level is told the status \
            library.
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
            for service in AuthorizationService.allCases {
                statuses[service] = try await panel.status(service)
            }
        }
        let rows = statuses.sorted { $0.key < $1.key }
        var places: [AuthorizationService: String] = [:]
        for service in rows.filter({ $0.value == .restricted }).map(\.key) {
            let program = subject.program ?? ""
            places[service] = try await panel.explain(program, [service], user: subject.user ?? "").first?.policySource
        }
        let withoutLevel = statuses[.libraryReadWrite].map { [(LibraryChoice.serviceName, $0.withoutLevel)] } ?? []
        if subject.json {
            return Output.print([
                "program": JSON(name),
                "statuses": .object(
                    (rows.map { ($0.key.rawValue, $0.value) } + withoutLevel).map {
                        JSON.Member(key: $0.0, value: JSON($0.1.word))
                    }
                ),
                "policy": .object(
                    rows.filter { places[$0.key] != nil }.map {
                        JSON.Member(key: $0.key.rawValue, value: JSON(places[$0.key]))
                    }
                ),
            ])
        }
        var table = Table(places.isEmpty ? ["SERVICE", "STATUS"] : ["SERVICE", "STATUS", .text("BY")])
        for row in rows { table.add([row.key.rawValue, row.value.word, places[row.key] ?? ""]) }
        for (name, status) in withoutLevel { table.add([name, status.word, places[.libraryReadWrite] ?? ""]) }
        Output.print(Printable.text(name))
        Output.print(table)
    }
}
