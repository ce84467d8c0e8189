import CaptureKit
import CaptureSystem
import Glibc

/// Words of a command for a person to copy.
enum ShellWord {
    /// A word as the shell takes it, in quotes if it needs them.
    static func quoted(_ word: String) -> String {
        if !word.isEmpty, word.allSatisfy(isPlain) { return word }
        return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    /// A user's name, or that of the user who runs this program.
    static func user(_ name: String?) -> String {
        quoted(name ?? UserDatabase.user(getuid()).value?.name ?? "\(getuid())")
    }

    private static func isPlain(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || "_-+=./:@,%".contains(character))
    }
}
