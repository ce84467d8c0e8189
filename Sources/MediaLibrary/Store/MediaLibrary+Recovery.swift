import CaptureCore
import GRDB

extension MediaLibrary {
    /// Tidies up after a library that was not closed.
    func recover() throws(CaptureError) {
    }
}
