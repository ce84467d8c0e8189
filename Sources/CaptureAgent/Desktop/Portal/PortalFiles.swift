import CaptureCore
import CaptureSystem
import Glibc
import CaptureBus

/// Which backend of the desktop's portals is for what: the files that xdg-desktop-portal reads, portals.conf(5) and
/// `*.portal`, by its rules.
///
/// A value type; the files are read anew each time.
public struct PortalFiles: Sendable {
    /// What the files say about an interface.
    public enum Choice: Hashable, Sendable {
        /// This name on the bus, by that file.
        case backend(String, file: String)
        /// That file wants none.
        case nobody(file: String)
        /// Nothing.
        case unsaid
    }

    /// The folders with `portals.conf`, the one that counts most first.
    let configuration: [String]
    /// The folders with `*.portal`.
    let backends: [String]
    /// The desktop's names in lower case, the most specific first.
    let desktops: [String]

    /// The files that an environment leads to; `XDG_DESKTOP_PORTAL_DIR` names a folder in the place of all.
    public init(_ environment: (String) -> String? = PortalFiles.variable) {
        func folders(_ name: String, _ standard: String) -> [String] {
            // The XDG specification has relative paths ignored.
            (environment(name) ?? standard).split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        }
        let home = environment("HOME") ?? "/"
        desktops = (environment("XDG_CURRENT_DESKTOP") ?? "").lowercased().split(separator: ":").map(String.init)
            .filter { $0.utf8.allSatisfy(PortalFiles.isNameByte) }
        if let only = environment("XDG_DESKTOP_PORTAL_DIR") {
            configuration = [only]
            backends = [only]
            return
        }
        let data =
            folders("XDG_DATA_HOME", home + "/.local/share")
            + folders("XDG_DATA_DIRS", "/usr/local/share:/usr/share") + ["/usr/share"]
        let settings =
            folders("XDG_CONFIG_HOME", home + "/.config") + folders("XDG_CONFIG_DIRS", "/etc/xdg") + ["/etc"]
        configuration = (settings + data).map { $0 + "/xdg-desktop-portal" }
        backends = data.map { $0 + "/xdg-desktop-portal/portals" }
    }

    /// The backend for an interface, as in `org.freedesktop.impl.portal.Access`.
    public func choice(for interface: String) -> Choice {
        let all = installed().filter { $0.interfaces.contains(interface) }
        if let (file, wanted) = preferred(interface) {
            if wanted.contains("none") { return .nobody(file: file) }
            for name in wanted {
                if let found = name == "*" ? all.first : all.first(where: { $0.source == name }) {
                    return .backend(found.name, file: found.file)
                }
            }
        }
        for desktop in desktops {
            if let found = all.first(where: { $0.useIn.contains(desktop) }) {
                return .backend(found.name, file: found.file)
            }
        }
        // For desktops that are named nowhere.
        if let found = all.first(where: { $0.source == "gtk" }) ?? all.first {
            return .backend(found.name, file: found.file)
        }
        return .unsaid
    }

    /// The backends that the first file of settings with a say wants, and that file.
    private func preferred(_ interface: String) -> (file: String, backends: [String])? {
        for folder in configuration {
            for name in desktops.map({ $0 + "-portals.conf" }) + ["portals.conf"] {
                let path = folder + "/" + name
                guard let keys = PortalFiles.section("preferred", of: path), !keys.isEmpty else { continue }
                let own = PortalFiles.list(keys[interface])
                let standard = PortalFiles.list(keys["default"])
                // What is said for the interface alone forbids; else the default stands in for what is not installed.
                if own.contains("none") || (own.isEmpty && standard.contains("none")) { return (path, ["none"]) }
                return (path, own + standard.filter { $0 != "none" })
            }
        }
        return nil
    }

    private struct Backend {
        var source: String
        var file: String
        var name: String
        var interfaces: Set<String>
        var useIn: Set<String>
    }

    /// Every backend, by the name of its file; of two of a name the first folder's counts.
    private func installed() -> [Backend] {
        var found: [String: Backend] = [:]
        for folder in backends {
            for file in Files.names(in: folder) where file.hasSuffix(".portal") {
                let source = String(file.dropLast(".portal".count))
                let path = folder + "/" + file
                guard found[source] == nil, let keys = PortalFiles.section("portal", of: path),
                    let name = keys["DBusName"], !name.isEmpty
                else { continue }
                found[source] = Backend(
                    source: source,
                    file: path,
                    name: name,
                    interfaces: Set(PortalFiles.list(keys["Interfaces"])),
                    useIn: Set(PortalFiles.list(keys["UseIn"]).map { $0.lowercased() })
                )
            }
        }
        return found.values.sorted { $0.source < $1.source }
    }

    private static func list(_ value: String?) -> [String] {
        (value ?? "").split(separator: ";").map(trimmed).filter { !$0.isEmpty }
    }

    /// The keys of a section; `nil` for a file that is not there. Of the daemon's own parser, which tells what is wrong
    /// and where, nothing is wanted: the files are the desktop's, and so is complaining about them.
    private static func section(_ wanted: String, of path: String) -> [String: String]? {
        guard let text = Files.text(of: path, limit: 1 << 16) else { return nil }
        var keys: [String: String] = [:]
        var isInside = false
        for line in text.split(whereSeparator: \.isNewline).map(trimmed) {
            if line.hasPrefix("[") { isInside = line == "[\(wanted)]" }
            guard isInside, !line.hasPrefix("#"), let equals = line.firstIndex(of: "=") else { continue }
            keys[trimmed(line[..<equals])] = trimmed(line[line.index(after: equals)...])
        }
        return keys
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        var text = text.drop { $0.isWhitespace }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2d || byte == 0x5f
    }

    /// A variable of the process's environment; `nil` when it is unset or empty.
    public static func variable(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }
}
