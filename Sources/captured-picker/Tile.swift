import CGTK
import CaptureCore
import PickerMessages

/// An asset in the grid: its picture, its name, when it was taken, and how it stands.
@MainActor final class Tile {
    /// The most room that a picture takes, in pixels.
    static let size: (width: Int32, height: Int32) = (176, 132)

    let item: PickerItem
    let widget: Widget
    private let picture: Widget
    private let badge: Widget
    private let placeholder: Widget
    /// Whether its picture was asked for.
    var isAsked = false
    private(set) var hasPicture = false
    private var mark: PickerSelection.Mark?

    init(_ item: PickerItem) {
        self.item = item
        picture = unsafe Widget(gtk_image_new())
        unsafe gtk_widget_set_size_request(picture.pointer, Tile.size.width, Tile.size.height)
        picture.mark("picture", true)
        badge = Widget.label("", "badge")
        unsafe gtk_label_set_xalign(cgtk_label(badge.pointer), 0.5)
        badge.align(GTK_ALIGN_END, GTK_ALIGN_START)
        placeholder = Widget.label(Tile.symbol(item.kind), "placeholder")
        unsafe gtk_label_set_xalign(cgtk_label(placeholder.pointer), 0.5)
        placeholder.align(GTK_ALIGN_CENTER, GTK_ALIGN_CENTER)
        let frame = unsafe Widget(gtk_overlay_new()).hold(picture)
        for part in [placeholder, badge] {
            unsafe gtk_overlay_add_overlay(cgtk_overlay(frame.pointer), part.pointer)
        }
        let name = Widget.label(item.name, lines: false)
        unsafe gtk_label_set_max_width_chars(cgtk_label(name.pointer), 1)
        unsafe gtk_widget_set_tooltip_text(name.pointer, item.name)
        let date = Widget.label(Tile.words(item), "dim-label", lines: false)
        let column = Widget.column(2).add(frame).add(name).add(date)
        widget = unsafe Widget(gtk_flow_box_child_new()).hold(column)
        widget.align(GTK_ALIGN_CENTER, GTK_ALIGN_START)
    }

    /// Shows how it stands.
    func show(_ mark: PickerSelection.Mark) {
        if mark == self.mark { return }
        self.mark = mark
        let marks: [(PickerSelection.Mark, name: String, sign: String)] = [
            (.none, "", ""), (.picked, "picked", "✓"), (.readable, "readable", "+"), (.dropped, "dropped", "−"),
        ]
        for (each, name, sign) in marks {
            if !name.isEmpty { widget.mark(name, each == mark) }
            guard each == mark else { continue }
            badge.setText(sign)
            let words = [item.name, Tile.words(item), name].filter { !$0.isEmpty }.joined(separator: ", ")
            unsafe atk_object_set_name(gtk_widget_get_accessible(widget.pointer), words)
        }
        badge.setShown(mark != .none)
    }

    /// Shows its picture; nothing for what is no JPEG.
    func show(jpeg: [UInt8]) {
        guard Tile.show(jpeg, in: picture, Tile.size) else { return }
        placeholder.mark("over", true)
        placeholder.setShown(item.kind != .photo)
        hasPicture = true
    }

    /// Shows a JPEG in an image, as large as fits.
    ///
    /// - Returns: Whether it is one.
    @discardableResult
    static func show(_ jpeg: [UInt8], in image: Widget, _ most: (width: Int32, height: Int32)) -> Bool {
        let scale = unsafe gtk_widget_get_scale_factor(image.pointer)
        guard let pixels = unsafe decode(jpeg, (most.width * scale, most.height * scale)) else { return false }
        defer { unsafe g_object_unref(UnsafeMutableRawPointer(pixels)) }
        let surface = unsafe gdk_cairo_surface_create_from_pixbuf(pixels, scale, nil)
        unsafe gtk_image_set_from_surface(cgtk_image(image.pointer), surface)
        unsafe cairo_surface_destroy(surface)
        return true
    }

    /// Forgets its picture, until it is asked for again.
    func clear() {
        unsafe gtk_image_clear(cgtk_image(picture.pointer))
        placeholder.mark("over", false)
        placeholder.setShown(true)
        (isAsked, hasPicture) = (false, false)
    }

    /// From where to where it reaches in the grid, from its upper edge, in pixels.
    var reach: (from: Int32, to: Int32) {
        var place = GtkAllocation()
        unsafe gtk_widget_get_allocation(widget.pointer, &place)
        return (place.y, place.y + place.height)
    }

    /// The pixels of a JPEG, made as large as fits.
    private static func decode(_ jpeg: [UInt8], _ most: (width: Int32, height: Int32)) -> OpaquePointer? {
        guard let loader = unsafe gdk_pixbuf_loader_new_with_type("jpeg", nil) else { return nil }
        defer { unsafe g_object_unref(loader) }
        let isTaken = unsafe gdk_pixbuf_loader_write(loader, jpeg, gsize(jpeg.count), nil) != 0
        // It is to be closed in any case.
        guard unsafe gdk_pixbuf_loader_close(loader, nil) != 0, isTaken,
            let pixels = unsafe gdk_pixbuf_loader_get_pixbuf(loader)
        else { return nil }
        let (width, height) = unsafe (gdk_pixbuf_get_width(pixels), gdk_pixbuf_get_height(pixels))
        guard width > 0, height > 0 else { return nil }
        let factor = min(Double(most.width) / Double(width), Double(most.height) / Double(height))
        return unsafe gdk_pixbuf_scale_simple(
            pixels,
            max(1, Int32(Double(width) * factor)),
            max(1, Int32(Double(height) * factor)),
            GDK_INTERP_BILINEAR
        )
    }

    /// What stands where there is no picture, and on those that are not all of it.
    private static func symbol(_ kind: MediaAssetKind) -> String {
        switch kind {
        case .photo: "…"
        case .movie: "▶"
        case .sound: "♪"
        }
    }

    /// When it was taken in the person's time zone, and how long it is, as in `1 May 2026, 14:03 · 0:09`.
    private static func words(_ item: PickerItem) -> String {
        var words: [String] = []
        if let date = unsafe g_date_time_new_from_unix_local(Int(item.created / 1000)) {
            if let text = unsafe g_date_time_format(date, "%-e %b %Y, %H:%M") {
                unsafe words.append(String(cString: text))
                unsafe g_free(text)
            }
            unsafe g_date_time_unref(date)
        }
        if item.kind != .photo {
            let seconds = max(0, item.duration / 1_000_000_000)
            words.append("\(seconds / 60):\(String(seconds % 60, digits: 2))")
        }
        return words.joined(separator: " · ")
    }
}
