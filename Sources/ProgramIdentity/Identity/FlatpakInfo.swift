/// What Flatpak writes about an instance of an application into `/.flatpak-info` on the root of its sandbox.
package struct FlatpakInfo: Hashable {
    /// The application's id, as in `org.gnome.Cheese`.
    package var id: String
    /// The instance's number.
    package var instance: String
    /// Where the application's files lie on the system; empty when it does not say.
    package var folder: String

    /// Reads the file.
    ///
    /// - Throws: What is wrong with it.
    package init(_ text: String) throws(Sandbox.Doubt) {
        let file = KeyFile(parsing: text, path: "/.flatpak-info", dialect: .desktopEntry)
        // Flatpak names the runtime when it runs one by itself, with whatever command it was given: nobody, like a shell.
        guard !file.entries.contains(where: { $0.section == "Runtime" }) else {
            throw Sandbox.Doubt(why: "it is a Flatpak runtime, which runs programs of others, not an application")
        }
        guard let id = file.value("Application", "name"), FlatpakInfo.isID(id) else {
            throw Sandbox.Doubt(why: "/.flatpak-info on its root names no application under [Application] name=")
        }
        guard let instance = file.value("Instance", "instance-id"), (1...20).contains(instance.utf8.count),
            instance.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { throw Sandbox.Doubt(why: "/.flatpak-info on its root has no number under [Instance] instance-id=") }
        let folder = file.value("Instance", "app-path") ?? ""
        self.id = id
        self.instance = instance
        self.folder = folder.hasPrefix("/") ? folder : ""
    }

    /// Whether a text is an application's id by Flatpak's rules: three parts or more between dots, of letters, digits
    /// and `_`, none of which begins with a digit; `-` in the last one alone; at most 255 characters.
    package static func isID(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count >= 3, text.utf8.count <= 255 else { return false }
        return parts.enumerated().allSatisfy { index, part in
            guard let first = part.first, !(0x30...0x39).contains(first) else { return false }
            return part.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
                    || byte == UInt8(ascii: "_") || (byte == UInt8(ascii: "-") && index == parts.count - 1)
            }
        }
    }

    /// The Flatpak that a process is in.
    ///
    /// Any program can put such a file on the root of a mount namespace of its own. Flatpak also moves each instance into
    /// a scope of the user's manager that is named after the application, before it starts the proxy that speaks for it
    /// on the bus: without that scope the file says nothing.
    package static func sandbox(_ facts: ProcessFacts) throws(Sandbox.Doubt) -> Sandbox? {
        let application = facts.ownUnit.flatMap(UnitName.application)
        let scope = application?.launcher.hasPrefix("flatpak") == true ? application : nil
        switch facts.flatpakInfo {
        case .absent:
            guard scope == nil else {
                throw Sandbox.Doubt(
                    why:
                        "it is in the sandbox \(facts.place), which cannot be identified: its root has no /.flatpak-info"
                )
            }
            return nil
        case .unusable(let why): throw Sandbox.Doubt(why: "/.flatpak-info on its root \(why)")
        case .file(let text, let owner, let isInMemory, let isOnOwnRoot):
            guard isOnOwnRoot else {
                throw Sandbox.Doubt(
                    why: "there is a /.flatpak-info for it, on the root of the whole system, not of a sandbox"
                )
            }
            guard owner == facts.uid else {
                throw Sandbox.Doubt(why: "/.flatpak-info on its root belongs to uid \(owner), not to \(facts.uid)")
            }
            guard isInMemory else {
                throw Sandbox.Doubt(why: "/.flatpak-info on its root lies on a disk, where Flatpak does not put it")
            }
            return try sandbox(FlatpakInfo(text), scope, facts)
        }
    }

    private static func sandbox(
        _ info: FlatpakInfo,
        _ scope: UnitName.Application?,
        _ facts: ProcessFacts
    ) throws(Sandbox.Doubt) -> Sandbox {
        guard let scope, scope.launcher == "flatpak", facts.ownUnit?.hasSuffix(".scope") == true else {
            throw Sandbox.Doubt(
                why: "its root says that it is the Flatpak \(info.id), but it is in \(facts.place) instead of a scope "
                    + "that Flatpak makes, app-flatpak-\(info.id)-N.scope"
            )
        }
        guard scope.id == info.id else {
            throw Sandbox.Doubt(
                why: "its root says that it is the Flatpak \(info.id), but its scope is that of \(scope.id)"
            )
        }
        return Sandbox(
            program: "flatpak:\(info.id)",
            name: info.id,
            words: "the Flatpak sandbox of \(info.id) (instance \(info.instance))",
            instance: "Flatpak instance \(info.instance)",
            folder: info.folder
        )
    }
}
