import CGTK
import CaptureCore
import PickerMessages

/// The library as a scrolling grid: its pages are asked for as one scrolls, and pictures when they come into sight.
@safe @MainActor final class Grid {
    let widget: Widget
    private let box: Widget
    private let scrolling: UnsafeMutablePointer<GtkAdjustment>
    private var tiles: [Tile] = []
    private var byID: [String: Tile] = [:]
    /// The number of the page that is wanted; an answer with another one is to a question that was dropped.
    private var number = 0
    private var isWaiting = false
    /// Whether there is more than was shown, from `next` on.
    private var hasMore = true
    private var next: String?
    private var kind: MediaAssetKind?
    private var waitingPictures = 0
    private var isLooking = false
    /// Called for what was clicked, or pressed with the space bar or the enter key.
    var activated: @MainActor (Tile) -> Void = { _ in }

    /// How many pictures are under way at a time.
    private static let mostPictures = 8
    /// Until a page that failed is asked for again, in milliseconds.
    private static let pause: UInt32 = 2000

    init() {
        box = unsafe Widget(gtk_flow_box_new())
        unsafe gtk_flow_box_set_selection_mode(cgtk_flow_box(box.pointer), GTK_SELECTION_NONE)
        unsafe gtk_flow_box_set_homogeneous(cgtk_flow_box(box.pointer), 1)
        unsafe gtk_flow_box_set_max_children_per_line(cgtk_flow_box(box.pointer), 12)
        unsafe gtk_flow_box_set_row_spacing(cgtk_flow_box(box.pointer), 6)
        unsafe gtk_flow_box_set_column_spacing(cgtk_flow_box(box.pointer), 6)
        unsafe gtk_widget_set_valign(box.pointer, GTK_ALIGN_START)
        widget = unsafe Widget(gtk_scrolled_window_new(nil, nil))
        let scrolled = unsafe cgtk_scrolled_window(widget.pointer)
        unsafe gtk_scrolled_window_set_policy(scrolled, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        unsafe gtk_scrolled_window_set_shadow_type(scrolled, GTK_SHADOW_IN)
        unsafe scrolling = gtk_scrolled_window_get_vadjustment(scrolled)
        widget.hold(box)
        box.onEvent("child-activated") { [unowned self] child in
            let tile = tiles.first { unsafe UInt(bitPattern: $0.widget.pointer) == child }
            if let tile { activated(tile) }
            return false
        }
        for signal in ["value-changed", "changed"] {
            unsafe Handler.connect(scrolling, signal) { [unowned self] _ in
                lookSoon()
                return false
            }
        }
    }

    /// Shows the newest of a kind; of all without one.
    func restart(_ kind: MediaAssetKind? = nil) {
        for tile in tiles { unsafe gtk_widget_destroy(tile.widget.pointer) }
        (tiles, byID, self.kind, next, hasMore) = ([], [:], kind, nil, true)
        wantPage()
    }

    /// Takes a page.
    ///
    /// - Returns: Whether there is anything to see; `nil` for a page that is not wanted any more.
    func take(_ page: PickerPage, _ selection: PickerSelection) -> Bool? {
        guard page.number == number, isWaiting else { return nil }
        isWaiting = false
        next = page.next
        hasMore = next != nil
        for item in page.items where byID[item.id] == nil {
            let tile = Tile(item)
            tile.show(selection.mark(item))
            tiles.append(tile)
            byID[item.id] = tile
            unsafe gtk_flow_box_insert(cgtk_flow_box(box.pointer), tile.widget.pointer, -1)
            unsafe gtk_widget_show_all(tile.widget.pointer)
        }
        lookSoon()
        return !tiles.isEmpty || hasMore
    }

    /// Takes a picture.
    func take(_ jpeg: [UInt8]?, of id: String) {
        waitingPictures = max(0, waitingPictures - 1)
        if let jpeg { byID[id]?.show(jpeg: jpeg) }
        lookSoon()
    }

    /// Goes on after a page that could not be had: asks for it once more in a while.
    ///
    /// - Returns: Whether that page is still wanted.
    func takeFailure(of page: Int?) -> Bool {
        guard page == number, isWaiting else { return false }
        Handler.after(Grid.pause) { [unowned self] in
            guard page == number else { return }
            isWaiting = false
            look()
        }
        return true
    }

    /// Shows how everything stands.
    func show(_ selection: PickerSelection) {
        for tile in tiles { tile.show(selection.mark(tile.item)) }
    }

    /// Whether a tile has the focus.
    var hasFocus: Bool {
        guard let tile = unsafe gtk_container_get_focus_child(cgtk_container(box.pointer)) else { return false }
        return unsafe gtk_widget_has_focus(tile) != 0
    }

    func focus() {
        if let tile = tiles.first { unsafe gtk_widget_grab_focus(tile.widget.pointer) }
    }

    private func wantPage() {
        number += 1
        isWaiting = true
        Channel.send(.page(number: number, kind: kind, cursor: next))
    }

    /// Looks once, when the tiles have their places.
    private func lookSoon() {
        if isLooking { return }
        isLooking = true
        Handler.after(30) { [unowned self] in
            isLooking = false
            look()
        }
    }

    /// Asks for what is in sight, or about to be, and forgets pictures that are far from it.
    private func look() {
        let (top, height, end) = unsafe (
            gtk_adjustment_get_value(scrolling), gtk_adjustment_get_page_size(scrolling),
            gtk_adjustment_get_upper(scrolling)
        )
        for tile in tiles {
            let (from, to) = tile.reach
            let distance = max(Double(from) - top - height, top - Double(to))
            if distance > 8 * height {
                if tile.hasPicture { tile.clear() }
            } else if distance < height / 2, !tile.isAsked, waitingPictures < Grid.mostPictures {
                tile.isAsked = true
                waitingPictures += 1
                Channel.send(.picture(id: tile.item.id))
            }
        }
        if !isWaiting, hasMore, end - top < 3 * height { wantPage() }
    }
}
