import ArgumentParser
import CaptureKit

struct LibraryChooseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "choose",
        abstract: "See and change what a limited program may read.",
        discussion: """
            For a program of yours that may only read chosen assets, after a question or 'auth set PROGRAM library \
            limited'. Everything is listed, with a mark for what the program may read. Pick more, or pick a marked \
            asset to take it away. The program may always read what it made itself.
            """
    )

    @OptionGroup var bus: BusOptions

    @OptionGroup var pictures: PictureOptions

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(help: .program, completion: .programs, transform: ProgramName.whole)
    var program: String

    func run() async throws {
        try ProgramName.check(program)
        // The password comes before the list, so that both can use the terminal.
        let (chosen, dropped) = try await PasswordAgent.during(asRoot: nil) { () async throws(CaptureError) in
            try await LibraryRun.during(bus, pictures: pictures.pictures) { library throws(CaptureError) in
                try await library.chooseAssets(for: program)
            }
        }
        if json { return Output.print(["chosen": JSON(chosen), "dropped": JSON(dropped)] as JSON) }
        Output.note(
            "\(Printable.text(program, limit: 200)) may read \(Quantities.count(chosen, "asset")) more and "
                + "\(Quantities.count(dropped, "asset")) fewer"
        )
    }
}
