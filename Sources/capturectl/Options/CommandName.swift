import ArgumentParser
import CaptureKit

/// Checks the names of commands on a command line.
enum CommandName {
    /// Refuses a word that stands where a command's name belongs and names no command. The error proposes a similar name.
    ///
    /// - Throws: `usage`.
    static func check(_ arguments: [String]) throws(CaptureError) {
        var command: any ParsableCommand.Type = Capturectl.self
        var name: [String] = []
        var words = arguments.prefix { $0 != "--" }
        // Shells make these calls, with words of their own.
        if words.contains(where: { $0.hasPrefix("--generate-completion-script") || $0.hasPrefix("---") }) { return }
        while let word = words.popFirst() {
            // Commands with subcommands take only this option.
            if word == "--bus" { words = words.dropFirst() }
            if word.hasPrefix("-") { continue }
            if word == "help", name.isEmpty { return try checkTopic(words.filter { !$0.hasPrefix("-") }) }
            guard let next = try subcommand(word, of: command, named: name) else { return }
            command = next
            name.append(word)
        }
    }

    /// The parser ignores words after 'help' that name no command.
    private static func checkTopic(_ words: [String]) throws(CaptureError) {
        var command: any ParsableCommand.Type = Capturectl.self
        for (index, word) in words.enumerated() {
            let name = Array(words.prefix(index))
            guard let next = try subcommand(word, of: command, named: name) else {
                throw CaptureError(.usage, "'\(name.joined(separator: " "))' has no command '\(Printable.text(word))'")
            }
            command = next
        }
    }

    /// - Returns: `nil` for a command without subcommands, or with a default one.
    private static func subcommand(
        _ word: String,
        of command: any ParsableCommand.Type,
        named name: [String]
    ) throws(CaptureError) -> (any ParsableCommand.Type)? {
        let commands = command.configuration.subcommands
        if let found = commands.first(where: { $0.configuration.commandName == word }) { return found }
        if commands.isEmpty || command.configuration.defaultSubcommand != nil { return nil }
        throw CaptureError(.usage, message(word, among: commands.compactMap { $0.configuration.commandName }, name))
    }

    private static func message(_ word: String, among commands: [String], _ name: [String]) -> String {
        func whole(_ last: String) -> String { (name + [last]).joined(separator: " ") }
        let message = "no command '\(Printable.text(whole(word)))'; "
        let known = name.isEmpty ? commands + ["help"] : commands
        let near = known.filter { distance(word, $0) <= max(1, min(word.count, $0.count) / 3) }
        if let nearest = near.min(by: { distance(word, $0) < distance(word, $1) }) {
            return message + "did you mean '\(whole(nearest))'?"
        }
        return message + "'\((["capturectl"] + name).joined(separator: " ")) --help' lists the commands"
    }

    /// The edit distance: how many letters to change, add, remove or swap with the next one.
    static func distance(_ one: String, _ other: String) -> Int {
        let (from, to) = (Array(one), Array(other))
        var rows = [Array(0...to.count)]
        for (row, letter) in from.enumerated() {
            var next = [row + 1]
            for (column, target) in to.enumerated() {
                let last = rows[row]
                var cost = min(last[column + 1] + 1, next[column] + 1, last[column] + (letter == target ? 0 : 1))
                if row > 0, column > 0, letter == to[column - 1], from[row - 1] == target {
                    cost = min(cost, rows[row - 1][column - 1] + 1)
                }
                next.append(cost)
            }
            rows.append(next)
        }
        return rows[from.count][to.count]
    }
}
