import Glibc
import Synchronization

/// Writes data to standard output and everything else to standard error.
enum Output {
    /// The error number of a failed write to standard output; 0 if none failed.
    static let lostFacts = Atomic<Int32>(0)
    /// Whether standard output could not be written: whoever goes on printing prints for nobody.
    static let isUnread = Atomic(false)

    /// Data, with a line end.
    ///
    /// - Returns: Whether it was written.
    @discardableResult
    static func print(_ text: String) -> Bool {
        write(text.hasSuffix("\n") || text.isEmpty ? text : text + "\n", to: STDOUT_FILENO)
    }

    /// A table: fitted to a terminal, complete elsewhere.
    ///
    /// - Parameter isWide: Whether everything is shown on a terminal, too.
    static func print(_ table: Table, isWide: Bool = false) {
        let shown = table.fitted(to: isWide ? nil : TerminalSize.width(of: STDOUT_FILENO))
        print(shown.text)
        tellCut([shown])
    }

    /// Says so if names were cut.
    static func tellCut(_ tables: [Table]) {
        if tables.contains(where: \.isCut) { note("names with … are cut; --wide shows them in full") }
    }

    /// Facts as JSON.
    static func print(_ json: JSON) {
        print(json.pretty)
    }

    /// A message under the program's name.
    static func message(_ text: String) {
        note("capturectl: " + text)
    }

    /// A message.
    static func note(_ text: String) {
        write(text.hasSuffix("\n") ? text : text + "\n", to: STDERR_FILENO)
    }

    /// Text as it is, without a line end.
    ///
    /// - Returns: Whether it was written.
    @discardableResult
    static func write(_ text: String, to descriptor: Int32) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var done = 0
            while done < bytes.count {
                let count = unsafe Glibc.write(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
                if count < 0, errno == EINTR { continue }
                if count <= 0 {
                    // A reader that left, as `head` does, wants no more; facts that reach nobody are a fault.
                    if descriptor == STDOUT_FILENO { isUnread.store(true, ordering: .relaxed) }
                    if descriptor == STDOUT_FILENO, errno != EPIPE { lostFacts.store(errno, ordering: .relaxed) }
                    return false
                }
                done += count
            }
            return true
        }
    }
}

/// How large a terminal is.
struct TerminalSize: Equatable {
    /// Characters in a row.
    var columns: Int
    var rows: Int
    /// Pixels of a character.
    var cell: Cell

    struct Cell: Equatable {
        var width: Int
        var height: Int
    }

    /// The size of a terminal, of which 80 by 24 characters of 8 by 16 pixels are taken for unknown; `nil` if the
    /// descriptor leads to something else.
    init?(of descriptor: Int32) {
        guard isatty(descriptor) == 1 else { return nil }
        var size = winsize()
        let isKnown = unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0
        columns = isKnown && size.ws_col > 0 ? Int(size.ws_col) : 80
        rows = isKnown && size.ws_row > 0 ? Int(size.ws_row) : 24
        cell = Cell(width: Int(size.ws_xpixel) / columns, height: Int(size.ws_ypixel) / rows)
        if cell.width < 1 || cell.height < 1 { cell = Cell(width: 8, height: 16) }
    }

    init(columns: Int, rows: Int, cell: Cell = Cell(width: 8, height: 16)) {
        (self.columns, self.rows, self.cell) = (columns, rows, cell)
    }

    /// The columns of a terminal; `nil` if the descriptor leads to something else.
    static func width(of descriptor: Int32) -> Int? { TerminalSize(of: descriptor)?.columns }
}

/// The process's environment.
enum Environment {
    static func value(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }
}
