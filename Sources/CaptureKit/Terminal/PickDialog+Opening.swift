extension PickDialog {
    /// What to show first, while no line is taken yet: who asks, and what becomes of what is picked.
    var opening: String {
        var lines = ["", request.headline]
        lines += request.facts.map { "  \($0.label.padding(to: 11)) \($0.text)" }
        lines.append(request.meaning)
        if request.secondsLeft != 0 { lines.append("This stands for \((request.secondsLeft + 59) / 60) min.") }
        lines.append("Numbers and ranges as in 1 3-5 pick, d is done, q picks nothing, ? explains the rest.")
        return lines.joined(separator: "\n") + "\n"
    }
}
