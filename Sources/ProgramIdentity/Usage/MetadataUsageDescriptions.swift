public import CaptureCore

/// Reads usage descriptions from the metadata that programs have anyway.
///
/// For each service the first of these that says something counts:
///
/// - `flatpak:ID`: the application's own desktop entry, in its sandbox;
/// - `app:ID`, `flatpak:ID`, `snap:ID`: the desktop entry `ID.desktop` in an application folder;
/// - `snap:NAME`: a desktop entry in the snap;
/// - `unit:NAME.service`: the section `[X-Capture]` of the unit and its drop-ins, where the keys may also be written
///   without `X-Capture-`; the same for `app:ID` and `exe:PATH` in a service of the user's or in one of the system's;
/// - any program: a desktop entry in an application folder or an `apps.d` folder with a line `X-Capture-Program=` that
///   names its id, as in `X-Capture-Program=exe:/usr/bin/cheese`;
/// - `exe:PATH`: a desktop entry in an application folder whose `Exec=` runs that file;
/// - any program: `<id>.desktop` in an `apps.d` folder, where `<id>` is the id behind its colon, without a leading `/`
///   and with `-` for every other `/`, as in `usr-bin-cheese.desktop`.
///
/// A file counts only if it belongs to root or to the daemon's user and nobody else can write to it; a file of a sandbox,
/// if it belongs to root or to the sandbox's user. Files are cached until their stamps change. Thread-safe.
public struct MetadataUsageDescriptions: UsageDescriptions {
    private let applications: [String]
    private let units: [String]
    private let userUnits: [String]
    private let snaps: [String]
    package let overrides: [String]
    private let sandboxes: (any SandboxFiles)?
    private let locale: @Sendable (ClientIdentity) -> String
    private let trusted = TrustedFiles()

    /// Descriptions from the given folders, each list by falling precedence.
    ///
    /// - Parameters:
    ///   - applications: Desktop entries, as `/usr/share/applications`.
    ///   - units: System units, as `/etc/systemd/system`.
    ///   - userUnits: Units of users' managers that the system brings along, as `/usr/lib/systemd/user`.
    ///   - snaps: Where snaps are mounted, as `/snap`.
    ///   - overrides: `apps.d` folders of the administrator, or of the user on a session bus. The error for a missing
    ///     description names the first.
    ///   - sandboxes: Reads files of Flatpaks.
    ///   - locale: The language of the person who is asked, as in `de_AT.UTF-8`; empty for texts without a language.
    public init(
        applications: [String],
        units: [String],
        userUnits: [String] = [],
        snaps: [String] = [],
        overrides: [String],
        sandboxes: (any SandboxFiles)? = nil,
        locale: @escaping @Sendable (ClientIdentity) -> String = { _ in "" }
    ) {
        self.applications = applications
        self.units = units
        self.userUnits = userUnits
        self.snaps = snaps
        self.overrides = overrides
        self.sandboxes = sandboxes
        self.locale = locale
    }

    /// Looks up why a program captures.
    ///
    /// - Throws: `missingUsageDescription`, naming the keys and the file to put them in, and what was wrong with files
    ///   that might have had them.
    public func description(
        of client: ClientIdentity,
        for services: [Service]
    ) throws(CaptureError) -> UsageDescription {
        var found = UsageDescription(reasons: [:])
        var refused: [String] = []
        var own: String?
        let locale = locale(client)
        for lookup in lookups {
            if let source = lookup(client, &refused) {
                own = own ?? "\(source.file.path) under [\(source.section)]"
                take(source, services, locale, into: &found)
            }
            if services.allSatisfy({ found.reasons[$0] != nil }) { return found }
        }
        throw missing(services.filter { found.reasons[$0] == nil }, client, in: own, refused)
    }

    /// Whether a program's metadata has `X-Capture-PreventAutomaticLimitedLibraryAlert=true`: the first file that has the
    /// key counts.
    public func preventsLibraryAlert(_ client: ClientIdentity) -> Bool {
        let key = "PreventAutomaticLimitedLibraryAlert"
        var refused: [String] = []
        for lookup in lookups {
            guard let source = lookup(client, &refused) else { continue }
            let keys = ["X-Capture-" + key] + (source.section == "X-Capture" ? [key] : [])
            let words = keys.lazy.compactMap { source.file.value(source.section, $0) }
            if let word = words.first { return word == "true" }
        }
        return false
    }

    private typealias Lookup = (_ client: ClientIdentity, _ refused: inout [String]) -> Source?

    /// Where metadata may be, by falling precedence.
    private var lookups: [Lookup] { [sandboxed, ownMetadata, inUserUnit, inSnap, named, run, filed] }

    /// A file that speaks for the program, and where in it.
    private struct Source {
        var file: KeyFile
        var section: String
        var nameSection: String
        var nameKey: String
    }

