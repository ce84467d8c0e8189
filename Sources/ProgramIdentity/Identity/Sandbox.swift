/// A sandbox that everything the system says about a process bears out.
package struct Sandbox: Hashable {
    /// The program's id: `flatpak:ID` or `snap:NAME`.
    package var program: String
    /// The application's id or the snap's name.
    package var name: String
    /// What it rests on, in words, as in `the Flatpak sandbox of org.gnome.Cheese (instance 12)`.
    package var words: String
    /// What kind it is and which, as in `Flatpak instance 12`.
    package var instance: String
    /// Where its files lie on the system, by its own word; empty when it has none.
    package var folder = ""

    /// Why a process cannot be taken for what it seems to be.
    package struct Doubt: Error {
        package var why: String
    }

    /// Looks for a sandbox around a process.
    ///
    /// A sandbox shows in several places: the file that Flatpak puts on its root, the unit it runs in, the security label
    /// of the connection. One alone can be had by any program (a mount namespace of its own, a scope of any name), and
    /// where they disagree there is somebody who would like to be another.
    ///
    /// - Returns: `nil` when nothing says that there is one.
    /// - Throws: The doubt, when one thing says so and another does not.
    package static func find(_ facts: ProcessFacts) throws(Doubt) -> Sandbox? {
        let flatpak = try FlatpakInfo.sandbox(facts)
        let snap = try SnapName.sandbox(facts)
        if let flatpak, let snap {
            throw Doubt(why: "it is in \(flatpak.words) and in \(snap.words) at once")
        }
        return flatpak ?? snap
    }
}

extension ProcessFacts {
    /// The unit of the user's own manager that it is in; `nil` in a unit of somebody else's, which says who started it,
    /// not who it is: as after sudo.
    package var ownUnit: String? {
        systemUnit == "user@\(uid).service" ? userUnit : nil
    }

    /// The service of the system's manager that it is in; `nil` below a user's manager, and in scopes.
    package var systemService: String? {
        guard let systemUnit, systemUnit.hasSuffix(".service"), !systemUnit.hasPrefix("user@") else { return nil }
        return systemUnit
    }

    /// Where it is, for a person, as in `the unit app-foo-1.scope`.
    package var place: String {
        if let unit = ownUnit ?? systemUnit { return "the unit \(unit)" }
        return session.map { "the session \($0)" } ?? "no unit"
    }
}
