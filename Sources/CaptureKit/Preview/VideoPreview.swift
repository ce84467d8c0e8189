import CaptureCore
import Glibc

/// A widget of GTK 4 that shows a camera while a session runs.
///
/// Add `output` to a session, and `widget` to a window. The widget keeps the picture's proportions and takes the room that
/// is there. It shows only what comes: after a withdrawal, a failure or the end of the session, the picture is gone and
/// the reason stands in its place. When no frame has come for two seconds, the picture goes, too.
///
/// GTK is loaded when the first preview is made, so a program without previews needs none. Frames are converted on the
/// output's thread and never wait for GTK: a busy loop shows fewer of them. `tell` is thread-safe; make the preview and
/// use its widget on GTK's thread.
public final class VideoPreview: Sendable {
    /// The output that feeds it.
    public let output: VideoDataOutput
    let screen: PreviewScreen

    /// A preview, which shows nothing yet.
    ///
    /// Call it on the thread that runs GTK. GTK is initialized if it was not.
    ///
    /// - Parameter name: The output's name in the session.
    /// - Throws: `inputOutput` if there is no GTK 4 or no display, or if the process runs GTK 3.
    public convenience init(name: String = "preview") throws(CaptureError) {
        let gtk = try GTK.loaded.get()
        if gtk.isInitialized() == 0 || gtk.display() == 0 { try gtk.begin() }
        self.init(gtk, name: name)
    }

    init(
        _ gtk: GTK,
        name: String,
        failed: @escaping @Sendable (CaptureError) -> Void = { _ in },
        began: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
    ) {
        screen = PreviewScreen(gtk, failed: failed, began: began)
        output = VideoDataOutput(name: name, settings: VideoPreview.settings)
        screen.output = output
        output.keep { [screen] in screen.take($0) }
    }

    private static let settings = (try? VideoSettings(pixelFormat: .bgra32)) ?? .camera

    /// Shows a text in the place of a picture, until the next frame. Thread-safe.
    public func tell(_ text: String) { screen.tell(text) }

    /// The widget: a `GtkWidget *`, valid as long as the preview is. To be used on GTK's thread.
    public var widget: OpaquePointer? { unsafe OpaquePointer(bitPattern: screen.widget) }
}

extension GTK {
    /// Initializes GTK, for this thread. The process's locale stays as it is.
    func begin() throws(CaptureError) {
        disableLocale()
        // Desktops identify a window's program by this name.
        if unsafe programName() == nil, let name = CommandLine.arguments.first?.split(separator: "/").last {
            unsafe setProgramName(String(name))
        }
        // After a failure GTK calls itself initialized, but has no display.
        guard initialize() != 0, display() != 0 else {
            let named = ["WAYLAND_DISPLAY", "DISPLAY"].compactMap { (name: String) -> String? in
                unsafe getenv(name).map { unsafe "\(name) is '\(String(cString: $0))'" }
            }
            let why = named.isEmpty ? "neither DISPLAY nor WAYLAND_DISPLAY is set" : named.joined(separator: ", ")
            throw CaptureError(.inputOutput, "no display can be opened for a preview: \(why)")
        }
    }
}
