import CaptureBus
public import CaptureCore

/// A use of a camera or microphone now, or until a moment ago: what an indicator shows.
public struct LiveUse: Hashable, Sendable {
    /// Where a use stands.
    public enum Phase: String, Hashable, Sendable {
        /// It lasts.
        case live
        /// It has ended, and is listed for some seconds more, so that a very short one is seen.
        case ended
        /// It is listed no more.
        case gone
    }

    /// Its number, by which it is in the history.
    public var id: UInt64
    /// Where it stands.
    public var phase: Phase
    /// What is used, by its service of consent: `camera` or `microphone`.
    public var service: String
    /// The device's id.
    public var device: String
    /// The device's name.
    public var deviceName: String
    /// The user whose program it is, by name where the daemon knows it.
    public var user: String
    /// The program that captures.
    public var program: String
    /// What that program calls itself; text of the program's.
    public var name: String
    /// What the program's id is worth.
    public var tier: String
    /// The number of its session.
    public var session: UInt32
    /// When it began, in milliseconds since 1970.
    public var began: Int64
    /// When it ended, in milliseconds since 1970; `nil` while it lasts.
    public var ended: Int64?

    init(_ facts: [String: BusValue]) throws(CaptureError) {
        func text(_ key: String) -> String { facts[key]?.text ?? "" }
        guard let id = facts["id"]?.unsigned, let phase = Phase(rawValue: text("state")) else {
            throw CaptureDaemon.malformed("ListUses")
        }
        self.id = id
        self.phase = phase
        service = text("service")
        device = text("device")
        deviceName = text("device-name")
        user = text("user")
        program = text("program")
        name = text("name")
        tier = text("tier")
        session = UInt32(clamping: facts["session"]?.integer ?? 0)
        began = facts["began"]?.integer ?? 0
        ended = facts["ended"]?.integer.flatMap { $0 == 0 ? nil : $0 }
    }
}

extension CaptureDaemon {
    /// What uses cameras and microphones now and until a moment ago, the oldest first: what is this user's, to root
    /// everybody's. Changes are told by `events()`, each by the use that it is about.
    ///
    /// - Throws: `CaptureError.Code.unreachable` when the daemon is not there.
    public func uses() async throws(CaptureError) -> [LiveUse] {
        guard let list = try await manage("ListUses").first?.elements else {
            throw CaptureDaemon.malformed("ListUses")
        }
        var uses: [LiveUse] = []
        for element in list { uses.append(try LiveUse(element.properties ?? [:])) }
        return uses
    }
}
