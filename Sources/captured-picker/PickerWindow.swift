import CGTK
import CaptureCore
import Glibc
import PickerMessages

/// The window in which a person picks.
@MainActor final class PickerWindow {
    private let grid = Grid()
    private let status = Widget.label("", "dim-label")
    private let count = Widget.label("", "count")
    private let confirm = Widget.button("")
    private let cancel: Widget
    private let question: PickerQuestion
    private var selection: PickerSelection
    /// Since the window is on the screen.
    private lazy var sight = Moment { [unowned self] in showSelection() }

    init(_ question: PickerQuestion) {
        self.question = question
        selection = PickerSelection(question.purpose, limit: question.limit)
        cancel = Widget.button("_" + selection.refusal)
        let window = Widget.window(question.headline) { PickerWindow.end(.closed) }
        let room = Heading.room
        unsafe gtk_window_set_default_size(cgtk_window(window.pointer), min(860, room.width), min(680, room.height))
        let column = Widget.column(10).add(Heading.widget(question)).add(toolbar).add(grid.widget, grows: true).add(
            status
        ).add(buttons)
        column.setMargin(16)
        window.hold(column)
        window.onKey { [unowned self] in press($0) }
        window.on("map-event") { [unowned self] in sight.begin() }
        grid.activated = { [unowned self] tile in
            guard sight.isOver else { return }
            tell(selection.toggle(tile.item) ?? "")
            grid.show(selection)
            showSelection()
        }
        showSelection()
        tell("")
        unsafe gtk_widget_show_all(window.pointer)
        unsafe gtk_window_present(cgtk_window(window.pointer))
        grid.restart()
    }

    /// Takes what the agent says after the question.
    func take(_ order: PickerOrder) {
        switch order {
        case .question: Channel.fail("standard input: a second question", 65)
        case .page(let page):
            guard let isAnything = grid.take(page, selection) else { return }
            tell(isAnything ? "" : "There is nothing to show.")
            if page.number == 1 { grid.focus() }
        case .picture(let id, let jpeg): grid.take(jpeg?.bytes, of: id)
        case .stage, .frame: Channel.fail("standard input: nothing is taken by this question", 65)
        case .failed(let message, let page):
            if grid.takeFailure(of: page) { tell("Cannot show that: \(message)") }
        }
    }

    // MARK: Its parts

    private var toolbar: Widget {
        let toolbar = Widget.row(8)
        guard question.kinds.count > 1 else { return toolbar }
        let choice = unsafe Widget(gtk_combo_box_text_new())
        let names: [MediaAssetKind: String] = [.photo: "Photos", .movie: "Movies", .sound: "Sounds"]
        let rows = [(nil, "Everything")] + question.kinds.map { (MediaAssetKind?.some($0), names[$0] ?? "") }
        for row in rows { unsafe gtk_combo_box_text_append_text(cgtk_combo_box_text(choice.pointer), row.1) }
        unsafe gtk_combo_box_set_active(cgtk_combo_box(choice.pointer), 0)
        choice.on("changed") { [unowned self] in
            let index = unsafe Int(gtk_combo_box_get_active(cgtk_combo_box(choice.pointer)))
            guard rows.indices.contains(index) else { return }
            tell("")
            grid.restart(rows[index].0)
        }
        return toolbar.add(Widget.label("Show")).add(choice)
    }

    private var buttons: Widget {
        // Of what was not asked for, a no is an answer.
        let refusal: PickerReport = question.purpose == .offer ? .picked(ids: [], dropped: []) : .closed
        cancel.on("clicked") { [unowned self] in
            if sight.isOver { PickerWindow.end(refusal) }
        }
        confirm.mark("suggested-action", true)
        confirm.on("clicked") { [unowned self] in
            PickerWindow.end(.picked(ids: selection.picked, dropped: selection.dropped))
        }
        return Widget.row(8).add(count, grows: true).add(cancel).add(confirm)
    }

    /// Shows a sentence below the grid; none for an empty one.
    private func tell(_ text: String) {
        status.setText(text)
        status.setShown(!text.isEmpty)
    }

    private func showSelection() {
        count.setText(selection.count)
        confirm.setLabel("_" + selection.action)
        confirm.setEnabled(sight.isOver && !selection.isEmpty)
    }

    private func press(_ key: UInt32) -> Bool {
        // Arrows go from tile to tile. By GTK's own order the buttons would come behind the last of thousands.
        guard key == UInt32(GDK_KEY_Tab), grid.hasFocus else { return false }
        unsafe gtk_widget_grab_focus(cancel.pointer)
        return true
    }

    @discardableResult
    static func end(_ report: PickerReport) -> Bool {
        Channel.send(report)
        exit(0)
    }
}
