public import ArgumentParser
public import CaptureKit

struct AuthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "auth",
        abstract: "See and change who may capture.",
        discussion: """
            Programs are named as 'auth list' prints them: flatpak:ID, snap:NAME, unit:NAME.service, uid:N, app:ID, \
            exe:PATH. Services are camera, microphone, library-add and library-read-write, the last two together library.
            """,
        subcommands: [
            AuthListCommand.self, AuthStatusCommand.self, AuthExplainCommand.self, AuthWhoAmICommand.self,
            AuthSetCommand.self, AuthResetCommand.self,
        ]
    )

    @OptionGroup var bus: BusOptions
}

extension AuthorizationService: ExpressibleByArgument {}

/// Checks that a program's id is of a known form, so that a slip is not stored as a program that never comes.
enum ProgramName {
    private static let prefixes = ["flatpak:", "snap:", "unit:", "uid:", "app:", "exe:"]

    static func check(_ id: String) throws(CaptureError) {
        guard let prefix = prefixes.first(where: { id.hasPrefix($0) }), id.count > prefix.count else {
            throw CaptureError(
                .usage,
                "'\(Printable.text(id))' is no program's id; it begins with one of \(prefixes.joined(separator: " "))"
            )
        }
        if prefix == "unit:", !id.hasSuffix(".service") {
            throw CaptureError(.usage, "a unit is named with its ending, as in unit:camera.service")
        }
        if prefix == "uid:" { try UserName.check(String(id.dropFirst(prefix.count))) }
        if prefix == "exe:", !id.hasPrefix("exe:/") {
            throw CaptureError(.usage, "an executable is named by its whole path, as in exe:/usr/bin/tool")
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
            throw CaptureError(.usage, "'\(name)' is no user's number; they go from 0 to \(UInt32.max - 1)")
        }
    }
}