    private func take(_ source: Source, _ services: [Service], _ locale: String, into found: inout UsageDescription) {
        for service in services where found.reasons[service] == nil {
            let keys = source.section == "X-Capture" ? [service.usageKey, service.shortUsageKey] : [service.usageKey]
            let text = keys.lazy.compactMap { source.file.value(source.section, $0, locale: locale) }.first ?? ""
            let shown = UsageDescription.shown(text)
            if !shown.isEmpty { found.reasons[service] = shown }
        }
        if found.name == nil, let name = source.file.value(source.nameSection, source.nameKey, locale: locale) {
            let shown = DisplayText.neutralized(name, limit: 80)
            if !shown.isEmpty { found.name = shown }
        }
    }

    private func ownMetadata(_ client: ClientIdentity, _ refused: inout [String]) -> Source? {
        guard let id = try? ProgramID(client.program) else { return nil }
        switch id {
        case .app(let name), .flatpak(let name), .snap(let name):
            guard !name.contains("/"), name != "..", name != "." else { return nil }
            for folder in applications {
                for path in DesktopEntryPaths.candidates(for: name) {
                    if let file = trusted.read(folder + "/" + path, .desktopEntry, &refused) { return entry(file) }
                }
            }
            return nil
        case .unit(let name):
            guard let file = UnitFiles(folders: units, trusted: trusted).read(name, &refused) else { return nil }
            return unit(file)
        case .user, .executable: return nil
        }
    }

    private func sandboxed(_ client: ClientIdentity, _ refused: inout [String]) -> Source? {
        guard let sandboxes, client.tier == .sandboxed, case .flatpak(let name)? = try? ProgramID(client.program) else {
            return nil
        }
        switch sandboxes.read("share/applications/\(name).desktop", of: client) {
        case .absent: return nil
        case .text(let text, let place): return entry(KeyFile(parsing: text, path: place, dialect: .desktopEntry))
        case .unusable(let why):
            refused.append("the desktop entry in its sandbox \(why)")
            return nil
        }
    }

    private func inUserUnit(_ client: ClientIdentity, _ refused: inout [String]) -> Source? {
        guard client.tier == .claimed, client.parts.unit.hasSuffix(".service") else { return nil }
        // A system unit that runs as a person's account has no file of a user's manager.
        let folders = client.units.first == client.parts.unit ? units + userUnits : userUnits
        let file = UnitFiles(folders: folders, trusted: trusted).read(client.parts.unit, &refused)
        // A unit that does not mention captures may run any program, as a terminal's unit does.
        guard let file, client.program.hasPrefix("app:") || file.mentionsCapture else { return nil }
        return unit(file)
    }

    private func inSnap(_ client: ClientIdentity, _ refused: inout [String]) -> Source? {
        guard case .snap(let name)? = try? ProgramID(client.program), SnapName.isName(name) else { return nil }
        for folder in snaps.map({ "\($0)/\(name)/current/meta/gui" }) {
            for file in FolderListing.names(in: folder, suffix: ".desktop") {
                if let file = trusted.read("\(folder)/\(file)", .desktopEntry, &refused, isSearching: true) {
                    return entry(file)
                }
            }
        }
        return nil
    }

    private func named(_ client: ClientIdentity, _ refused: inout [String]) -> Source? {
        for folder in overrides + applications {
            for name in FolderListing.names(in: folder, suffix: ".desktop") {
                guard
                    let file = trusted.read(folder + "/" + name, .desktopEntry, &refused, isSearching: true),
                    file.value("Desktop Entry", "X-Capture-Program") == client.program
                else { continue }
                return entry(file)
            }
        }
        return nil
    }

    private func run(_ client: ClientIdentity, _ refused: inout [String]) -> Source? {
        guard let id = try? ProgramID(client.program), case .executable(let path) = id else { return nil }
        for folder in applications {
            for name in FolderListing.names(in: folder, suffix: ".desktop") {
                guard let file = trusted.read(folder + "/" + name, .desktopEntry, &refused, isSearching: true),
                    let command = file.value("Desktop Entry", "Exec"),
                    DesktopEntryPaths.runs(command, path)
                else { continue }
                return entry(file)
            }
        }
        return nil
    }

    private func filed(_ client: ClientIdentity, _ refused: inout [String]) -> Source? {
        let name = MetadataUsageDescriptions.fileName(of: client.program)
        guard name.utf8.count <= 255 else { return nil }
        for folder in overrides {
            if let file = trusted.read(folder + "/" + name, .desktopEntry, &refused) {
                // A file that names another program does not speak for this one.
                let other = file.value("Desktop Entry", "X-Capture-Program")
                if other == nil || other == client.program { return entry(file) }
            }
        }
        return nil
    }

    private func unit(_ file: KeyFile) -> Source {
        Source(file: file, section: "X-Capture", nameSection: "Unit", nameKey: "Description")
    }

    private func entry(_ file: KeyFile) -> Source {
        Source(file: file, section: "Desktop Entry", nameSection: "Desktop Entry", nameKey: "Name")
    }
}

extension Service {
    /// The key as it may be written where the section already says `X-Capture`.
    package var shortUsageKey: String { String(usageKey.dropFirst("X-Capture-".count)) }
}
