import Authorization
import CaptureCore

/// Rings that a program may have kept mapped are left behind: its session is over, or its consent is.
extension CaptureEngine {
    /// Lets devices go on in rings that a session's client has not mapped.
    ///
    /// - Parameter atOnce: Whether nothing may be written there any more when this returns, for a withdrawn consent. For
    ///   a session that merely ended, nobody who shares a device loses a frame by it.
    /// - Parameter shared: Whether only those of devices that others use; the session's client is to learn there that the
    ///   stream goes on elsewhere.
    func leaveRings(of session: Session, atOnce: Bool, shared: Bool = false) async {
        for (id, ring) in session.shown {
            if shared, await pool.users(of: id).count < 2 { continue }
            await leave(ring, of: id, by: session, atOnce: atOnce)
        }
        if !shared { session.shown = [:] }
    }

    /// Lets a device go on in another ring than one that a session's client has mapped, unless the client has it by another
    /// session, too.
    func leave(_ ring: any MediaRing, of id: DeviceID, by session: Session, atOnce: Bool) async {
        if !atOnce, isSeen(ring, by: session) { return }
        do throws(CaptureError) {
            try await pool.move(id, from: ring, atOnce: atOnce)
        } catch {
            await interrupt(id, whose: atOnce ? "consent was withdrawn" : "session ended", error)
        }
    }

    /// Closes a device that may still write where it must not: those who share it are interrupted, with their files finished.
    func interrupt(_ id: DeviceID, whose what: String, _ error: CaptureError) async {
        let others = await pool.users(of: id).filter { sessions[$0]?.isEnding == false }
        let reason = CaptureError(
            .busy,
            "\(id.rawValue) was closed: another program's \(what), and then the device could not be restarted: "
                + "\(error.message); start again"
        )
        await deviceEnded(others, reason)
    }

    /// Hands the readers of a source the ring in which it goes on; those that are ending read no further, and a client that
    /// was given none yet is given this one when it asks.
    func handOver(_ shared: SharedSource, to users: Set<UInt32>) {
        for session in users.compactMap({ sessions[$0] }) where !session.isEnding {
            for output in session.outputs.values where !output.isDone && output.reads(shared) {
                if output.recorder == nil {
                    if session.shown[shared.device.id] == nil { continue }
                    observer.bufferMoved(session.snapshot, output: output.description.name)
                } else {
                    output.go(on: shared)
                }
            }
        }
    }
}
