import GRDB

/// What is wrong with the store, in a sentence.
struct StoreFault: Error {
    /// Why, and what mends it.
    var message: String
    /// The command at the end of the message that mends it; empty when none does.
    var remedy: String
    /// Whether the file has to be mended, rather than what is around it: the file is opened anew then.
    var isOfFile: Bool

    /// - Parameters:
    ///   - message: Why, up to the command that mends it.
    ///   - remedy: That command.
    init(_ message: String, remedy: String = "", isOfFile: Bool) {
        self.message = message + remedy
        self.remedy = remedy
        self.isOfFile = isOfFile
    }

    /// What SQLite reported while `file` was used.
    init(_ error: any Error, file: String, of kind: StoreKind) {
        guard let error = error as? DatabaseError else {
            self = .damage("\(kind.name) \(file) is damaged: \(error)", file, kind)
            return
        }
        let why = error.message ?? "SQLite error \(error.extendedResultCode.rawValue)"
        switch error.resultCode {
        case .SQLITE_FULL:
            self.init("the disk with \(kind.name) \(file) is full; make room there", isOfFile: false)
        case .SQLITE_READONLY, .SQLITE_IOERR, .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_NOMEM, .SQLITE_PERM:
            self.init("\(kind.name) \(file) cannot be written: \(why)", isOfFile: false)
        case .SQLITE_CANTOPEN:
            self.init("\(kind.name) \(file) cannot be opened: \(why)", isOfFile: true)
        default:
            self = .damage("\(kind.name) \(file) is damaged: \(why)", file, kind)
        }
    }

    /// A file that no permission makes sound: with the command that starts over without destroying what may be evidence
    /// or can be repaired.
    static func damage(_ why: String, _ file: String, _ kind: StoreKind) -> StoreFault {
        StoreFault(
            why + "; restore a copy, or \(kind.startOver) with: ",
            remedy: "mv '\(file)' '\(file).damaged'",
            isOfFile: true
        )
    }
}
