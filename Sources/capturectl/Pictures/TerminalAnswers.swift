import CaptureAgent
import CaptureKit

/// What the terminal itself says that it can show.
enum TerminalAnswers {
    /// Asks it, and waits a moment for the answer. To be called while nobody reads keys; blocks.
    ///
    /// - Returns: `nil` where it says of nothing that it can.
    static func graphics(_ environment: [String: String]) -> TerminalGraphics? {
        // iTerm2 has no question that others would not stumble over, and says who it is.
        let names = [environment["TERM_PROGRAM"], environment["LC_TERMINAL"]]
        if names.contains("iTerm.app") || names.contains("iTerm2") { return .iterm }
        guard environment["TERM"] != "dumb", let terminal = ControllingTerminal() else { return nil }
        // Of kitty's protocol a picture of one pixel, then what every terminal answers, and so ends the wait.
        let question = "\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\\u{1B}[c"
        let answer = terminal.answer(to: question, within: .milliseconds(500)) { attributes($0) != nil }
        return graphics(answering: answer)
    }

    /// What an answer says.
    static func graphics(answering answer: [UInt8]) -> TerminalGraphics? {
        if String(decoding: answer, as: UTF8.self).contains("\u{1B}_Gi=31;OK") { return .kitty }
        return attributes(answer)?.contains(4) == true ? .sixel : nil
    }

    /// The attributes of `CSI ? 62 ; 4 ; … c`; `nil` before it is there.
    private static func attributes(_ answer: [UInt8]) -> [Int]? {
        let text = String(decoding: answer, as: UTF8.self)
        guard let begin = text.firstRange(of: "\u{1B}[?")?.upperBound,
            let end = text[begin...].firstIndex(of: "c")
        else { return nil }
        return text[begin..<end].split(separator: ";").compactMap { Int($0) }
    }
}
