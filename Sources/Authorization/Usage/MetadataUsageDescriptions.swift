public import CaptureCore

/// Usage descriptions from the metadata that programs have anyway.
///
/// For each service the first of these that says something counts:
///
/// - `app:ID`, `flatpak:ID`, `snap:ID`: the desktop entry `ID.desktop` in an application folder;
/// - `unit:NAME.service`: the section `[X-Capture]` of the unit and its drop-ins, where the keys may also be written
///   without `X-Capture-`;
/// - any program: a desktop entry in an application folder or an `apps.d` folder with a line `X-Capture-Program=` that
///   names its id, as in `X-Capture-Program=exe:/usr/bin/cheese`;
/// - `exe:PATH`: a desktop entry in an application folder whose `Exec=` runs that file;
/// - any program: `<id>.desktop` in an `apps.d` folder, where `<id>` is the id behind its colon, without a leading `/`
///   and with `-` for every other `/`, as in `usr-bin-cheese.desktop`.
///
/// A file counts only when it belongs to root or to the daemon's user and nobody else can write to it. Files are read
/// anew each time: a person is about to be asked, so that nothing is gained by keeping them. Thread-safe.
public struct MetadataUsageDescriptions: UsageDescriptions {
    private let applications: [String]
    private let units: [String]
    private let overrides: [String]
    private let locale: String
    private let trusted: TrustedFiles

    /// Descriptions from the given folders, each list by falling precedence.
    ///
    /// - Parameters:
    ///   - applications: Desktop entries, as `/usr/share/applications`.
    ///   - units: System units, as `/etc/systemd/system`.
    ///   - overrides: `apps.d` folders of the administrator, or of the user on a session bus. The first is named to whom
    ///     a description is missing.
    ///   - locale: The language to show, as in `de_AT.UTF-8`; empty for the texts without one.
    public init(applications: [String], units: [String], overrides: [String], locale: String = "") {
        self.init(applications, units, overrides, locale: locale, trusted: TrustedFiles())
    }

    init(
        _ applications: [String],
        _ units: [String],
        _ overrides: [String],
        locale: String,
        trusted: TrustedFiles
    ) {
        self.applications = applications
        self.units = units
        self.overrides = overrides
        self.locale = locale
        self.trusted = trusted
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
        for lookup in [ownMetadata, named, run, filed] {
            if let source = lookup(client, &refused) {
                own = own ?? source.file.path
                take(source, services, into: &found)
            }
            if services.allSatisfy({ found.reasons[$0] != nil }) { return found }
        }
        throw missing(services.filter { found.reasons[$0] == nil }, client, in: own, refused)
    }

    /// A file that speaks for the program, and where in it.
    private struct Source {
        var file: KeyFile
        var section: String
        var nameSection: String
        var nameKey: String
    }

    private func take(_ source: Source, _ services: [Service], into found: inout UsageDescription) {
        for service in services where found.reasons[service] == nil {
            let keys = source.section == "X-Capture" ? [service.usageKey, service.shortUsageKey] : [service.usageKey]
            let text = keys.lazy.compactMap { source.file.value(source.section, $0, locale: locale) }.first ?? ""
            let shown = DisplayText.neutralized(text, limit: 300)
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
            return Source(file: file, section: "X-Capture", nameSection: "Unit", nameKey: "Description")
        case .user, .executable: return nil
        }
    }

    private func named(_ client: ClientIdentity, _ refused: inout [String]) -> Source? {
        for folder in overrides + applications {
            for name in FolderListing.names(in: folder, suffix: ".desktop") {
                guard
                    let file = trusted.read(folder + "/" + name, .desktopEntry, &refused, mentioning: client.program),
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
                guard let file = trusted.read(folder + "/" + name, .desktopEntry, &refused, mentioning: "X-Capture-"),
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

    private func entry(_ file: KeyFile) -> Source {
        Source(file: file, section: "Desktop Entry", nameSection: "Desktop Entry", nameKey: "Name")
    }

    /// The name of the file in `apps.d` that speaks for a program, as in `usr-bin-cheese.desktop`.
    public static func fileName(of program: String) -> String {
        var id = program[...]
        if let colon = id.firstIndex(of: ":") { id = id[id.index(after: colon)...] }
        if id.hasPrefix("/") { id = id.dropFirst() }
        return id.map { $0 == "/" ? "-" : String($0) }.joined() + ".desktop"
    }

    private func missing(
        _ services: [Service],
        _ client: ClientIdentity,
        in own: String?,
        _ refused: [String]
    ) -> CaptureError {
        let keys = services.map { $0.usageKey + "=" }.joined(separator: " and ")
        let isUnit = client.tier == .service
        let fallback =
            (overrides.first ?? "/etc/captured/apps.d") + "/" + MetadataUsageDescriptions.fileName(of: client.program)
        let place =
            if let own { "\(own) under [\(isUnit && !own.hasSuffix(".desktop") ? "X-Capture" : "Desktop Entry")]" } else
            {
                "\(fallback) under [Desktop Entry], beside X-Capture-Program=\(client.program)"
            }
        var message = "\(client.program) does not say why it wants \(phrase(Set(services))): put \(keys) into \(place)"
        if !refused.isEmpty { message += " (not looked at: \(refused.prefix(3).joined(separator: "; ")))" }
        return CaptureError(.missingUsageDescription, DisplayText.neutralized(message, limit: 1000))
    }
}

extension Service {
    /// The key as it may be written where the section already says `X-Capture`.
    var shortUsageKey: String { String(usageKey.dropFirst("X-Capture-".count)) }
}
