import Authorization
import CaptureBus
import CaptureCore
import CaptureMessages

/// How long answers hold, as the bus has it.
enum LifetimeCoding {
    /// The answers of `Answer`, by the words of what they are about: services, or an action.
    ///
    /// - Parameter now: Milliseconds since 1970.
    /// - Throws: `.invalidArgument` for what is no answer, so that the question stands on.
    static func answers(_ table: [String: BusValue], now: Int64) throws(CaptureError) -> [String: PersonsAnswer] {
        var answers: [String: PersonsAnswer] = [:]
        for (name, value) in table {
            let service = ConfirmedAction(rawValue: name) == nil ? try Service(named: name) : nil
            var answer: PersonsAnswer
            do throws(CaptureError) {
                answer = try PersonsAnswer(busValue: value)
            } catch {
                throw CaptureError(error.code, "the answer about \(name): \(error.message)")
            }
            guard !answer.isLimited || service?.canBeLimited == true else {
                throw CaptureError(
                    .invalidArgument,
                    "the answer about \(name) cannot be limited; only library-read-write can"
                )
            }
            guard service != nil || answer.lifetime == .always else {
                throw CaptureError(.invalidArgument, "the answer about \(name) takes no lifetime; only a service does")
            }
            guard (answer.lifetime.moment ?? .max) > now else {
                throw CaptureError(.invalidArgument, "the time until which the answer holds is in the past")
            }
            if !answer.isAllowed { answer.lifetime = .always }
            answers[name] = answer
        }
        return answers
    }
}
