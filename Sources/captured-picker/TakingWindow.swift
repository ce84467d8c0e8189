import CGTK
import CaptureCore
import PickerMessages

/// The window in which a person takes a photo or movie.
@MainActor final class TakingWindow {
    /// The most room that the camera's picture takes, in pixels.
    private static let most: (width: Int32, height: Int32) = (640, 480)

    private let picture: Widget
    private let status = Widget.label("", "dim-label")
    private let choice = unsafe Widget(gtk_combo_box_text_new())
    private let cancel = Widget.button("_Cancel")
    private let again = Widget.button("Take _Another")
    private let action = Widget.button("")
    private let size: (width: Int32, height: Int32)
    private let isMovie: Bool
    private var stage = PickerStage.asked(cameras: [])
    /// Since the button does what it does now: a double click is one.
    private lazy var sight = Moment { [unowned self] in show() }
    /// Whether what was wanted last is still being done.
    private var isWaiting = false

    init(_ question: PickerQuestion) {
        isMovie = question.kinds == [.movie]
        picture = unsafe Widget(gtk_image_new())
        let room = Heading.room
        size = (min(TakingWindow.most.width, room.width - 40), min(TakingWindow.most.height, room.height - 260))
        unsafe gtk_widget_set_size_request(picture.pointer, size.width, size.height)
        picture.mark("picture", true)
        let window = Widget.window(question.headline) { PickerWindow.end(.closed) }
        action.mark("suggested-action", true)
        let buttons = Widget.row(8).add(choice).add(status, grows: true).add(cancel).add(again).add(action)
        let column = Widget.column(10).add(Heading.widget(question)).add(picture, grows: true).add(buttons)
        column.setMargin(16)
        window.hold(column)
        window.on("map-event") { [unowned self] in sight.begin() }
        cancel.on("clicked") { PickerWindow.end(.closed) }
        again.on("clicked") { Channel.send(.again) }
        action.on("clicked") { [unowned self] in advance() }
        choice.setShown(false)
        again.setShown(false)
        unsafe gtk_widget_show_all(window.pointer)
        show()
        unsafe gtk_window_present(cgtk_window(window.pointer))
    }

    /// Takes what the agent says after the question.
    func take(_ order: PickerOrder) {
        switch order {
        case .question: Channel.fail("standard input: a second question", 65)
        case .page, .picture: Channel.fail("standard input: the library is not shown for this question", 65)
        case .failed(let message, _):
            isWaiting = false
            show()
            status.setText(message)
        case .stage(let stage):
            self.stage = stage
            isWaiting = false
            if case .asked(let cameras) = stage { offer(cameras) }
            sight.begin()
            show()
        case .frame(let jpeg):
            // Never larger than what was asked for: the window would grow with it.
            Tile.show(jpeg.bytes, in: picture, size)
        }
    }

    private func offer(_ cameras: [PickerCamera]) {
        for camera in cameras {
            unsafe gtk_combo_box_text_append(cgtk_combo_box_text(choice.pointer), camera.id, camera.name)
        }
        unsafe gtk_combo_box_set_active(cgtk_combo_box(choice.pointer), 0)
    }

    private func advance() {
        if case .taken = stage { PickerWindow.end(.handOver) }
        var camera: String?
        if case .asked = stage, let id = unsafe gtk_combo_box_get_active_id(cgtk_combo_box(choice.pointer)) {
            unsafe camera = String(cString: id)
        }
        isWaiting = true
        show()
        Channel.send(.advance(camera: camera))
    }

    /// Shows what can be done.
    private func show() {
        var (isAsked, isTaken, cameras) = (false, false, 0)
        let (label, text): (String, String)
        switch stage {
        case .asked(let all):
            (isAsked, cameras) = (true, all.count)
            (label, text) = ("_Turn the Camera On", all.isEmpty ? "There is no camera." : "The camera is off.")
        case .viewing: (label, text) = (isMovie ? "_Record" : "_Take Photo", "Only you see this.")
        case .recording: (label, text) = ("_Stop", "Recording…")
        case .taken(let remark):
            isTaken = true
            let whole = isMovie ? "The movie was recorded." : "The photo was taken."
            (label, text) = ("_Hand Over", remark.map { "Not all of it was recorded: \($0)." } ?? whole)
        }
        action.setLabel(label)
        status.setText(text)
        action.setEnabled(sight.isOver && !isWaiting && (!isAsked || cameras > 0))
        again.setShown(isTaken)
        choice.setShown(isAsked && cameras > 1)
    }
}
