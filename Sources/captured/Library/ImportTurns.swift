import Authorization
import CaptureCore

/// Whose files are copied at one time: of no program and of no user so many that others could not have theirs copied, which
/// a descriptor that never ends would be enough for.
struct ImportTurns: Sendable {
    private struct Program: Hashable {
        var user: UInt32
        var id: String
    }

    /// How many of a program's, and how many of a user's.
    static let mostOfProgram = 2
    static let mostOfUser = 4

    private let ofProgram = FairSlots<Program>(mostOfProgram)
    private let ofUser = FairSlots<UInt32>(mostOfUser)

    /// Waits for the turn of a client's program, and does something.
    ///
    /// - Throws: `.dismissed` when the task is cancelled before, and what the work throws.
    func turn(
        of client: ClientIdentity,
        _ work: () async throws(CaptureError) -> Void
    ) async throws(CaptureError) {
        let program = Program(user: client.user, id: client.program)
        guard await ofProgram.take(program) else { throw ImportCall.cancelled }
        defer { ofProgram.give(program) }
        guard await ofUser.take(client.user) else { throw ImportCall.cancelled }
        defer { ofUser.give(client.user) }
        try await work()
    }
}
