import ProgramIdentity
import CaptureKit
import Glibc

/// Finds out why the person's own programs capture, from files in the person's home, which the daemon cannot read.
enum PersonalMetadata {
    /// Looks for a program's reasons in desktop entries in `~/.local/share/applications`, in the user's units and in
    /// `~/.config/captured/apps.d`, as MetadataUsageDescriptions does for the system.
    static func describe(
        _ program: String,
        _ unit: String,
        _ services: [AuthorizationService]
    ) -> [AuthorizationService: String] {
        guard let home = variable("HOME") else { return [:] }
        let data = variable("XDG_DATA_HOME") ?? home + "/.local/share"
        let configuration = variable("XDG_CONFIG_HOME") ?? home + "/.config"
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap(variable).first ?? ""
        let metadata = MetadataUsageDescriptions(
            applications: [data + "/applications"],
            units: [],
            userUnits: [configuration + "/systemd/user", data + "/systemd/user"],
            overrides: [configuration + "/captured/apps.d"],
            locale: { _ in locale }
        )
        let client = ClientIdentity(
            program: program,
            tier: .claimed,
            user: getuid(),
            name: "",
            detail: "",
            parts: IdentityParts(unit: unit)
        )
        var found: [AuthorizationService: String] = [:]
        for service in services {
            // The daemon reports what is missing.
            found[service] = try? metadata.description(of: client, for: [service]).reasons[service]
        }
        return found
    }

    private static func variable(_ name: String) -> String? {
        Environment.value(name).flatMap { $0.isEmpty ? nil : $0 }
    }
}
