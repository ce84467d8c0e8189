public import CaptureCore

/// Names on the bus: who has them, and having one.
extension BusConnection {
    /// Calls `handler` on the bus thread whenever the owner of a name changes: with the new owner's unique name, or
    /// `nil` when nobody owns it any more.
    public func watchName(
        _ name: String,
        _ handler: @escaping @Sendable (String?) -> Void
    ) async throws(CaptureError) -> BusSubscription {
        try await subscribe(.ownerChanges(of: name)) { signal in
            guard signal.arguments.count == 3, let owner = signal.arguments[2].text else { return }
            handler(owner.isEmpty ? nil : owner)
        }
    }

    /// Calls `handler` once, on the bus thread, when a name loses its owner, or at once when it has none: a client, by
    /// its unique name, has left the bus.
    public func whenNameVanishes(
        _ name: String,
        _ handler: @escaping @Sendable () -> Void
    ) async throws(CaptureError) -> BusSubscription {
        let once = Once(handler)
        let token: UInt64 = try await loop.perform { core, done in core.watchVanishing(name, { once.run() }, done) }
        let loop = loop
        let subscription = BusSubscription { loop.post { $0.forgetVanishing(name, token) } }
        if try await owner(of: name) == nil { once.run() }
        return subscription
    }

    /// The unique name of a name's owner; `nil` when it has none.
    public func owner(of name: String) async throws(CaptureError) -> String? {
        let answer = try await askBus("NameHasOwner", signature: "s", [.string(name)])
        guard answer.first?.boolean == true else { return nil }
        do throws(CaptureError) {
            return try await askBus("GetNameOwner", signature: "s", [.string(name)]).first?.text
        } catch  where error.code == .unreachable {
            return nil
        }
    }

    /// The uid of the connection that owns a name, which cannot be forged.
    ///
    /// - Throws: `.unreachable` when there is none.
    public func user(of name: String) async throws(CaptureError) -> UInt32 {
        let answer = try await askBus("GetConnectionUnixUser", signature: "s", [.string(name)])
        guard let user = answer.first?.integer(as: UInt32.self) else {
            throw CaptureError(.unreachable, "the bus names no user of \(name)")
        }
        return user
    }

    /// Takes a well-known name.
    ///
    /// - Throws: `.busy` when it is owned; `.notPermitted` when the bus's policy forbids it.
    public func requestName(_ name: String) async throws(CaptureError) {
        let doNotQueue: UInt32 = 4
        let answer = try await askBus("RequestName", signature: "su", [.string(name), .uint32(doNotQueue)])
        switch answer.first?.integer {
        case 1, 4: return
        default: throw CaptureError(.busy, "\(name) is taken: another captured runs on this bus")
        }
    }
}
