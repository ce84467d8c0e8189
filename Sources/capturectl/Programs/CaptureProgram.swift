import CaptureKit

/// An installed program that captures without knowing captured.
struct CaptureProgram: Equatable {
    /// Why libraries and plugins of captured do not get into a program.
    enum Obstacle: Equatable {
        /// It loads no libraries.
        case isStatic
        /// It makes its system calls itself.
        case isGo
        /// It is for another processor, or for 32 bits on a machine with 64.
        case isForeign(bits: Int)
        /// It is setuid or setgid, or has capabilities of its own.
        case isPrivileged
        /// It has a root folder of its own.
        case isFlatpak

        var text: String {
            switch self {
            case .isStatic: "static"
            case .isGo: "Go"
            case .isForeign(let bits): bits == 32 ? "32-bit" : "another architecture"
            case .isPrivileged: "setuid or with capabilities"
            case .isFlatpak: "Flatpak"
            }
        }

        /// Whether it keeps a plugin or library out of a program that uses this.
        func hinders(_ interface: Bridge) -> Bool {
            switch (self, interface) {
            // A server is asked over its socket, whatever the program is made of.
            case (_, .pulse), (_, .pipewire): false
            case (.isGo, .alsa), (.isPrivileged, .alsa): false
            default: true
            }
        }
    }

    /// What it is called; first the name of its file.
    var names: [String]
    var path: String
    var uses: [Bridge]
    var obstacle: Obstacle?
    /// Whether a desktop's menu has it.
    var isOnDesktop = false

    var name: String { names[0] }

    /// Its name with the others that lead to it, as in `aplay (arecord)`.
    var title: String {
        names.count == 1 ? name : "\(name) (\(names.dropFirst().joined(separator: ", ")))"
    }
}
