import CGTK
import Glibc
import PickerMessages

/// The window in which a person picks.
@MainActor final class PickerWindow {
    /// How long the window stands before its answer counts, in milliseconds: who was typing or clicking something else has
    /// seen it by then.
    private static let moment: UInt32 = 600

    private let window: Widget
    private let grid = Grid()
    private let status = Widget.label("", "dim-label")
    private let count = Widget.label("", "count")
    private let confirm = Widget.button("")
    private let cancel: Widget
    private let question: PickerQuestion
    private var selection: PickerSelection
    private var isArmed = false

    init(_ question: PickerQuestion) {
        self.question = question
        selection = PickerSelection(question.purpose, limit: question.limit)
        cancel = Widget.button("_" + selection.refusal)
        window = unsafe Widget(gtk_window_new(GTK_WINDOW_TOPLEVEL))
        unsafe gtk_window_set_title(cgtk_window(window.pointer), question.headline)
        let room = PickerWindow.room
        unsafe gtk_window_set_default_size(cgtk_window(window.pointer), min(860, room.width), min(680, room.height))
        unsafe gtk_window_set_position(cgtk_window(window.pointer), GTK_WIN_POS_CENTER)
        let column = Widget.column(10).add(heading).add(toolbar).add(grid.widget, grows: true).add(status).add(buttons)
        column.setMargin(16)
        window.hold(column)
        window.onEvent("delete-event") { _ in PickerWindow.end(.closed) }
        window.onEvent("key-press-event") { [unowned self] event in
            var key: UInt32 = 0
            let event = unsafe UnsafePointer<GdkEvent>(bitPattern: event)
            return unsafe gdk_event_get_keyval(event, &key) != 0 && press(key)
        }
        window.onEvent("map-event") { [unowned self] _ in
            Handler.after(PickerWindow.moment) { [unowned self] in
                isArmed = true
                showSelection()
            }
            return false
        }
        grid.activated = { [unowned self] tile in
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
        case .failed(let message):
            grid.takeFailure()
            tell("Cannot show that: \(message)")
        }
    }

    // MARK: Its parts

    private var heading: Widget {
        let heading = Widget.column(4)
        let (headline, meaning) = (Widget.label(question.headline, "headline"), Widget.label(question.meaning))
        heading.add(headline.wide(30)).add(meaning.wide(50))
        heading.add(Widget.label(question.certainty).wide(50))
        guard !question.facts.isEmpty else { return heading }
        let facts = Widget.column(4)
        for fact in question.facts {
            let label = Widget.label(fact.label, "dim-label")
            unsafe gtk_widget_set_size_request(label.pointer, 80, -1)
            unsafe gtk_label_set_yalign(cgtk_label(label.pointer), 0)
            facts.add(Widget.row(8).add(label).add(Widget.label(fact.text).wide(50), grows: true))
        }
        let expander = unsafe Widget(gtk_expander_new_with_mnemonic("De_tails"))
        expander.hold(facts)
        return heading.add(expander)
    }

    private var toolbar: Widget {
        let toolbar = Widget.row(8)
        guard question.kinds.count > 1 else { return toolbar }
        let choice = unsafe Widget(gtk_combo_box_text_new())
        let names: [PickerItem.Kind: String] = [.photo: "Photos", .movie: "Movies", .sound: "Sounds"]
        let rows = [(nil, "Everything")] + question.kinds.map { (PickerItem.Kind?.some($0), names[$0] ?? "") }
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
        cancel.on("clicked") { PickerWindow.end(refusal) }
        confirm.mark("suggested-action", true)
        unsafe gtk_button_set_use_underline(cgtk_button(confirm.pointer), 1)
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
        confirm.setEnabled(isArmed && !selection.isEmpty)
    }

    /// Takes a key before the part that has the focus.
    private func press(_ key: UInt32) -> Bool {
        switch key {
        case UInt32(GDK_KEY_Escape): return PickerWindow.end(.closed)
        case UInt32(GDK_KEY_Tab):
            // Arrows go from tile to tile. By GTK's own order the buttons would come behind the last of thousands.
            guard grid.hasFocus else { return false }
            unsafe gtk_widget_grab_focus(cancel.pointer)
            return true
        default: return false
        }
    }

    /// What the screen has room for, in pixels.
    private static var room: (width: Int32, height: Int32) {
        var area = GdkRectangle(x: 0, y: 0, width: 860, height: 680)
        let display = unsafe gdk_display_get_default()
        let monitor = unsafe gdk_display_get_primary_monitor(display) ?? gdk_display_get_monitor(display, 0)
        if let monitor = unsafe monitor { unsafe gdk_monitor_get_workarea(monitor, &area) }
        // Room for what a desktop puts around a window, too.
        return (max(320, area.width - 40), max(320, area.height - 60))
    }

    @discardableResult
    private static func end(_ report: PickerReport) -> Bool {
        Channel.send(report)
        exit(0)
    }
}
