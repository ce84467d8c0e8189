import CaptureBus
import CaptureCore
import CaptureKit

/// The texts of the desktop's dialog for a request, and what an answer to it means.
///
/// The program that asks, and whether it is verified, stand above what the program says about itself, which is quoted.
struct DesktopDialog {
    /// The request.
    let request: PromptRequest
    /// The services that the dialog asks about: all of the request's, or the one whose turn it is.
    let services: [AuthorizationService]
    /// Whether it shows details of the program that asks.
    let details: DesktopDetails

    init(
        _ request: PromptRequest,
        _ services: [AuthorizationService]? = nil,
        details: DesktopDetails = .offered
    ) {
        self.request = request
        self.services = services ?? request.rows
        self.details = details
    }

    /// The dialog for the desktop to show.
    var access: AccessDialog {
        AccessDialog(
            title: "Allow “\(shownName)” to \(AuthorizationService.action(services))?",
            subtitle: subtitle,
            body: body,
            grantLabel: grantLabel,
            denyLabel: "Do Not Allow",
            icon: icon,
            choices: services.compactMap(row) + lifetimes + details.choices
        )
    }

    /// The dialogs for a desktop without rows, after a yes to something that can be limited: whether it is for everything,
    /// and after a no to that, whether it is for chosen assets. A no allows nothing: desktops say no for a key, too.
    func extent(isAll: Bool) -> AccessDialog {
        AccessDialog(
            title: "Let “\(shownName)” see \(isAll ? "the whole media library" : "only what you choose")?",
            subtitle: subtitle,
            body: DesktopDialog.meaningOfChosen,
            grantLabel: isAll ? "All of It" : "Only What I Choose",
            denyLabel: isAll ? "Not All" : "Nothing",
            icon: icon
        )
    }

    private var subtitle: String { request.question.certainty { DesktopDialog.data($0, limit: $1) } }

    private var grantLabel: String {
        if services.count == 1 { return "Allow" }
        return services.contains(where: canBeLimited) ? "Allow What Is Chosen" : "Allow What Is Ticked"
    }

    private var icon: String {
        if services.contains(.camera) { return "camera-web-symbolic" }
        return services.contains(.microphone) ? "audio-input-microphone-symbolic" : "folder-pictures-symbolic"
    }

    private func canBeLimited(_ service: AuthorizationService) -> Bool { request.limitable.contains(service) }

    /// The row of a service: a box, or how much is allowed, the least first; none if the buttons say it all.
    private func row(_ service: AuthorizationService) -> AccessDialog.Choice? {
        let isOne = services.count == 1
        guard canBeLimited(service) else {
            return isOne ? nil : .init(service.rawValue, service.rowTitle, isTicked: true)
        }
        let options: [AccessDialog.Choice.Option] = [
            .init(Extent.limited.rawValue, "What you choose, and what it adds"),
            .init(Extent.all.rawValue, "All of it"),
        ]
        let none = isOne ? [] : [AccessDialog.Choice.Option(Extent.none.rawValue, "None of it")]
        return .init(service.rawValue, service.rowTitle, options: options + none, initial: Extent.limited.rawValue)
    }

    /// How much of the library may be read.
    private enum Extent: String {
        case limited
        case all
        case none
    }

    private static let meaningOfChosen = "It sees only what you choose and what it adds itself."

    /// How long a yes holds, if the daemon takes other answers than always.
    private var lifetimes: [AccessDialog.Choice] {
        let shorter = DesktopDialog.shorter.filter { request.lifetimes.contains($0.lifetime.word) }
        guard !shorter.isEmpty else { return [] }
        let always = AccessDialog.Choice.Option(GrantLifetime.always.word, "Always, until you change it")
        return [
            .init(
                DesktopDialog.lifetime,
                "For how long",
                options: shorter.map { .init($0.lifetime.word, $0.label) } + [always],
                initial: always.id
            )
        ]
    }

