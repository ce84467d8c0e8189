import CGTK
import CaptureCore
import CaptureSystem
import Glibc
import PickerMessages

// Must come first: the next file would take the number of a closed standard descriptor.
StandardDescriptors.fill()

// The window of `capturectl agent --desktop`, which starts it for each question: orders come on standard input, reports go
// to standard output, a line of JSON each. It knows the library by what the agent tells it, and speaks to nobody else.
if CommandLine.arguments.count != 1 {
    Channel.fail("takes no arguments; 'capturectl agent --desktop' starts it and tells it what to show", 64)
}
// A closed pipe is the agent's end, which is seen at the next write.
_ = signal(SIGPIPE, SIG_IGN)
unsafe g_set_prgname("captured-picker")
if gtk_init_check(nil, nil) == 0 {
    Channel.send(.unable(message: "there is no screen: neither WAYLAND_DISPLAY nor DISPLAY names one that opens"))
    exit(69)
}
unsafe gtk_window_set_default_icon_name("folder-pictures")
Style.apply()
var window: (@MainActor (PickerOrder) -> Void)?
Channel.listen { order in
    if let window {
        window(order)
    } else if case .question(let question) = order {
        window = question.purpose == .take ? TakingWindow(question).take : PickerWindow(question).take
    } else {
        Channel.fail("standard input: the first order must be the question", 65)
    }
}
Channel.send(.ready)
gtk_main()
