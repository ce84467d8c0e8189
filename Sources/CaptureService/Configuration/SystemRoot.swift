import CaptureSystem

/// The file system as the rest of the machine sees it.
///
/// The system's daemon lives in a mount namespace from which home and temporary directories are hidden, so programs'
/// files are looked for with the eyes of process 1, which takes CAP_SYS_PTRACE.
struct SystemRoot: Sendable {
    /// What stands before a path to reach it from here; empty for this process's own view.
    let prefix: String
    /// Where that root lies among this process's mounts: empty but for a system that was started below another root,
    /// of which the kernel names files by their whole path.
    private let place: String

    /// The view of process 1, or this process's own.
    init(ofProcessOne: Bool) {
        prefix = ofProcessOne ? "/proc/1/root" : ""
        let link = ofProcessOne ? Files.link(at: prefix) ?? "/" : "/"
        place = link == "/" ? "" : link
    }

    /// A path as `/proc/PID/exe` gives it to this process, below the system's root. One that lies elsewhere is left as it
    /// is, and will not be found there.
    func path(of link: String) -> String {
        !place.isEmpty && link.hasPrefix(place + "/") ? String(link.dropFirst(place.count)) : link
    }
}
