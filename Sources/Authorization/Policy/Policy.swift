/// What the administrator has decided before anybody is asked: rules from `policy.d/*.conf`.
///
/// A rule says, of the programs and services that all its conditions fit, that they are restricted, asked about, or
/// allowed beforehand. Of several that fit, the strictest counts. Where a file cannot be read or understood, everything
/// is restricted until that is mended: the line that was lost might have been the one that forbids. Thread-safe.
public struct Policy: Sendable {
    /// What a rule says, from the mildest to the strictest.
    public enum Decision: String, Hashable, Sendable, CaseIterable, Comparable {
        /// Authorized without a question; for system units alone.
        case allow
        /// Asked about as without a rule, whatever else allows it beforehand.
        case ask
        /// Refused, and the user cannot change that.
        case restrict

        /// By strictness.
        public static func < (left: Decision, right: Decision) -> Bool {
            (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
        }
    }

    /// The rules, by file name and line.
    var rules: [PolicyRule] = []
    /// What could not be read or understood; while there is any, everything is restricted.
    public internal(set) var faults: [KeyFileProblem] = []
    /// Rules that allow what no rule may, and so count as nothing.
    public internal(set) var refusals: [KeyFileProblem] = []
    /// Rules that name users or groups who are not there.
    public internal(set) var remarks: [KeyFileProblem] = []
    /// Who is asked about users and groups.
    var accounts = Accounts.unknown

    /// No rules: everybody is asked.
    public init() {}

    /// How many rules count.
    public var ruleCount: Int { rules.count }

    /// What the rules say of a program and a service.
    ///
    /// What cannot be told of a program that runs, as when the database of users does not answer, fits a rule unless
    /// that would allow it something. Of one that is only named, it is told apart, in `possible`.
    func verdict(on subject: PolicySubject, _ service: Service) -> PolicyVerdict {
        if let fault = faults.first {
            return PolicyVerdict(decision: .restrict, place: fault.place, fault: fault.message)
        }
        var verdict = PolicyVerdict()
        for rule in rules {
            switch rule.fits(subject, service, accounts) {
            case .no: continue
            case .unknown where rule.decision == .allow: continue
            case .unknown where !subject.isRunning: verdict.possible.append(PolicyRemark(rule))
            case .unknown, .yes:
                if let strictest = verdict.decision, rule.decision <= strictest { continue }
                verdict.decision = rule.decision
                verdict.place = rule.place
            }
        }
        // What might be is of interest only where it is stricter than what is.
        let decision = verdict.decision ?? .ask
        verdict.possible.removeAll { $0.decision <= decision }
        return verdict
    }
}

/// What the policy says of one program and one service.
public struct PolicyVerdict: Hashable, Sendable {
    /// What counts; `nil` where no rule fits.
    public internal(set) var decision: Policy.Decision?
    /// The rule that says so, as `file:line`, or what is wrong there; empty where no rule fits.
    public internal(set) var place = ""
    /// What is wrong there, where that is why everything is restricted.
    public internal(set) var fault = ""
    /// Stricter rules that may fit, which depends on what is not known of a program that does not run.
    public internal(set) var possible: [PolicyRemark] = []

    /// Why, in words that end a sentence; empty where no rule fits.
    public var reason: String {
        if !fault.isEmpty { return "\(place): \(fault); nothing may start until that is fixed" }
        return decision.map { "\(place) says \($0.rawValue)" } ?? ""
    }
}

/// A rule in few words.
public struct PolicyRemark: Hashable, Sendable {
    /// What it says.
    public var decision: Policy.Decision
    /// Where, as `file:line`.
    public var place: String

    init(_ rule: PolicyRule) {
        decision = rule.decision
        place = rule.place
    }
}

extension KeyFileProblem {
    /// The file and, where there is one, the line.
    var place: String { line == 0 ? file : "\(file):\(line)" }
}
