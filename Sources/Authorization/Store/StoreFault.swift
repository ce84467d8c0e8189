import GRDB

/// What is wrong with the store, in a sentence.
struct StoreFault: Error {
    /// Why, and what mends it.
    var message: String
    /// Whether the file has to be mended, rather than what is around it: the file is opened anew then.
    var isOfFile: Bool

    init(_ message: String, isOfFile: Bool) {
        self.message = message
        self.isOfFile = isOfFile
    }

    /// What SQLite reported while `file` was used.
    init(_ error: any Error, file: String) {
        guard let error = error as? DatabaseError else {
            self.init("the store of answers \(file) is damaged: \(error)\(StoreFault.remedy(file))", isOfFile: true)
            return
        }
        let why = error.message ?? "SQLite error \(error.extendedResultCode.rawValue)"
        switch error.resultCode {
        case .SQLITE_FULL:
            self.init("the disk with the store of answers \(file) is full; make room there", isOfFile: false)
        case .SQLITE_READONLY, .SQLITE_IOERR, .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_NOMEM, .SQLITE_PERM:
            self.init("the store of answers \(file) cannot be written: \(why)", isOfFile: false)
        case .SQLITE_CANTOPEN:
            self.init("the store of answers \(file) cannot be opened: \(why)", isOfFile: true)
        default:
            self.init("the store of answers \(file) is damaged: \(why)\(StoreFault.remedy(file))", isOfFile: true)
        }
    }

    /// The command that starts over without destroying what may be evidence or can be repaired.
    static func remedy(_ file: String) -> String {
        "; bring back a copy, or start without any answer by: mv '\(file)' '\(file).damaged'"
    }
}
