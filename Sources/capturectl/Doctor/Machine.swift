import CaptureSystem
import Glibc

/// The parts of the file system that the doctor looks at, below a root that tests choose.
struct Machine {
    /// Empty for the machine itself.
    var root = ""

    /// Whether something is there.
    func exists(_ path: String) -> Bool {
        unsafe Glibc.access(root + path, F_OK) == 0
    }

    /// The first of some paths that is there.
    func first(of paths: [String]) -> String? {
        paths.first { exists($0) }
    }

    /// The names in a folder; none when it cannot be read.
    func names(in folder: String) -> [String] {
        Files.names(in: root + folder).sorted()
    }

    /// Where a symbolic link points.
    func link(at path: String) -> String? {
        Files.link(at: root + path)
    }

    /// The start of a file, at most so many bytes, without white space at its end; empty when it cannot be read. A pipe is
    /// not waited for.
    func text(of path: String, limit: Int = 4096) -> String {
        Files.line(of: root + path, limit: limit) ?? ""
    }
}
