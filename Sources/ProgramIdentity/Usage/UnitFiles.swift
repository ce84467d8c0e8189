/// The files of a unit.
package struct UnitFiles {
    /// Unit folders by falling precedence.
    package var folders: [String]
    /// What is believed.
    package var trusted: TrustedFiles

    /// A unit's own file with its drop-ins applied, as systemd.unit(5) has it.
    ///
    /// An instance `foo@bar.service` has its own file or that of `foo@.service`, and the drop-ins of both; a name with
    /// dashes those of its beginnings, `a-b.service` the ones in `a-.service.d`; and all those in `service.d`. Of drop-ins
    /// of one name the most particular one counts, and all are applied in the order of their names.
    ///
    /// - Returns: `nil` when there is nothing of that name that may be believed.
    package func read(_ unit: String, _ refused: inout [String]) -> KeyFile? {
        guard !unit.contains("/"), !unit.hasPrefix(".") else { return nil }
        var merged: KeyFile?
        search: for name in names(of: unit) {
            for folder in folders {
                merged = trusted.read(folder + "/" + name, .systemd, &refused)
                if merged != nil { break search }
            }
        }
        var dropIns: [String: String] = [:]
        for folder in dropInFolders(of: unit) {
            for file in FolderListing.names(in: folder, suffix: ".conf") where dropIns[file] == nil {
                dropIns[file] = folder + "/" + file
            }
        }
        for (_, path) in dropIns.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
        where !SmallFile.isNull(path) {
            guard let file = trusted.read(path, .systemd, &refused) else { continue }
            if merged == nil { merged = file } else { merged?.append(file, .systemd) }
        }
        return merged
    }

    /// The folders of its drop-ins by falling precedence.
    private func dropInFolders(of unit: String) -> [String] {
        let particular = folders.flatMap { folder in
            names(of: unit).flatMap { [$0] + beginnings(of: $0) }.map { "\(folder)/\($0).d" }
        }
        guard let dot = unit.lastIndex(of: ".") else { return particular }
        return particular + folders.map { "\($0)\(unit[dot...].replacing(".", with: "/", maxReplacements: 1)).d" }
    }

    /// As in `a-b-.service` and `a-.service` for `a-b-c.service`.
    private func beginnings(of unit: String) -> [String] {
        guard let dot = unit.lastIndex(of: ".") else { return [] }
        var name = unit[..<dot]
        if let at = name.firstIndex(of: "@") { name = name[..<at] }
        var found: [String] = []
        while let dash = name.dropLast().lastIndex(of: "-"), dash != name.startIndex {
            name = name[...dash]
            found.append(String(name) + unit[dot...])
        }
        return found
    }

    private func names(of unit: String) -> [String] {
        guard let at = unit.firstIndex(of: "@"), let dot = unit.lastIndex(of: "."), at < dot else { return [unit] }
        let template = unit[...at] + unit[dot...]
        return template == unit ? [unit] : [unit, String(template)]
    }
}
