/// Two descriptors are equal when they are the same object, not when they refer to the same file.
extension Descriptor: Hashable {
    /// Whether both say the same.
    public static func == (left: Descriptor, right: Descriptor) -> Bool { left === right }

    /// Takes part in hashing.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
