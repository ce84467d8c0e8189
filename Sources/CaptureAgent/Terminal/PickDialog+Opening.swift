import CaptureKit

extension PickDialog {
    /// The text to show first, before lines are taken: who asks, and what happens to what is picked.
    var opening: String {
        var lines = ["", request.headline]
        lines += [request.certainty, request.meaning]
        let seconds = request.question.secondsLeft
        if seconds != 0 { lines.append("You have \((seconds + 59) / 60) min.") }
        lines.append("Pick by number or range, as in 1 3-5; d when done, q to pick nothing, ? for help.")
        return lines.map { $0.wrapped(to: ControllingTerminal.width, indent: 2) + "\n" }.joined()
    }
}
