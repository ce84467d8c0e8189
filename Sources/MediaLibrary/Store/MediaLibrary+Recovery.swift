import CaptureCore
import GRDB

extension MediaLibrary {
    /// Tidies up after a library that was not closed. Nobody else has it open, so that nothing there is under way.
    func recover() throws(CaptureError) {
        try settleDoubts()
        try recoverTransit()
    }

    /// Contents whose file or row came or went when it ended: what is not in the index goes, since nobody was told that
    /// it is there.
    private func settleDoubts() throws(CaptureError) {
        let doubtful = try read { try String.fetchAll($0, sql: "SELECT hash FROM doubtful") }
        guard !doubtful.isEmpty else { return }
        try folder.removeContents(read { database in try doubtful.filter { try !database.hasContent($0) } })
        try write { try $0.execute(sql: "DELETE FROM doubtful") }
    }
}
