/// Names of snaps, as units and security labels contain them.
package enum SnapName {
    /// The snap whose unit this is: `snap.NAME.APP.service`, `snap.NAME.APP-UUID.scope`, `snap.NAME.APP.UUID.scope` and
    /// `snap.NAME.hook.HOOK…`.
    ///
    /// - Returns: `nil` for other units. Empty for one of that form without a name that a snap can have.
    package static func inUnit(_ unit: String) -> String? {
        guard unit.hasPrefix("snap."), unit.hasSuffix(".scope") || unit.hasSuffix(".service") else { return nil }
        let parts = unit.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count >= 4, let name = withoutComponent(parts[1]), isName(name) else { return "" }
        return name
    }

    /// What a security label says of a snap.
    package enum Label: Hashable {
        /// The kernel gives no label of AppArmor's.
        case none
        /// It is that of a snap.
        case snap(String)
        /// It is another's.
        case other
    }

    /// Reads a label: AppArmor's are `PROFILE (MODE)` or `unconfined`, where a snap's profile is `snap.NAME.APP`.
    package static func inLabel(_ label: String) -> Label {
        if label.isEmpty { return .none }
        // SELinux: user:role:type and perhaps a level, which says nothing of snaps.
        let fields = label.split(separator: ":", omittingEmptySubsequences: false)
        if fields.count >= 3, fields[..<3].allSatisfy({ !$0.isEmpty && !$0.contains(" ") && !$0.contains("/") }) {
            return .none
        }
        guard label.hasPrefix("snap."), !label.contains("//&") else { return .other }
        let profile = label.prefix { $0 != " " && $0 != "/" }
        let parts = profile.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count >= 3, let name = withoutComponent(parts[1]), isName(name) else { return .other }
        return .snap(name)
    }

    /// Whether a text is a snap's name, perhaps with the key of one of several installations: `NAME` or `NAME_KEY`.
    package static func isName(_ text: String) -> Bool {
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count <= 2, let name = parts.first, (1...40).contains(name.utf8.count) else { return false }
        guard !name.hasPrefix("-"), !name.hasSuffix("-"), !name.contains("--") else { return false }
        guard name.utf8.allSatisfy({ isPlain($0) || $0 == UInt8(ascii: "-") }),
            name.utf8.contains(where: { (0x61...0x7a).contains($0) })
        else { return false }
        guard parts.count == 2 else { return true }
        return (1...10).contains(parts[1].utf8.count) && parts[1].utf8.allSatisfy(isPlain)
    }

    /// The snap that a process is in, by its unit and its label.
    ///
    /// Any program can have a scope of any name, and most can take on a snap's profile, which then confines them; so both
    /// have to name the same snap. Where the kernel has no AppArmor, the file that is run has to lie in the snap.
    ///
    /// A daemon of a snap in a unit of the system is that unit, which only root can make.
    package static func sandbox(_ facts: ProcessFacts) throws(Sandbox.Doubt) -> Sandbox? {
        let unit = facts.ownUnit.flatMap(inUnit) ?? facts.systemUnit.flatMap(inUnit)
        let label = inLabel(facts.label)
        guard let unit else {
            guard case .snap(let name) = label else { return nil }
            throw Sandbox.Doubt(why: "its security label is that of the snap \(name), but it is in \(facts.place)")
        }
        guard !unit.isEmpty else {
            throw Sandbox.Doubt(why: "it is in \(facts.place), which names no snap")
        }
        switch label {
        case .snap(unit): break
        case .snap(let name):
            throw Sandbox.Doubt(why: "it is in the unit of the snap \(unit), but its security label is that of \(name)")
        case .other:
            throw Sandbox.Doubt(
                why: "it is in the unit of the snap \(unit), but its security label is '\(facts.label)'"
            )
        case .none:
            guard runs(facts.executable, from: unit) else {
                throw Sandbox.Doubt(
                    why: "it is in the unit of the snap \(unit), but runs no file of it, and the kernel gives no label"
                )
            }
        }
        if facts.ownUnit == nil, facts.systemUnit?.hasSuffix(".service") == true { return nil }
        let words = label == .none ? "by its unit and its file" : "by its unit and its security label"
        return Sandbox(
            program: "snap:\(unit)",
            name: unit,
            words: "the Snap sandbox of \(unit), \(words)",
            instance: "Snap \(unit)"
        )
    }

    private static func runs(_ executable: ProcessExecutable, from snap: String) -> Bool {
        guard case .file(let file) = executable, file.isProtected else { return false }
        return ["/snap/", "/var/lib/snapd/snap/"].contains { file.path.hasPrefix("\($0)\(snap)/") }
    }

    /// A name may be followed by a component's: `NAME+COMPONENT`, of which `+` is escaped in units.
    private static func withoutComponent(_ text: Substring) -> String? {
        text.split(separator: "+", omittingEmptySubsequences: false).first?
            .split(separator: "\\", omittingEmptySubsequences: false).first.map(String.init)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte)
    }
}
