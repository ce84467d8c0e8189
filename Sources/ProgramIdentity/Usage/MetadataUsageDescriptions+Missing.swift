package import CaptureCore

extension MetadataUsageDescriptions {
    /// The name of the file in `apps.d` that speaks for a program, as in `usr-bin-cheese.desktop`.
    public static func fileName(of program: String) -> String {
        var id = program[...]
        if let colon = id.firstIndex(of: ":") { id = id[id.index(after: colon)...] }
        if id.hasPrefix("/") { id = id.dropFirst() }
        return id.map { $0 == "/" ? "-" : String($0) }.joined() + ".desktop"
    }

    /// The error for a program that does not say why it wants something: which line is missing, and in which file.
    ///
    /// - Parameters:
    ///   - own: The file that speaks for the program and its section; `nil` when there is none.
    ///   - refused: What was wrong with files that might have had it.
    package func missing(
        _ services: [Service],
        _ client: ClientIdentity,
        in own: String?,
        _ refused: [String]
    ) -> CaptureError {
        let keys = services.map { $0.usageKey + "=" }.joined(separator: " and ")
        // For the person's own programs, the person's files also count.
        let folder = client.tier == .claimed ? "~/.config/captured/apps.d" : overrides.first ?? "/etc/captured/apps.d"
        let fallback = folder + "/" + MetadataUsageDescriptions.fileName(of: client.program)
        let place =
            if let own { own } else {
                "\(fallback) under [Desktop Entry], beside X-Capture-Program=\(client.program)"
            }
        var message = "\(client.program) does not say why it wants \(phrase(Set(services))): put \(keys) into \(place)"
        if !refused.isEmpty { message += " (not looked at: \(refused.prefix(3).joined(separator: "; ")))" }
        return CaptureError(.missingUsageDescription, DisplayText.neutralized(message, limit: 1000))
    }
}
