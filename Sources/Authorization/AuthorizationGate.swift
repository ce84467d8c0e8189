import Synchronization

/// The permission to stream from devices of one service and to write their controls.
///
/// Only the gate can make one: the initializer is private to this file, so that a device cannot be opened past the gate
/// in any code that compiles. Thread-safe.
public final class Grant: Sendable {
    /// What it opens.
    public let service: Service
    /// Whom it was given to: a program's id.
    public let program: String
    /// Whose answer it rests on.
    public let user: UInt32

    private let live = Atomic<Bool>(true)

    /// Whether it still holds. Once false, it stays so.
    public var isLive: Bool { live.load(ordering: .acquiring) }

    fileprivate init(service: Service, program: String, user: UInt32) {
        self.service = service
        self.program = program
        self.user = user
    }
}
