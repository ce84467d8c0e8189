import ArgumentParser
import CaptureKit
import Glibc

struct AuthSettingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Look through a program's answers on this terminal, and change them.",
        discussion: """
            Programs that were refused open this in a window. To allow more takes your password. For scripts, there are \
            'auth set' and 'auth reset'.
            """
    )

    @OptionGroup var bus: BusOptions

    @Argument(help: .program, completion: .programs, transform: ProgramName.whole)
    var program: String

    func run() async throws {
        try ProgramName.check(program)
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else {
            throw CaptureError(.usage, "there is no terminal to ask on; use 'auth set' or 'auth reset'")
        }
        let panel = AuthorizationPanel(on: try await bus.connect())
        while true {
            let statuses = try await panel.statuses(of: program).sorted { $0.key < $1.key }
            var table = Table([">", "SERVICE", "STATUS"])
            for (number, (service, status)) in statuses.enumerated() {
                table.add(["\(number + 1)", service.rawValue, status.word])
            }
            Output.print(Printable.text(program))
            Output.print(table)
            guard let line = ask("Which to change? 1 to \(statuses.count), or Enter to leave: ") else { return }
            guard let number = Int(line), (1...statuses.count).contains(number) else {
                Output.note("there is no \(Printable.text(line)) in the list")
                continue
            }
            await change(statuses[number - 1].key)
        }
    }

    /// Asks for an answer and stores it. What is refused is told, and the rest can still be changed.
    private func change(_ service: AuthorizationService) async {
        let isReading = service == .libraryReadWrite
        let words = isReading ? "all, limited, none" : "authorized, denied"
        guard let answer = ask("\(service.rawValue): \(words), forget, or Enter to leave it: ") else { return }
        let over = bus.bus.map { ["--bus", $0.rawValue] } ?? []
        let command: any AsyncParsableCommand
        do {
            let subject = isReading ? "library" : service.rawValue
            command =
                answer == "forget"
                ? try AuthResetCommand.parse(over + [program, service.rawValue])
                : try AuthSetCommand.parse(over + [program, subject, answer])
        } catch {
            return Output.note("there is no answer '\(Printable.text(answer))'; choose one of \(words), forget")
        }
        do {
            var running = command
            try await running.run()
        } catch let error as CaptureError {
            Output.message(Printable.text(error.message, limit: 1000))
        } catch {
            Output.message(Printable.text("\(error)", limit: 1000))
        }
    }

    /// A line that is typed; `nil` for an empty one or the end.
    private func ask(_ question: String) -> String? {
        Output.write(question, to: STDOUT_FILENO)
        guard let line = readLine()?.trimmingPrefix(" "), !line.isEmpty else { return nil }
        return String(line)
    }
}
