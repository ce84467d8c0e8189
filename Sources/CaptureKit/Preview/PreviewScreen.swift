import CaptureCore
import Synchronization

/// What a preview shows: the newest frame, or nothing and why. Frames come on a data output's thread; the widgets are
/// touched on GTK's alone.
final class PreviewScreen: @unchecked Sendable {
    /// Nanoseconds without a new frame after which the picture is removed: a session that was suspended shows nothing.
    private static let patience: Int64 = 2_000_000_000
    /// Of a slow camera's frames, the longest interval that is waited for; in nanoseconds, too.
    private static let longestInterval: Int64 = 10_000_000_000

    private enum Update: Sendable {
        case frame(VideoFrame)
        case nothing(String)
    }

    /// The widget, which holds the picture and a line of text above it.
    let widget: GTK.Object
    private let gtk: GTK
    private let picture: GTK.Object
    private let label: GTK.Object
    private let next = Mutex<Update?>(nil)
    private let failed: @Sendable (CaptureError) -> Void
    private let began: @Sendable (_ width: Int, _ height: Int) -> Void
    /// Asked for frames of the size that is shown.
    weak var output: VideoDataOutput?
    private var hasBegun = false
    /// Its window is gone.
    private var isOver = false
    /// When the picture that is shown came; `nil` when none is.
    private var shown: (since: Timestamp, patience: Int64)?
    private var isWatched = false

    /// An empty screen.
    ///
    /// - Parameters:
    ///   - failed: Called on the output's thread when no more comes, and that was not asked for.
    ///   - began: Called on GTK's thread before something is shown for the first time, with the size that it takes.
    init(
        _ gtk: GTK,
        failed: @escaping @Sendable (CaptureError) -> Void = { _ in },
        began: @escaping @Sendable (_ width: Int, _ height: Int) -> Void = { _, _ in }
    ) {
        self.gtk = gtk
        self.failed = failed
        self.began = began
        widget = gtk.sink(gtk.makeOverlay())
        picture = gtk.makePicture()
        unsafe label = gtk.makeLabel("")
        unsafe gtk.setAlternative(picture, "What the camera sees")
        gtk.setWrap(label, 1)
        gtk.setOverlayChild(widget, picture)
        gtk.addOverlay(widget, label)
        gtk.setExpandAcross(widget, 1)
        gtk.setExpandDown(widget, 1)
    }

    deinit {
        let (gtk, widget) = (gtk, widget)
        gtk.later { gtk.release(widget) }
    }

    /// Takes what an output brings.
    func take(_ event: DataOutputEvent<VideoFrame>) {
        switch event {
        case .data(let frame): put(.frame(frame))
        case .dropped: return
        case .ended(let error):
            put(.nothing(error?.message ?? ""))
            if let error { failed(error) }
        }
    }

    /// Shows a text in the place of a picture.
    func tell(_ text: String) { put(.nothing(text)) }

    private func put(_ update: Update) {
        let before = next.withLock { next in
            defer { next = update }
            return next
        }
        if before == nil { gtk.later { [weak self] in self?.show() } }
    }

    private func show() {
        guard let update = next.withLock({ $0.take() }), !isOver else { return }
        switch update {
        case .frame(let frame): show(frame)
        case .nothing(let reason): clear(reason)
        }
    }

    private func show(_ frame: VideoFrame) {
        let texture = gtk.texture(of: frame)
        guard texture != 0 else { return clear("a frame cannot be shown") }
        begin(frame.format.width, frame.format.height)
        gtk.setPaintable(picture, texture)
        gtk.release(texture)
        if shown == nil { gtk.setVisible(label, 0) }
        shown = (.now, PreviewScreen.patience(frame.format.interval.nanoseconds))
        if !isWatched { watch() }
        fit(frame)
    }

    private static func patience(_ interval: Int64) -> Int64 {
        max(patience, 3 * min(max(interval, 0), longestInterval))
    }

    /// Has the widget say so if no frame comes. To be called on GTK's thread.
    func expectFrame() {
        if shown == nil { shown = (.now, PreviewScreen.patience) }
        if !isWatched { watch() }
    }

    /// Shows nothing any more. To be called on GTK's thread.
    func end() {
        isOver = true
        gtk.setPaintable(picture, 0)
        shown = nil
    }

    private func begin(_ width: Int, _ height: Int) {
        if !hasBegun { began(width, height) }
        hasBegun = true
    }

    private func clear(_ reason: String) {
        if !reason.isEmpty { begin(640, 360) }
        gtk.setPaintable(picture, 0)
        unsafe gtk.setText(label, Printable.text(reason, limit: 2000))
        gtk.setVisible(label, 1)
        shown = nil
    }

    private func watch() {
        isWatched = true
        gtk.every(milliseconds: 500) { [weak self] in
            guard let self, !isOver else { return false }
            if let shown, Timestamp.now - shown.since > shown.patience { clear("no picture comes from the camera") }
            isWatched = shown != nil
            return isWatched
        }
    }

    /// Asks for frames of the widget's size where the camera's are larger. That is only known of frames that are not
    /// made smaller, so in a widget that has grown they first come as they are.
    private func fit(_ frame: VideoFrame) {
        guard let output else { return }
        let scale = Int(gtk.scale(widget))
        let (across, down) = (Int(gtk.width(widget)) * scale, Int(gtk.height(widget)) * scale)
        guard across > 0, down > 0 else { return }
        let now = (width: frame.format.width, height: frame.format.height)
        let fitting = max(2, min(across, down * now.width / now.height, VideoSettings.sizes.upperBound))
        if fitting < now.width {
            ask(fitting)
        } else if fitting > now.width * 9 / 8, output.videoSettings.width == now.width {
            ask(nil)
        }
    }

    private func ask(_ width: Int?) {
        if let settings = try? VideoSettings(pixelFormat: .bgra32, width: width) { output?.videoSettings = settings }
    }
}
