import Authorization
import CaptureBus
import CaptureCore

/// How long answers hold, as the bus has it.
enum LifetimeCoding {
    /// The answers of `AnswerFor`.
    ///
    /// - Parameter now: Milliseconds since 1970.
    /// - Throws: `.invalidArgument` for what is no answer, so that the question stands on.
    static func answers(_ table: [String: BusValue], now: Int64) throws(CaptureError) -> [Service: PersonsAnswer] {
        var answers: [Service: PersonsAnswer] = [:]
        for (name, value) in table {
            let service = try Service(named: name)
            let facts = value.properties ?? [:]
            for key in facts.keys where !["allowed", "limited", "lifetime", "until"].contains(key) {
                throw CaptureError(
                    .invalidArgument,
                    "an answer has no '\(DisplayText.neutralized(key, limit: 64))', expected allowed, limited, lifetime "
                        + "or until"
                )
            }
            guard let isAllowed = facts["allowed"]?.boolean else {
                throw CaptureError(.invalidArgument, "the answer about \(service.rawValue) does not say 'allowed'")
            }
            let isLimited = try isLimited(facts["limited"], service, isAllowed)
            let word = facts["lifetime"].map { $0.text ?? "" } ?? "always"
            guard let lifetime = GrantLifetime(word: word, until: facts["until"]?.integer),
                facts["until"] == nil || lifetime.moment != nil
            else {
                throw CaptureError(
                    .invalidArgument,
                    "'\(DisplayText.neutralized(word, limit: 64))' is no lifetime, expected one of "
                        + "\(GrantLifetime.words.joined(separator: ", ")), and with 'until' alone a moment"
                )
            }
            guard (lifetime.moment ?? .max) > now else {
                throw CaptureError(.invalidArgument, "the moment until which the answer holds is over already")
            }
            answers[service] = PersonsAnswer(
                isAllowed,
                isLimited: isLimited,
                lifetime: isAllowed ? lifetime : .always
            )
        }
        return answers
    }

    /// Whether a yes is for chosen assets alone.
    private static func isLimited(
        _ value: BusValue?,
        _ service: Service,
        _ isAllowed: Bool
    ) throws(CaptureError) -> Bool {
        guard let value else { return false }
        guard let isLimited = value.boolean else {
            throw CaptureError(.invalidArgument, "'limited' of the answer about \(service.rawValue) is a boolean")
        }
        guard isLimited else { return false }
        guard service.canBeLimited else {
            throw CaptureError(
                .invalidArgument,
                "the answer about \(service.rawValue) cannot be limited, which is for library-read-write alone"
            )
        }
        guard isAllowed else { throw CaptureError(.invalidArgument, "a no cannot be limited; only a yes can") }
        return true
    }

    /// The options of `SetFor`.
    static func option(_ options: [String: BusValue]) throws(CaptureError) -> GrantLifetime {
        for key in options.keys where key != "until" {
            throw CaptureError(
                .invalidArgument,
                "an answer is not set with '\(DisplayText.neutralized(key, limit: 64))', expected until"
            )
        }
        guard let value = options["until"] else { return .always }
        guard let moment = value.integer else {
            throw CaptureError(.invalidArgument, "'until' is a number of milliseconds since 1970")
        }
        return .until(moment)
    }
}
