import CGTK

/// A part of the window: GTK's calls, as few of them as the picker takes. Texts are always shown as they are, never taken
/// for markup.
@safe @MainActor struct Widget {
    let pointer: UnsafeMutablePointer<GtkWidget>

    init(_ pointer: UnsafeMutablePointer<GtkWidget>) {
        unsafe self.pointer = pointer
    }

    /// A line or more of text, from the left.
    static func label(_ text: String, _ classes: String..., lines: Bool = true) -> Widget {
        let label = unsafe Widget(gtk_label_new(text))
        unsafe gtk_label_set_xalign(cgtk_label(label.pointer), 0)
        if lines {
            unsafe gtk_label_set_line_wrap(cgtk_label(label.pointer), 1)
            unsafe gtk_label_set_line_wrap_mode(cgtk_label(label.pointer), PANGO_WRAP_WORD_CHAR)
        } else {
            unsafe gtk_label_set_ellipsize(cgtk_label(label.pointer), PANGO_ELLIPSIZE_END)
        }
        for name in classes { label.mark(name, true) }
        return label
    }

    /// At least so many characters wide. A window is as high as its texts are where they are narrowest.
    func wide(_ characters: Int32) -> Widget {
        unsafe gtk_label_set_width_chars(cgtk_label(pointer), characters)
        return self
    }

    /// A button whose label may have a `_` before the letter that presses it with Alt.
    static func button(_ text: String) -> Widget { unsafe Widget(gtk_button_new_with_mnemonic(text)) }

    /// A window in the middle of the screen; Escape closes it, too. Keys count once it has been in front for a moment in which
    /// none were typed.
    static func window(_ title: String, closed: @escaping @MainActor () -> Bool) -> Widget {
        let window = unsafe Widget(gtk_window_new(GTK_WINDOW_TOPLEVEL))
        unsafe gtk_window_set_title(cgtk_window(window.pointer), title)
        unsafe gtk_window_set_position(cgtk_window(window.pointer), GTK_WIN_POS_CENTER)
        let keys = Moment()
        window.on("focus-in-event") { keys.begin() }
        window.on("focus-out-event") { keys.stop() }
        window.onKey { _ in
            if keys.isOver { return false }
            keys.begin()
            return true
        }
        window.onEvent("delete-event") { _ in closed() }
        window.onKey { $0 == UInt32(GDK_KEY_Escape) && closed() }
        return window
    }

    static func column(_ spacing: Int32 = 0) -> Widget {
        unsafe Widget(gtk_box_new(GTK_ORIENTATION_VERTICAL, spacing))
    }

