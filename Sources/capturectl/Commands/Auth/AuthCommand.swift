public import ArgumentParser
public import CaptureKit

struct AuthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "auth",
        abstract: "See and change who may capture.",
        discussion: """
            Programs are named as 'auth list' prints them: flatpak:ID, snap:NAME, unit:NAME.service, uid:N, app:ID, \
            exe:PATH. Services are camera, microphone, library-add and library-read-write; library means the last two.
            """,
        subcommands: [
            AuthListCommand.self, AuthStatusCommand.self, AuthExplainCommand.self, AuthWhoAmICommand.self,
            AuthAgentsCommand.self, AuthSettingsCommand.self, AuthSetCommand.self, AuthResetCommand.self,
        ]
    )

    @OptionGroup var bus: BusOptions
}

extension AuthorizationService: ExpressibleByArgument {}

/// Checks that a program's id is of a known form, so that a slip is not stored as a program that never comes.
enum ProgramName {
    /// A program's id as it is typed: a path stands for the program there.
    static func whole(_ text: String) -> String { text.hasPrefix("/") ? "exe:" + text : text }

    private static let prefixes = ["flatpak:", "snap:", "unit:", "uid:", "app:", "exe:"]

    static func check(_ id: String) throws(CaptureError) {
        guard let prefix = prefixes.first(where: { id.hasPrefix($0) }), id.count > prefix.count else {
            throw CaptureError(
                .usage,
                "'\(Printable.text(id))' is not a program's id; ids begin with one of \(prefixes.joined(separator: " "))"
            )
        }
        if prefix == "unit:", !id.hasSuffix(".service") {
            throw CaptureError(.usage, "name the unit with its suffix, as in unit:camera.service")
        }
        if prefix == "uid:" { try UserName.check(String(id.dropFirst(prefix.count))) }
        if prefix == "exe:", !id.hasPrefix("exe:/") {
            throw CaptureError(.usage, "name the executable by its full path, as in exe:/usr/bin/tool")
        }
    }
}

/// Checks the number of a user, where a number is given for one.
enum UserName {
    static func check(_ name: String?) throws(CaptureError) {
        guard let name else { return }
        if name.isEmpty { throw CaptureError(.usage, "--user is empty; give a user's name or number, or leave it out") }
        guard name.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == "-") }) else { return }
        // The greatest stands for nobody at all, as -1: no program ever runs as it.
        guard let number = UInt32(name), number < .max else {
            throw CaptureError(.usage, "'\(name)' is not a user's number; they go from 0 to \(UInt32.max - 1)")
        }
    }
}
