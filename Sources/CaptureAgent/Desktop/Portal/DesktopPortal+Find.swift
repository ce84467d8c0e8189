public import CaptureCore
public import CaptureBus

extension DesktopPortal {
    /// The backend that shows questions of access on this desktop, as the files of xdg-desktop-portal say; where they say
    /// nothing, any that the bus can start and that implements it.
    ///
    /// - Parameters:
    ///   - bus: The bus of the person's session.
    ///   - files: What is configured.
    /// - Throws: `.nobodyToAsk` if the desktop has no backend, naming the package to install; `.unreachable` if the bus is
    ///   lost.
    public static func find(
        on bus: BusConnection,
        _ files: PortalFiles = PortalFiles()
    ) async throws(CaptureError) -> DesktopPortal {
        let known = try await names(on: bus)
        switch files.choice(for: accessInterface) {
        case .nobody(let file):
            throw none("\(file) wants no backend for \(accessInterface) (none)")
        case .backend(let name, let file):
            guard known.contains(name) else {
                throw none("\(file) names \(name), which is not running and cannot be started")
            }
            return DesktopPortal(name, on: bus)
        case .unsaid:
            for name in known.sorted() where name.hasPrefix("org.freedesktop.impl.portal.desktop.") {
                if await implementsAccess(name, on: bus) { return DesktopPortal(name, on: bus) }
            }
            throw none("nothing on the session bus implements \(accessInterface)")
        }
    }

    /// Starts the backend if it does not run, since some need a display that only they know of.
    ///
    /// - Throws: `.nobodyToAsk` if it does not start.
    public func start() async throws(CaptureError) {
        do throws(CaptureError) {
            _ = try await bus.call(name, DesktopPortal.path, "org.freedesktop.DBus.Peer", "Ping")
        } catch {
            // One that is there may not know the object or the call.
            guard error.code == .unreachable else { return }
            throw DesktopPortal.none("\(name) does not start (\(error.message)); the display may be missing")
        }
    }

    private static func none(_ why: String) -> CaptureError {
        CaptureError(
            .nobodyToAsk,
            "the desktop cannot ask for consent: \(why); install xdg-desktop-portal-gtk, or the backend of your "
                + "desktop, as xdg-desktop-portal-gnome or xdg-desktop-portal-kde"
        )
    }

    /// The names that somebody has or that the bus can start a program for.
    private static func names(on bus: BusConnection) async throws(CaptureError) -> Set<String> {
        var names: Set<String> = []
        for member in ["ListNames", "ListActivatableNames"] {
            names.formUnion(try await bus.askBus(member).first?.texts ?? [])
        }
        return names
    }

    /// One that cannot be started, or says nothing about itself, does not.
    private static func implementsAccess(_ name: String, on bus: BusConnection) async -> Bool {
        let answer = try? await bus.call(name, path, "org.freedesktop.DBus.Introspectable", "Introspect")
        return answer?.first?.text?.contains("\"\(accessInterface)\"") == true
    }
}
