import CaptureBus
package import CaptureCore

extension Question: BusRecord {
    /// What every question says of who asks; the cookie stands beside it.
    package static let fields: [BusField<Question>] = [
        BusField("program", \.program), BusField("tier", \.tier), BusField("name", \.name),
        BusField("detail", \.detail), BusField("replaceable", \.isReplaceable), BusField("pid", \.processID),
        BusField("secondsLeft", \.secondsLeft), BusField("inline", \.isInline),
    ]
}

/// What a question says.
package protocol QuestionFacts: BusRecord {
    /// Who asks, and until when.
    var question: Question { get set }
}

/// What `Ask` says.
package struct AskFacts: QuestionFacts {
    package var question = Question()
    /// The services that are asked for.
    package var services: [String] = []
    /// Why, in the program's words.
    package var reasons: [AuthorizationService: String] = [:]
    /// The `Bridge` through which a program came that gives no reason; empty for others.
    package var bridge = ""
    /// How long a yes can hold.
    package var lifetimes: [String] = []
    /// The services that may be allowed for chosen assets alone.
    package var limitable: [String] = []

    package static let fields: [BusField<AskFacts>] = [
        BusField(among: \.question), BusField("services", \.services),
        BusField("reasons", \.reasons) { reasons in
            let rows = reasons.sorted { $0.key < $1.key }
            return .dictionary("ss", rows.map { BusEntry(.string($0.key.rawValue), .string($0.value)) })
        } read: { value in
            value.properties.map { rows in
                let known = rows.compactMap { row in
                    AuthorizationService(rawValue: row.key).flatMap { key in row.value.text.map { (key, $0) } }
                }
                return Dictionary(known) { $1 }
            }
        },
        BusField("bridge", \.bridge), BusField("lifetimes", \.lifetimes), BusField("limitable", \.limitable),
    ]

    package init() {}
}

/// What `Confirm` says.
package struct ConfirmFacts: QuestionFacts {
    package var question = Question()
    /// What is to be confirmed.
    package var action = ""
    /// To how many.
    package var count: UInt32 = 0
    /// The names of the first of them.
    package var names: [String] = []

    package static let fields: [BusField<ConfirmFacts>] = [
        BusField(among: \.question), BusField("action", \.action), BusField("count", \.count),
        BusField("names", \.names),
    ]

    package init() {}
}

/// What `Pick` of an agent says.
package struct PickFacts: QuestionFacts {
    package var question = Question()
    /// What becomes of what is picked.
    package var purpose = ""
    /// The program that may read what is chosen.
    package var subject: String?
    /// The kinds that may be picked; empty for all.
    package var kinds: [String] = []
    /// How many may be picked, at most.
    package var limit: UInt32 = 0
    /// What something new may be taken with.
    package var services: [String] = []
    /// How long a movie may be that is taken, in seconds.
    package var duration: UInt32 = 0

    package static let fields: [BusField<PickFacts>] = [
        BusField(among: \.question), BusField("purpose", \.purpose), BusField("subject", \.subject),
        BusField("kinds", \.kinds), BusField("limit", \.limit), BusField("services", \.services),
        BusField("duration", \.duration),
    ]

    package init() {}
}
