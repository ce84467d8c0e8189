public import CaptureCore

/// A decision about one program and one service, for the journal.
public struct Decision: Hashable, Sendable {
    /// What decided.
    public enum Cause: String, Hashable, Sendable {
        /// An answer that was given earlier.
        case storedAnswer = "stored-answer"
        /// The person's answer to a prompt, now on disk.
        case answer
        /// The same on the asking command's own terminal.
        case inlineAnswer = "inline-answer"
        /// A person's yes or no to something that a program was about to do, which counts this once.
        case confirmation
        /// A person picked something from the media library, for this once or to be read from now on.
        case picked
        /// A person took a photo or movie for a program, which gets that alone.
        case taken
        /// A change in settings, now on disk.
        case settings
        /// The administrator's policy.
        case policy
        /// The service is switched off for every program.
        case switched = "switch"
        /// The session of the program's user is locked, or another user sits at the machine.
        case userAway = "user-away"
        /// A yes had its time, or was not used for too long.
        case expired
        /// The prompt was closed.
        case dismissed
        /// Nobody answered in time.
        case timedOut = "timed-out"
        /// There was nobody to ask, or the agent died.
        case nobodyToAsk = "nobody-to-ask"
        /// Too many questions of the program came to nothing just now, so none was put.
        case askedTooOften = "asked-too-often"
        /// The program does not say why it captures.
        case missingUsageDescription = "missing-usage-description"
        /// The process was not the same at a second look.
        case identityChanged = "identity-changed"
        /// The store cannot be used.
        case store
        /// The program connected itself to what another one captures, past captured.
        case connectedItself = "connected-itself"
        /// The program that asked was stopped or went away.
        case requesterGone = "requester-gone"
        /// Something else failed; the message says what.
        case fault
    }

    /// The program's id.
    public var program: String
    /// What the id is worth; `nil` when settings were changed by id alone.
    public var tier: Tier?
    /// The user under whom the answer is stored.
    public var user: UInt32
    /// The process that asked; 0 for settings.
    public var pid: Int32
    /// What the identity was made of, in words; for settings, how the answer came to be.
    public var identity: String
    /// What was decided about.
    public var service: Service
    /// What it came to. `notDetermined` for a refusal that stores nothing.
    public var status: AuthorizationStatus
    /// What decided.
    public var cause: Cause
    /// A sentence for the journal.
    public var message: String
    /// Who changed it in settings; `nil` for what no program did there.
    public var author: SettingsAuthor?
}

/// Who changed something in settings: set or reset an answer, or turned a switch.
public struct SettingsAuthor: Hashable, Sendable {
    /// The user that the program ran as.
    public var user: UInt32
    /// The program's id.
    public var program: String

    /// A user's program.
    public init(user: UInt32, program: String) {
        self.user = user
        self.program = program
    }

    /// The program behind a call.
    public init(_ client: ClientIdentity) {
        self.init(user: client.user, program: client.program)
    }
}

extension Decision.Cause {
    /// What an error of a request comes from.
    init(_ error: CaptureError) {
        switch error.code {
        case .dismissed: self = .dismissed
        case .timedOut: self = .timedOut
        case .nobodyToAsk: self = .nobodyToAsk
        case .askedTooOften: self = .askedTooOften
        case .missingUsageDescription: self = .missingUsageDescription
        case .inputOutput: self = .store
        case .restricted: self = .policy
        case .switchedOff: self = .switched
        case .userAway: self = .userAway
        default: self = .fault
        }
    }
}