    private static let lifetime = "lifetime"
    private static let shorter: [(lifetime: GrantLifetime, label: String)] = [
        (.session, "This time"), (.connection, "Until it is closed"),
    ]

    /// What the response says about the services.
    ///
    /// - Returns: `nil` when it was allowed and the desktop does not tell which of several, or how much.
    func answer(_ response: AccessResponse) -> PromptAnswer? {
        switch response {
        case .closed: return .dismissed
        case .denied: return .answered(Dictionary(uniqueKeysWithValues: services.map { ($0, false) }))
        case .granted(let chosen):
            // A desktop that shows no such row was told of none, and its yes is for always.
            let word = chosen[DesktopDialog.lifetime] ?? GrantLifetime.always.word
            guard word == GrantLifetime.always.word || request.lifetimes.contains(word),
                let lifetime = GrantLifetime(word: word)
            else { return .dismissed }
            var answers: [AuthorizationService: PersonsAnswer] = [:]
            for service in services {
                if canBeLimited(service) {
                    guard let word = chosen[service.rawValue] else { return nil }
                    guard let extent = Extent(rawValue: word) else { return .dismissed }
                    answers[service] =
                        extent == .none
                        ? false : PersonsAnswer(true, isLimited: extent == .limited, lifetime: lifetime)
                    continue
                }
                guard let row = services.count == 1 ? "true" : chosen[service.rawValue] else { return nil }
                answers[service] = row == "true" ? PersonsAnswer(true, lifetime: lifetime) : false
            }
            // Who may read may add: a box that is not ticked then is no answer.
            if answers[.libraryReadWrite]?.isAllowed == true, answers[.libraryAdd] == false {
                answers[.libraryAdd] = nil
            }
            return .answered(answers)
        }
    }

    /// A yes to one of the dialogs of `extent`.
    func answer(isLimited: Bool) -> PromptAnswer {
        let answer = PersonsAnswer(true, isLimited: isLimited)
        return .answered(Dictionary(uniqueKeysWithValues: services.map { ($0, answer) }))
    }

    private var shownName: String { request.question.title { DesktopDialog.data($0, limit: $1) } }

    private var body: String {
        var lines = services.map { service in
            let reason = DesktopDialog.data(request.reasons[service] ?? "", limit: 300)
            return reason.isEmpty
                ? "It gives no reason for \(service.title)."
                : "Its reason for \(service.title), in its own words: “\(reason)”"
        }
        if let bridge = request.bridge { lines.append(bridge.claim) }
        if services.contains(where: canBeLimited) { lines.append(DesktopDialog.meaningOfChosen) }
        lines += details.lines(of: request.question)
        lines.append("")
        lines.append(
            lifetimes.isEmpty
                ? "Your answer is remembered. To change it, use capturectl auth."
                : "A no and a permanent yes are remembered. To change them, use capturectl auth."
        )
        return lines.joined(separator: "\n")
    }

    /// A text of a program's as data that cannot draw: nothing that moves, hides or marks up text, no quotes that would
    /// end ours, no `%`, which a backend may take for a format, and no word so long that the window outgrows the screen.
    static func data(_ text: String, limit: Int) -> String {
        var result = String.UnicodeScalarView()
        var run = 0
        for scalar in Printable.quotable(text, limit: limit).unicodeScalars {
            run = scalar == " " ? 0 : run + 1
            if run > 24 {
                // A place where a line may end, without a width.
                result.append("\u{200B}")
                run = 1
            }
            result.append(harmless[scalar] ?? scalar)
        }
        return String(result)
    }

    private static let harmless: [Unicode.Scalar: Unicode.Scalar] = [
        "<": "‹", ">": "›", "&": "＆", "%": "％",
    ]
}

extension AuthorizationService {
    /// At the beginning of a row.
    fileprivate var rowTitle: String {
        switch self {
        case .camera: "Camera"
        case .microphone: "Microphone"
        case .libraryAdd: "Adding to the media library"
        case .libraryReadWrite: "Media library"
        }
    }
}
