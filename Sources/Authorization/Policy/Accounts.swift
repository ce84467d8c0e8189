public import CaptureCore

/// What the system's database says of users and groups; who has one gives it to the policy. Thread-safe.
public struct Accounts: Sendable {
    /// The number of a user's name.
    var user: @Sendable (String) -> Lookup<UInt32>
    /// The name of a user's number.
    var name: @Sendable (UInt32) -> Lookup<String>
    /// The number of a group's name.
    var group: @Sendable (String) -> Lookup<UInt32>
    /// The groups of a user, by number.
    var groups: @Sendable (UInt32) -> Lookup<Set<UInt32>>

    /// A database that is asked by the given functions.
    ///
    /// - Parameters:
    ///   - user: The number of a user's name.
    ///   - name: The name of a user's number.
    ///   - group: The number of a group's name.
    ///   - groups: The groups of a user, by number.
    public init(
        user: @escaping @Sendable (String) -> Lookup<UInt32>,
        name: @escaping @Sendable (UInt32) -> Lookup<String>,
        group: @escaping @Sendable (String) -> Lookup<UInt32>,
        groups: @escaping @Sendable (UInt32) -> Lookup<Set<UInt32>>
    ) {
        self.user = user
        self.name = name
        self.group = group
        self.groups = groups
    }

    /// Nobody can be asked: a rule by the name of a user or group fits whom it may fit, unless it would allow something.
    public static let unknown = Accounts(
        user: { _ in .failed },
        name: { _ in .failed },
        group: { _ in .failed },
        groups: { _ in .failed }
    )
}
