import Authorization
import CaptureCore
import CaptureSystem

/// Whose files are copied and examined at one time: of no program and of no user so many that others could not have
/// theirs, for which a descriptor that never ends, or a file that takes long to look into, would be enough.
struct LibraryTurns: Sendable {
    private struct Program: Hashable {
        var user: UInt32
        var id: String
    }

    /// How many copies of a program's, and how many of a user's.
    static let copiesOfProgram = 2
    static let copiesOfUser = 4

    /// For how long a copy may be slow that others wait for.
    private let patience: Duration
    private let ofProgram = FairSlots<Program>(copiesOfProgram)
    private let ofUser = FairSlots<UInt32>(copiesOfUser)
    private let examinations = FairSlots<UInt32>(1)

    init(patience: Duration = .seconds(30)) {
        self.patience = patience
    }

    /// Waits for a client's turn to have something copied.
    ///
    /// - Parameters:
    ///   - isAwaited: Whether others wait for what all users share.
    ///   - work: Copies; is to call what it is given with the number of bytes that came, which throws `.timedOut` when they
    ///     come too slowly for those who wait.
    /// - Throws: `.dismissed` when the task is cancelled before, and what the work throws.
    func copy(
        for client: ClientIdentity,
        isAwaited: @escaping @Sendable () -> Bool = { false },
        _ work: (_ count: @escaping @Sendable (Int) throws(CaptureError) -> Void) async throws(CaptureError) -> Void
    ) async throws(CaptureError) {
        let program = Program(user: client.user, id: client.program)
        guard await ofProgram.take(program) else { throw ImportCall.cancelled }
        defer { ofProgram.give(program) }
        guard await ofUser.take(client.user) else { throw ImportCall.cancelled }
        defer { ofUser.give(client.user) }
        let pace = CopyPace(patience: patience)
        try await work { count throws(CaptureError) in
            try pace.count(
                count,
                isAwaited: ofProgram.isAwaited(program) || ofUser.isAwaited(client.user) || isAwaited()
            )
        }
    }

    /// Waits for a user's turn to have something examined.
    ///
    /// - Throws: `.dismissed` when the task is cancelled before, and what the work throws.
    func examine<Found>(
        for user: UInt32,
        _ work: () async throws(CaptureError) -> Found
    ) async throws(CaptureError) -> Found {
        guard await examinations.take(user) else { throw ImportCall.cancelled }
        defer { examinations.give(user) }
        return try await work()
    }
}
