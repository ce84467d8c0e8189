import Authorization
import CaptureCore

/// The rings that clients were given to map. They are left behind when the client's session is over, or its consent is.
/// Bound to the engine's actor.
final class ShownRings {
    /// The latest of each device, by session.
    private var rings: [UInt32: [DeviceID: Shown]] = [:]
    /// Those that were left without haste and into which a driver may still write.
    private var left: [Left] = []

    private struct Shown {
        let ring: any MediaRing
        let service: Service
    }

    /// A ring that a client has mapped still.
    private final class Left {
        let client: SessionClient
        let service: Service
        let device: DeviceID
        let ring: ObjectIdentifier
        /// Whether its device has gone on elsewhere.
        var isLeft = false

        init(_ shown: Shown, of device: DeviceID, by client: SessionClient) {
            (self.client, self.device) = (client, device)
            (service, ring) = (shown.service, ObjectIdentifier(shown.ring))
        }
    }

    // MARK: Giving them out

    /// The ring of an input, for the client of a session that runs.
    ///
    /// Nothing in it was captured before the session joined the device: where others kept it streaming, it goes on in
    /// another ring first, without a loss to them.
    ///
    /// - Parameter find: Finds the input, at first and once more after a wait, in which much may have happened.
    func open(
        for session: Session,
        on engine: isolated CaptureEngine,
        _ find: () throws(CaptureError) -> LiveInput
    ) async throws(CaptureError) -> any OpenFile {
        let input = try find()
        guard let older = former(of: session, input, among: engine.sessions) else {
            return show(input, to: session)
        }
        try await input.outlast()
        do throws(CaptureError) {
            try await engine.pool.move(input.shared.device.id, from: older, atOnce: false)
        } catch {
            // There is no other ring, and nobody else loses anything by that.
            if input.shared.ring === older { throw error }
            // It has left that one, and does not go on in the other.
            await interrupt(input.shared.device.id, whose: "session began", error, on: engine)
        }
        let now = try find()
        if former(of: session, now, among: engine.sessions) != nil {
            throw CaptureError(.wrongState, "\(now.shared.device.name) is stopping; start again")
        }
        return show(now, to: session)
    }

    private func show(_ input: LiveInput, to session: Session) -> any OpenFile {
        let ring = input.shared.ring
        let device = input.shared.device
        rings[session.id, default: [:]][device.id] = Shown(ring: ring, service: Service(device.mediaType))
        return ring.handOut(isPatient: false)
    }

    /// The ring that an input writes, if it holds what was captured before the session joined and its client does not
    /// have it anyway.
    private func former(of session: Session, _ input: LiveInput, among sessions: SessionTable) -> (
        any MediaRing
    )? {
        let ring = input.shared.ring
        return input.older === ring && !isSeen(ring, by: session, among: sessions) ? ring : nil
    }

    /// Whether a session's client has a ring mapped already, by another session of the same process: what was allowed to
    /// one process of a program need not be to another.
    private func isSeen(_ ring: any MediaRing, by session: Session, among sessions: SessionTable)
        -> Bool
    {
        sessions.values.contains { other in
            other.id != session.id && !other.isEnding && !other.state.isFinal
                && rings[other.id]?.values.contains { $0.ring === ring } == true
                && other.client.identity == session.client.identity
        }
    }

    /// Hands the readers of a source the ring in which it goes on; those that are ending read no further, and a client that
    /// was given none yet is given this one when it asks.
    func handOver(_ shared: SharedSource, to users: Set<UInt32>, on engine: isolated CaptureEngine) {
        for session in users.compactMap({ engine.sessions[$0] }) where !session.isEnding {
            for output in session.outputs.values where !output.isDone && output.reads(shared) {
                if output.recorder != nil {
                    output.go(on: shared)
                } else if output.description.kind == .buffer, rings[session.id]?[shared.device.id] != nil,
                    !session.isDisabled(output.description.name)
                {
                    engine.observer.bufferMoved(session.snapshot, output: output.description.name)
                }
            }
        }
    }

    // MARK: Leaving them

    /// A buffer's connection was enabled or disabled: its source goes on in a ring that its client has not mapped, without a
    /// loss to others. The driver still fills the slots that it was handed, unless consent is withdrawn meanwhile. The
    /// client is told of the ring if it is to have it.
    func turn(_ buffer: LiveOutput, _ isEnabled: Bool, of session: Session, on engine: isolated CaptureEngine) async {
        for shared in buffer.feeds {
            let id = shared.device.id
            let isRead = session.outputs.values.contains { other in
                other !== buffer && other.description.kind == .buffer && other.reads(shared)
                    && !session.isDisabled(other.description.name)
            }
            let known = rings[session.id]?[id]
            if !isEnabled, !isRead { rings[session.id]?[id] = nil }
            let what = "connection was \(isEnabled ? "enabled" : "disabled")"
            if isEnabled {
                await goOn(id, from: shared.ring, whose: what, on: engine)
            } else if let known {
                await leave(known, of: id, by: session.client, whose: what, on: engine)
            }
            if isEnabled, known == nil, session.state == .running, !session.isDisabled(buffer.description.name) {
                engine.observer.bufferMoved(session.snapshot, output: buffer.description.name)
            }
        }
    }

