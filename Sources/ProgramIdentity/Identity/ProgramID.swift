package import CaptureCore

/// A program's id, taken apart.
package enum ProgramID: Hashable {
    case flatpak(String)
    case snap(String)
    case unit(String)
    case user(UInt32)
    case app(String)
    case executable(String)

    /// Reads an id as it is written in commands, files and the store.
    ///
    /// - Throws: `invalidArgument` with the forms that there are.
    package init(_ text: String) throws(CaptureError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.count == 2 ? String(parts[1]) : ""
        let isPlain = !value.isEmpty && value.utf8.count <= 4096 && value.unicodeScalars.allSatisfy { $0.value >= 32 }
        guard isPlain, let kind = parts.first else { throw ProgramID.malformed(text) }
        switch kind {
        case "flatpak": self = .flatpak(value)
        case "snap": self = .snap(value)
        case "unit" where value.hasSuffix(".service") && !value.contains("/"): self = .unit(value)
        case "uid":
            // The greatest number is the system's word for nobody.
            guard let number = UInt32(value), number < .max else { throw ProgramID.malformed(text) }
            self = .user(number)
        case "app" where !value.contains("/"): self = .app(value)
        case "exe" where value.hasPrefix("/"): self = .executable(value)
        default: throw ProgramID.malformed(text)
        }
    }

    /// The id as it is written.
    package var text: String {
        switch self {
        case .flatpak(let id): "flatpak:\(id)"
        case .snap(let name): "snap:\(name)"
        case .unit(let name): "unit:\(name)"
        case .user(let number): "uid:\(number)"
        case .app(let id): "app:\(id)"
        case .executable(let path): "exe:\(path)"
        }
    }

    /// What such an id is worth.
    package var tier: Tier {
        switch self {
        case .flatpak, .snap: .sandboxed
        case .unit: .service
        case .user: .user
        case .app, .executable: .claimed
        }
    }

    private static func malformed(_ text: String) -> CaptureError {
        CaptureError(
            .invalidArgument,
            "'\(DisplayText.neutralized(text, limit: 100))' is not a program id; ids are flatpak:ID, snap:NAME, "
                + "unit:NAME.service, uid:N, app:ID and exe:PATH, as 'capturectl auth list' prints them"
        )
    }
}
