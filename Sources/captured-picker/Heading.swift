import CGTK
import PickerMessages

/// What stands above in every window: who asks, for what, and what is known of the program.
@MainActor enum Heading {
    static func widget(_ question: PickerQuestion) -> Widget {
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
        let expander = unsafe Widget(gtk_expander_new_with_mnemonic("_Details"))
        expander.hold(facts)
        return heading.add(expander)
    }

    /// What the screen has room for, in pixels.
    static var room: (width: Int32, height: Int32) {
        var area = GdkRectangle(x: 0, y: 0, width: 860, height: 680)
        let display = unsafe gdk_display_get_default()
        let monitor = unsafe gdk_display_get_primary_monitor(display) ?? gdk_display_get_monitor(display, 0)
        if let monitor = unsafe monitor { unsafe gdk_monitor_get_workarea(monitor, &area) }
        // Room for what a desktop puts around a window, too.
        return (max(320, area.width - 40), max(320, area.height - 60))
    }
}
