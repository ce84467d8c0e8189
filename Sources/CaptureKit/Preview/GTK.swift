import CaptureCore
import Glibc

/// The functions of GTK 4 that previews call. They are looked up for the first preview, so that a program that shows none
/// needs no GTK.
///
/// GTK's objects belong to the thread that GTK runs on. `later` may be called anywhere.
@safe
struct GTK: @unchecked Sendable {
    /// The address of one of GTK's objects, 0 for none. Numbers cross threads, and to C they are what pointers are.
    typealias Object = UInt
    /// A handler of a signal without arguments of its own: who sends it, and what was connected.
    typealias Handler = @convention(c) (Object, UnsafeMutableRawPointer?) -> Int32
    /// A handler of `key-pressed`: who sends it, the key's value, its code, modifiers, and what was connected.
    typealias KeyHandler = @convention(c) (Object, UInt32, UInt32, UInt32, UnsafeMutableRawPointer?) -> Int32
    typealias Source = @convention(c) (UnsafeMutableRawPointer?) -> Int32
    typealias Release = @convention(c) (UnsafeMutableRawPointer?) -> Void

    /// GTK 4, or why it cannot be had.
    static let loaded: Result<GTK, CaptureError> = {
        do throws(CaptureError) { return .success(try GTK()) } catch { return .failure(error) }
    }()

    /// GDK_MEMORY_B8G8R8A8_PREMULTIPLIED, which an opaque picture of `PixelFormat.bgra32` is.
    static let pixels: Int32 = 0
    /// Pixels along the edges of a picture up to which it is copied.
    static let largestCopy = 512
    /// GDK_PRIORITY_REDRAW: behind what the person does.
    static let priority: Int32 = 120
    /// Escape, q and Q.
    static let closingKeys: [UInt32] = [0xff1b, 0x71, 0x51]

    let disableLocale: @convention(c) () -> Void
    let initialize: @convention(c) () -> Int32
    let display: @convention(c) () -> Object
    let programName: @convention(c) () -> UnsafePointer<CChar>?
    let setProgramName: @convention(c) (UnsafePointer<CChar>?) -> Void
    let isInitialized: @convention(c) () -> Int32
    let iterate: @convention(c) (Object, Int32) -> Int32
    let addIdle: @convention(c) (Int32, Source, UnsafeMutableRawPointer?, Release?) -> UInt32
    let addTimeout: @convention(c) (Int32, UInt32, Source, UnsafeMutableRawPointer?, Release?) -> UInt32
    let sink: @convention(c) (Object) -> Object
    let release: @convention(c) (Object) -> Void
    let connectSignal:
        @convention(c) (
            Object, UnsafePointer<CChar>, UnsafeMutableRawPointer, UnsafeMutableRawPointer?,
            (@convention(c) (UnsafeMutableRawPointer?, Object) -> Void)?, UInt32
        ) -> UInt
    let makeBytes: @convention(c) (UnsafeRawPointer?, Int, Release?, UnsafeMutableRawPointer?) -> Object
    let copyBytes: @convention(c) (UnsafeRawPointer?, Int) -> Object
    let releaseBytes: @convention(c) (Object) -> Void
    let makeTexture: @convention(c) (Int32, Int32, Int32, Object, Int) -> Object
    let makePicture: @convention(c) () -> Object
    let setPaintable: @convention(c) (Object, Object) -> Void
    let setAlternative: @convention(c) (Object, UnsafePointer<CChar>?) -> Void
    let makeOverlay: @convention(c) () -> Object
    let setOverlayChild: @convention(c) (Object, Object) -> Void
    let addOverlay: @convention(c) (Object, Object) -> Void
    let makeLabel: @convention(c) (UnsafePointer<CChar>?) -> Object
    let setText: @convention(c) (Object, UnsafePointer<CChar>) -> Void
    let setWrap: @convention(c) (Object, Int32) -> Void
    let setVisible: @convention(c) (Object, Int32) -> Void
    let setExpandAcross: @convention(c) (Object, Int32) -> Void
    let setExpandDown: @convention(c) (Object, Int32) -> Void
    let width: @convention(c) (Object) -> Int32
    let height: @convention(c) (Object) -> Int32
    let scale: @convention(c) (Object) -> Int32
    let makeWindow: @convention(c) () -> Object
    let setTitle: @convention(c) (Object, UnsafePointer<CChar>?) -> Void
    let setIcon: @convention(c) (Object, UnsafePointer<CChar>?) -> Void
    let setDefaultSize: @convention(c) (Object, Int32, Int32) -> Void
    let setWindowChild: @convention(c) (Object, Object) -> Void
    let present: @convention(c) (Object) -> Void
    let destroy: @convention(c) (Object) -> Void
    let makeKeyController: @convention(c) () -> Object
    let addController: @convention(c) (Object, Object) -> Void

