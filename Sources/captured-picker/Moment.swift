/// A moment that a person has to see what is in front of them, before what they do counts: who was typing or clicking
/// something else has seen it by then.
@MainActor final class Moment {
    /// In milliseconds.
    private static let length: UInt32 = 600

    /// Whether it is over.
    private(set) var isOver = false
    private var number = 0
    private let ended: @MainActor () -> Void

    /// One that has not begun.
    ///
    /// - Parameter ended: Called when it is over.
    init(_ ended: @escaping @MainActor () -> Void = {}) {
        self.ended = ended
    }

    /// Begins it, once more if it was over.
    func begin() {
        stop()
        let begun = number
        Handler.after(Moment.length) { [self] in
            guard begun == number else { return }
            isOver = true
            ended()
        }
    }

    /// It is not over before it has begun again.
    func stop() {
        isOver = false
        number += 1
    }
}
