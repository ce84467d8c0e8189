import CaptureKit

/// The installed programs that capture, and how each comes to captured.
struct ProgramPresentation {
    let survey: ProgramSurvey
    let states: [BridgeState]
    /// Whether PipeWire serves programs of PulseAudio's.
    let isPulsePipeWire: Bool

    /// Rows of a table that is a page.
    static let page = 20

    init(_ survey: ProgramSurvey, _ states: [BridgeState], _ machine: Machine) {
        self.init(
            survey: survey,
            states: states,
            isPulsePipeWire: machine.first(of: ["/usr/bin/pipewire-pulse", "/usr/local/bin/pipewire-pulse"]) != nil
        )
    }

    init(survey: ProgramSurvey, states: [BridgeState], isPulsePipeWire: Bool) {
        (self.survey, self.states, self.isPulsePipeWire) = (survey, states, isPulsePipeWire)
    }

    /// A page: first those that are not reached and those of a desktop's menu; the others are counted.
    ///
    /// - Parameter width: The terminal's columns; `nil` for everything.
    func page(width: Int?) -> String {
        if survey.programs.isEmpty { return "No installed program is known to capture without captured.\n" + rest(0) }
        var chosen = survey.programs.indices.sorted { (rank($0), $0) < (rank($1), $1) }
        while rows(chosen) > ProgramPresentation.page, chosen.count > 1 { chosen.removeLast() }
        let shown = chosen.sorted().map { survey.programs[$0] }
        return heading + table(shown).fitted(to: width).text + rest(survey.programs.count - shown.count)
    }

    /// Every program, with its file.
    func all(width: Int?) -> String {
        if survey.programs.isEmpty { return page(width: width) }
        return table(survey.programs).fitted(to: width).text + rest(0)
    }

    var json: JSON {
        .array(
            survey.programs.map { program in
                [
                    "name": JSON(program.name), "path": JSON(program.path),
                    "alsoCalled": .array(program.names.dropFirst().map { JSON($0) }),
                    "onDesktop": JSON(program.isOnDesktop), "obstacle": JSON(program.obstacle?.text),
                    "uses": .array(
                        program.uses.map { interface in
                            let way = way(program, interface)
                            return [
                                "interface": JSON(interface.title), "by": JSON(way.means.rawValue),
                                "served": JSON(way.isServed), "text": JSON(way.text),
                            ]
                        }
                    ),
                ]
            }
        )
    }

    /// How a program comes by one interface.
    func way(_ program: CaptureProgram, _ interface: Bridge) -> ProgramWay {
        ProgramWay(program, by: interface, states, isPulsePipeWire: isPulsePipeWire)
    }

    private var heading: String {
        let count = survey.programs.count
        let verb = count == 1 ? "captures" : "capture"
        return
            "\(Quantities.count(count, "installed program")) \(verb) without knowing captured. How each comes to it:\n"
    }

    private func rest(_ hidden: Int) -> String {
        var lines = ""
        if hidden > 0 { lines += "and \(hidden) more; all of them: capturectl doctor --programs\n" }
        if !survey.isWhole {
            lines += "not all programs were looked at, to be quick; all of them: capturectl doctor --programs\n"
        }
        return lines
    }

    /// What a person wants to see first.
    private func rank(_ place: Int) -> Int {
        let program = survey.programs[place]
        if program.obstacle != nil { return 0 }
        if program.isOnDesktop { return 1 }
        return program.names.contains { CaptureEvidence.known[$0] != nil || LockdownImpact.isKnown($0) } ? 2 : 3
    }

    private func rows(_ places: [Int]) -> Int { places.reduce(0) { $0 + survey.programs[$1].uses.count } }

    private func table(_ programs: [CaptureProgram]) -> Table {
        var table = Table([.text("PROGRAM"), "USES", .text("COMES BY"), .detail("FILE")])
        for program in programs {
            for interface in program.uses {
                table.add([program.title, interface.title, way(program, interface).text, program.path])
            }
        }
        return table
    }
}