    private init() throws(CaptureError) {
        // Both in one process end it.
        if let other = unsafe dlopen("libgtk-3.so.0", RTLD_LAZY | RTLD_NOLOAD) {
            unsafe dlclose(other)
            throw CaptureError(.inputOutput, "a preview is a widget of GTK 4, and this program runs GTK 3")
        }
        guard let library = unsafe dlopen("libgtk-4.so.1", RTLD_LAZY | RTLD_GLOBAL) else {
            throw CaptureError(.inputOutput, "a preview needs GTK 4, which is not installed (Debian: libgtk-4-1)")
        }
        func find<Function>(_ name: String) throws(CaptureError) -> Function {
            guard let place = unsafe dlsym(library, name) else {
                throw CaptureError(.inputOutput, "a preview needs GTK 4, and the one installed has no \(name)")
            }
            return unsafe unsafeBitCast(place, to: Function.self)
        }
        disableLocale = try find("gtk_disable_setlocale")
        initialize = try find("gtk_init_check")
        display = try find("gdk_display_get_default")
        unsafe programName = try find("g_get_prgname")
        unsafe setProgramName = try find("g_set_prgname")
        isInitialized = try find("gtk_is_initialized")
        iterate = try find("g_main_context_iteration")
        unsafe addIdle = try find("g_idle_add_full")
        unsafe addTimeout = try find("g_timeout_add_full")
        sink = try find("g_object_ref_sink")
        release = try find("g_object_unref")
        unsafe connectSignal = try find("g_signal_connect_data")
        unsafe makeBytes = try find("g_bytes_new_with_free_func")
        unsafe copyBytes = try find("g_bytes_new")
        releaseBytes = try find("g_bytes_unref")
        makeTexture = try find("gdk_memory_texture_new")
        makePicture = try find("gtk_picture_new")
        setPaintable = try find("gtk_picture_set_paintable")
        unsafe setAlternative = try find("gtk_picture_set_alternative_text")
        makeOverlay = try find("gtk_overlay_new")
        setOverlayChild = try find("gtk_overlay_set_child")
        addOverlay = try find("gtk_overlay_add_overlay")
        unsafe makeLabel = try find("gtk_label_new")
        unsafe setText = try find("gtk_label_set_text")
        setWrap = try find("gtk_label_set_wrap")
        setVisible = try find("gtk_widget_set_visible")
        setExpandAcross = try find("gtk_widget_set_hexpand")
        setExpandDown = try find("gtk_widget_set_vexpand")
        width = try find("gtk_widget_get_width")
        height = try find("gtk_widget_get_height")
        scale = try find("gtk_widget_get_scale_factor")
        makeWindow = try find("gtk_window_new")
        unsafe setTitle = try find("gtk_window_set_title")
        unsafe setIcon = try find("gtk_window_set_icon_name")
        setDefaultSize = try find("gtk_window_set_default_size")
        setWindowChild = try find("gtk_window_set_child")
        present = try find("gtk_window_present")
        destroy = try find("gtk_window_destroy")
        makeKeyController = try find("gtk_event_controller_key_new")
        addController = try find("gtk_widget_add_controller")
    }

    /// What a source of GTK's loop carries.
    private final class Carried: Sendable {
        let body: @Sendable () -> Bool
        init(_ body: @escaping @Sendable () -> Bool) { self.body = body }

        static let call: Source = { data in
            guard let data = unsafe data else { return 0 }
            return unsafe Unmanaged<Carried>.fromOpaque(data).takeUnretainedValue().body() ? 1 : 0
        }
        static let letGo: Release = { data in
            if let data = unsafe data { unsafe Unmanaged<Carried>.fromOpaque(data).release() }
        }
    }

    /// Calls something on GTK's thread, once, when that has nothing more urgent to do. Thread-safe.
    func later(_ body: @escaping @Sendable () -> Void) {
        let carried = Carried {
            body()
            return false
        }
        _ = unsafe addIdle(
            GTK.priority,
            Carried.call,
            Unmanaged.passRetained(carried).toOpaque(),
            Carried.letGo
        )
    }

    /// Calls something on GTK's thread every so many milliseconds until it returns false. Thread-safe.
    func every(milliseconds: UInt32, _ body: @escaping @Sendable () -> Bool) {
        _ = unsafe addTimeout(
            GTK.priority,
            milliseconds,
            Carried.call,
            Unmanaged.passRetained(Carried(body)).toOpaque(),
            Carried.letGo
        )
    }

    /// A texture of a frame, which it holds; 0 for a frame that is not as `pixels` has it.
    func texture(of frame: VideoFrame) -> Object {
        guard frame.format.pixelFormat == .bgra32, let plane = frame.planes.first, plane.width > 0, plane.height > 0,
            plane.stride >= plane.width * 4,
            unsafe plane.bytes.count >= (plane.height - 1) * plane.stride + plane.width * 4
        else { return 0 }
        final class Held: Sendable {
            let frame: VideoFrame
            init(_ frame: VideoFrame) { self.frame = frame }
        }
        // GTK keeps small pictures in a cache, for longer than there are frames to hold.
        let isSmall = max(plane.width, plane.height) <= GTK.largestCopy
        let bytes =
            unsafe isSmall
            ? copyBytes(plane.bytes.baseAddress, plane.bytes.count)
            : makeBytes(
                plane.bytes.baseAddress,
                plane.bytes.count,
                { data in if let data = unsafe data { unsafe Unmanaged<Held>.fromOpaque(data).release() } },
                Unmanaged.passRetained(Held(frame)).toOpaque()
            )
        defer { releaseBytes(bytes) }
        return makeTexture(Int32(plane.width), Int32(plane.height), GTK.pixels, bytes, plane.stride)
    }
}