    static func row(_ spacing: Int32 = 0) -> Widget {
        unsafe Widget(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, spacing))
    }

    /// Puts another into this row or column.
    @discardableResult
    func add(_ part: Widget, grows: Bool = false) -> Widget {
        unsafe gtk_box_pack_start(cgtk_box(pointer), part.pointer, grows ? 1 : 0, 1, 0)
        return self
    }

    /// Puts another into this one, which holds one.
    @discardableResult
    func hold(_ part: Widget) -> Widget {
        unsafe gtk_container_add(cgtk_container(pointer), part.pointer)
        return self
    }

    /// Gives it a style's class, or takes it away.
    func mark(_ name: String, _ isMarked: Bool) {
        let context = unsafe gtk_widget_get_style_context(pointer)
        if isMarked {
            unsafe gtk_style_context_add_class(context, name)
        } else {
            unsafe gtk_style_context_remove_class(context, name)
        }
    }

    func setText(_ text: String) { unsafe gtk_label_set_text(cgtk_label(pointer), text) }

    func setLabel(_ text: String) { unsafe gtk_button_set_label(cgtk_button(pointer), text) }

    func setEnabled(_ isEnabled: Bool) { unsafe gtk_widget_set_sensitive(pointer, isEnabled ? 1 : 0) }

    func setShown(_ isShown: Bool) {
        unsafe gtk_widget_set_no_show_all(pointer, 1)
        unsafe gtk_widget_set_visible(pointer, isShown ? 1 : 0)
    }

    func setMargin(_ margin: Int32) {
        unsafe gtk_widget_set_margin_top(pointer, margin)
        unsafe gtk_widget_set_margin_bottom(pointer, margin)
        unsafe gtk_widget_set_margin_start(pointer, margin)
        unsafe gtk_widget_set_margin_end(pointer, margin)
    }

    func align(_ horizontal: GtkAlign, _ vertical: GtkAlign) {
        unsafe gtk_widget_set_halign(pointer, horizontal)
        unsafe gtk_widget_set_valign(pointer, vertical)
    }

    /// Calls a handler for a signal from now on.
    func on(_ signal: String, _ body: @escaping @MainActor () -> Void) {
        onEvent(signal) { _ in
            body()
            return false
        }
    }

    /// The same with the address of the signal's first argument; the handler says whether that was all.
    func onEvent(_ signal: String, _ body: @escaping @MainActor (UInt) -> Bool) {
        unsafe Handler.connect(pointer, signal, body)
    }

    /// Calls a handler for each key, before the part that has the focus; the handler says whether that was all.
    func onKey(_ body: @escaping @MainActor (UInt32) -> Bool) {
        onEvent("key-press-event") { event in
            var key: UInt32 = 0
            let event = unsafe UnsafePointer<GdkEvent>(bitPattern: event)
            return unsafe gdk_event_get_keyval(event, &key) != 0 && body(key)
        }
    }
}

/// What a signal calls.
@MainActor final class Handler {
    private let body: @MainActor (UInt) -> Bool

    private init(_ body: @escaping @MainActor (UInt) -> Bool) {
        self.body = body
    }

    /// Connects a handler, which stays for as long as the process does.
    static func connect(
        _ object: UnsafeMutableRawPointer,
        _ signal: String,
        _ body: @escaping @MainActor (UInt) -> Bool
    ) {
        let handler = unsafe Unmanaged.passRetained(Handler(body)).toOpaque()
        unsafe cgtk_connect(
            object,
            signal,
            { data, argument in
                let (data, argument) = (UInt(bitPattern: data), UInt(bitPattern: argument))
                // GTK calls on the thread that it was started on.
                return MainActor.assumeIsolated { Handler.call(data, argument) }
            },
            handler
        )
    }

    /// Calls a handler once, after some milliseconds.
    static func after(_ milliseconds: UInt32, _ body: @escaping @MainActor () -> Void) {
        let handler = Handler { _ in
            body()
            return false
        }
        unsafe g_timeout_add(
            milliseconds,
            { data in
                let data = UInt(bitPattern: data)
                return MainActor.assumeIsolated {
                    defer { unsafe Unmanaged<Handler>.fromOpaque(Handler.address(data)).release() }
                    return Handler.call(data, 0)
                }
            },
            Unmanaged.passRetained(handler).toOpaque()
        )
    }

    /// Calls a handler whenever a descriptor has something to read or is at its end.
    static func whenReadable(_ descriptor: Int32, _ body: @escaping @MainActor () -> Void) {
        let handler = Handler { _ in
            body()
            return true
        }
        unsafe g_unix_fd_add(
            descriptor,
            GIOCondition(rawValue: G_IO_IN.rawValue | G_IO_HUP.rawValue | G_IO_ERR.rawValue),
            { _, _, data in
                let data = UInt(bitPattern: data)
                return MainActor.assumeIsolated { Handler.call(data, 0) }
            },
            Unmanaged.passRetained(handler).toOpaque()
        )
    }

    private static func call(_ data: UInt, _ argument: UInt) -> gboolean {
        unsafe Unmanaged<Handler>.fromOpaque(address(data)).takeUnretainedValue().body(argument) ? 1 : 0
    }

    private static func address(_ number: UInt) -> UnsafeRawPointer {
        // Of an object that was retained for this.
        unsafe UnsafeRawPointer(bitPattern: number).unsafelyUnwrapped
    }
}