    /// Lets devices go on in rings that a session's client has not mapped.
    ///
    /// - Parameter atOnce: Whether nothing may be written there any more when this returns, for a withdrawn consent. For
    ///   a session that merely ended, nobody who shares a device loses a frame by it.
    /// - Parameter shared: Whether only those of devices that others use; the session's client is to learn there that the
    ///   stream goes on elsewhere.
    func leave(
        of session: Session,
        atOnce: Bool,
        shared: Bool = false,
        on engine: isolated CaptureEngine
    ) async {
        for (id, shown) in rings[session.id] ?? [:] {
            if shared, await engine.pool.users(of: id).count < 2 { continue }
            await leave(shown, of: id, by: session, atOnce: atOnce, on: engine)
        }
        if !shared { rings[session.id] = nil }
    }

    /// Has devices write nothing more into rings that they left without haste, if their clients have lost their consent since.
    /// Others who use such a device lose a frame or two.
    func leaveLate(on engine: isolated CaptureEngine) async {
        await forgetLeft(on: engine)
        var devices: Set<DeviceID> = []
        for one in left where !devices.contains(one.device) {
            if await !mayStillSee(one, on: engine) { devices.insert(one.device) }
        }
        // One driver that does not answer keeps no other camera from going on elsewhere.
        let moves = devices.map { id in
            Task { await self.goOn(id, from: nil, atOnce: true, whose: "consent was withdrawn", on: engine) }
        }
        for move in moves { await move.value }
    }

    private func mayStillSee(_ one: Left, on engine: isolated CaptureEngine) async -> Bool {
        let (client, services) = (one.client.identity, Set([one.service]))
        guard one.client.taking == nil else { return false }
        do throws(CaptureError) {
            try await engine.gate.checkConsent(to: services, for: client)
            return await engine.gate.interruption(of: services, for: client) == nil
        } catch {
            return false
        }
    }

    /// Forgets those into which nothing is written any more.
    private func forgetLeft(on engine: isolated CaptureEngine) async {
        if left.isEmpty { return }
        let late = await engine.pool.late
        left.removeAll { $0.isLeft && late[$0.device]?.contains($0.ring) != true }
    }

    /// A session uses a device no more, and its program sees nothing more of it.
    func leave(_ id: DeviceID, by session: Session, on engine: isolated CaptureEngine) async {
        guard let shown = rings[session.id]?.removeValue(forKey: id) else { return }
        await leave(shown, of: id, by: session, atOnce: false, on: engine)
    }

    /// Lets a device go on in another ring than one that a session's client has mapped, unless the client has it by another
    /// session, too.
    private func leave(
        _ shown: Shown,
        of id: DeviceID,
        by session: Session,
        atOnce: Bool,
        on engine: isolated CaptureEngine
    ) async {
        if atOnce {
            return await goOn(id, from: shown.ring, atOnce: true, whose: "consent was withdrawn", on: engine)
        }
        if isSeen(shown.ring, by: session, among: engine.sessions) { return }
        await leave(shown, of: id, by: session.client, whose: "session ended", on: engine)
    }

    /// Lets a device go on in another ring without haste, and notes who may still see the ring that it leaves.
    private func leave(
        _ shown: Shown,
        of id: DeviceID,
        by client: SessionClient,
        whose what: String,
        on engine: isolated CaptureEngine
    ) async {
        let one = Left(shown, of: id, by: client)
        left.append(one)
        await goOn(id, from: shown.ring, whose: what, on: engine)
        one.isLeft = true
        await forgetLeft(on: engine)
    }

    /// Lets a device go on in another ring than this one, as `SourcePool.move` does; one that cannot is closed.
    private func goOn(
        _ id: DeviceID,
        from ring: (any MediaRing)?,
        atOnce: Bool = false,
        whose what: String,
        on engine: isolated CaptureEngine
    ) async {
        do throws(CaptureError) {
            try await engine.pool.move(id, from: ring, atOnce: atOnce)
        } catch {
            await interrupt(id, whose: what, error, on: engine)
        }
    }

    /// Closes a device that may still write where it must not: those who share it are interrupted, with their files finished.
    private func interrupt(
        _ id: DeviceID,
        whose what: String,
        _ error: CaptureError,
        on engine: isolated CaptureEngine
    ) async {
        let others = await engine.pool.users(of: id).filter { engine.sessions[$0]?.isEnding == false }
        let reason = CaptureError(
            .busy,
            "\(id.rawValue) was closed: another program's \(what), and then the device could not be restarted: "
                + "\(error.message); start again"
        )
        await engine.deviceEnded(others, reason)
    }
}
