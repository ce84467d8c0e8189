import ArgumentParser
import CaptureKit

struct LibraryChooseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "choose",
        abstract: "See and change what a program may read that is limited to what you choose.",
        discussion: """
            For a program of yours that was allowed chosen assets alone, in a question or by 'auth set PROGRAM library \
            limited'. Everything is listed, with a mark at what the program may read: pick more, or pick what is marked \
            to take it away. What the program made itself it may always read.
            """
    )

    @OptionGroup var bus: BusOptions

    @OptionGroup var pictures: PictureOptions

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(help: ArgumentHelp("The program's id, as 'auth list' prints it.", valueName: "program"))
    var program: String

    func run() async throws {
        try ProgramName.check(program)
        let (chosen, dropped) = try await LibraryRun.during(bus, pictures: pictures.shown) {
            library throws(CaptureError) in
            try await library.chooseAssets(for: program)
        }
        if json { return Output.print(["chosen": JSON(chosen), "dropped": JSON(dropped)] as JSON) }
        Output.note(
            "\(Printable.text(program, limit: 200)) may read \(Quantities.count(chosen, "asset")) more and "
                + "\(Quantities.count(dropped, "asset")) fewer"
        )
    }
}
