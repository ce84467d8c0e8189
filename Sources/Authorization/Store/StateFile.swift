package import CaptureCore
import Glibc

/// A small file in the state directory, replaced as a whole, so that a power cut leaves it as it was before or as it was to
/// be.
///
/// Thread-safe; one change at a time.
package struct StateFile: Sendable {
    private let directory: String
    /// Where it lies.
    package let path: String

    /// The file of a name in a daemon's state directory, which the store has made.
    package init(_ name: String, in directory: String) {
        self.directory = directory
        path = directory + "/" + name
    }

    /// Its text, if nobody else could have written it.
    ///
    /// - Parameter limit: The most bytes.
    package func read(limit: Int) -> SmallFile.Outcome {
        SmallFile.read(path, limit: limit, ownedBy: [geteuid()])
    }

    /// Writes a text; on disk when it returns.
    ///
    /// - Throws: `inputOutput`; the file is then as before.
    package func replace(with text: String) throws(CaptureError) {
        let bytes = Array(text.utf8)
        do throws(StoreFault) {
            let new = path + ".new"
            try StoreFiles.remove(new)
            let file = unsafe open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard file >= 0 else { throw StateFile.fault("\(new) cannot be made") }
            defer { close(file) }
            guard unsafe write(file, bytes, bytes.count) == bytes.count, fsync(file) == 0 else {
                throw StateFile.fault("\(new) cannot be written")
            }
            try StoreFiles.moveIntoPlace(new, path, in: directory)
        } catch {
            throw CaptureError(.inputOutput, error.message)
        }
    }

    /// Gives a damaged file another name, so that `replace` does not destroy what somebody could repair.
    ///
    /// - Returns: Its new path: `.damaged` behind the old one, and a number if that exists; `nil` without a file.
    /// - Throws: `inputOutput`.
    package func moveAside() throws(CaptureError) -> String? {
        do throws(StoreFault) {
            guard try StoreFiles.exists(path) else { return nil }
            var aside = path + ".damaged"
            var number = 1
            while try StoreFiles.exists(aside) {
                number += 1
                aside = path + ".damaged-\(number)"
            }
            try StoreFiles.moveIntoPlace(path, aside, in: directory)
            return aside
        } catch {
            throw CaptureError(.inputOutput, error.message)
        }
    }

    private static func fault(_ action: String) -> StoreFault {
        StoreFault("\(action): \(SmallFile.text(of: errno))", isOfFile: true)
    }
}
