import Authorization
import CaptureCore

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

    private let ofProgram = FairSlots<Program>(copiesOfProgram)
    private let ofUser = FairSlots<UInt32>(copiesOfUser)
    private let examinations = FairSlots<UInt32>(1)

    /// Waits for a client's turn to have something copied.
    ///
    /// - Throws: `.dismissed` when the task is cancelled before, and what the work throws.
    func copy(
        for client: ClientIdentity,
        _ work: () async throws(CaptureError) -> Void
    ) async throws(CaptureError) {
        let program = Program(user: client.user, id: client.program)
        guard await ofProgram.take(program) else { throw ImportCall.cancelled }
        defer { ofProgram.give(program) }
        guard await ofUser.take(client.user) else { throw ImportCall.cancelled }
        defer { ofUser.give(client.user) }
        try await work()
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
