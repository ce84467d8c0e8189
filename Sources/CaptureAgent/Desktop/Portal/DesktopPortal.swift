public import CaptureCore
import Synchronization
public import CaptureBus

/// A backend of the desktop's portals, which shows dialogs in the person's session.
///
/// Thread-safe.
public struct DesktopPortal: Sendable {
    /// What a backend implements to show questions of access.
    public static let accessInterface = "org.freedesktop.impl.portal.Access"
    /// Where every backend has its interfaces.
    static let path = "/org/freedesktop/portal/desktop"

    /// The backend's name on the bus.
    public let name: String
    let bus: BusConnection

    /// The backend of a name, on the bus of the person's session.
    public init(_ name: String, on bus: BusConnection) {
        self.name = name
        self.bus = bus
    }

    /// Shows a dialog for as long as it takes. Cancelling the task takes it off the screen.
    ///
    /// - Returns: `nil` when the task was cancelled.
    /// - Throws: `.unreachable` when the backend cannot be started, or goes away while the dialog stands; the backend's
    ///   own error when it does not show the dialog.
    public func show(_ dialog: AccessDialog) async throws(CaptureError) -> AccessResponse? {
        if Task.isCancelled { return nil }
        let handle = handle()
        let (results, feed) = AsyncStream<Result<[BusValue], CaptureError>>.makeStream()
        let isStanding = Atomic(true)
        Task { [self] in
            let result = await Result.of { () throws(CaptureError) in try await call(dialog, handle) }
            isStanding.store(false, ordering: .releasing)
            feed.yield(result)
            feed.finish()
        }
        // Ends without an element when this task is cancelled.
        var iterator = results.makeAsyncIterator()
        guard let result = await iterator.next() else {
            await close(handle, while: isStanding)
            return nil
        }
        return AccessResponse(try result.get())
    }

    private func call(_ dialog: AccessDialog, _ handle: String) async throws(CaptureError) -> [BusValue] {
        // Without an id and a window of the asking program: what they name is the caller's own, which asks for others.
        try await bus.call(
            name,
            DesktopPortal.path,
            DesktopPortal.accessInterface,
            "AccessDialog",
            signature: "osssssa{sv}",
            [
                .objectPath(handle), .string(""), .string(""), .string(dialog.title), .string(dialog.subtitle),
                .string(dialog.body), dialog.options,
            ],
            timeout: .infinity
        )
    }

    /// Where the backend is to put the object that closes a dialog: below our name, never the same twice.
    private func handle() -> String {
        let sender = bus.uniqueName.drop { $0 == ":" }.map { $0 == "." ? "_" : String($0) }.joined()
        return DesktopPortal.path + "/request/\(sender)/captured\(UInt64.random(in: 0...UInt64.max))"
    }

    /// Takes a dialog off the screen.
    ///
    /// The object to call is there once the dialog is, and GDBus refuses calls of objects that are not without asking the
    /// backend's main loop. So after a refusal something is asked that the main loop answers, behind the dialog's call.
    /// A dialog that stays all the same is one whose answer nobody waits for.
    private func close(_ handle: String, while isStanding: borrowing Atomic<Bool>) async {
        for _ in 0..<3 where isStanding.load(ordering: .acquiring) {
            do throws(CaptureError) {
                _ = try await bus.call(name, handle, "org.freedesktop.impl.portal.Request", "Close", timeout: 10)
                return
            } catch {
                _ = try? await bus.call(
                    name,
                    DesktopPortal.path,
                    CaptureNames.properties,
                    "GetAll",
                    signature: "s",
                    [.string(DesktopPortal.accessInterface)],
                    timeout: 10
                )
            }
        }
    }
}
