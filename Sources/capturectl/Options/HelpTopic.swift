import ArgumentParser

/// What 'help' is asked about: the parser passes words over that are no commands.
enum HelpTopic {
    /// Refuses a word behind 'help' that names no command.
    static func check(_ arguments: [String]) throws {
        var command: any ParsableCommand.Type = Capturectl.self
        var name = "capturectl"
        for word in arguments.drop(while: { $0 != "help" }).dropFirst() where !word.hasPrefix("-") {
            let commands = command.configuration.subcommands
            guard let next = commands.first(where: { $0.configuration.commandName == word }) else {
                throw ValidationError("'\(name)' has no command '\(word)'")
            }
            command = next
            name += " " + word
        }
    }
}
