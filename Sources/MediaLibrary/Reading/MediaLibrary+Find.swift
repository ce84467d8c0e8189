public import CaptureCore
import GRDB

extension MediaLibrary {
    /// How many digits of an id are the fewest to find it by. Of a million assets few begin with the same six, so that it
    /// takes as long whatever the reader does not see.
    public static let fewestDigits = 6
    /// How many assets are told of each beginning: enough to say that there are several.
    public static let mostFound = 10

    /// The ids that begin with some digits.
    ///
    /// - Parameters:
    ///   - beginnings: The first 6 to 32 digits of ids, hexadecimal and in lower case.
    ///   - isBinned: Whether those in the bin are looked for, in place of the others.
    ///   - scope: What the reader sees.
    /// - Returns: In the order of the beginnings, ten of each at most.
    /// - Throws: `invalidArgument` for what no id begins with; `notPermitted` when a reader that does not see everything
    ///   looks into the bin.
    public func ids(
        beginningWith beginnings: [String],
        isBinned: Bool = false,
        scope: LibraryScope
    ) throws(CaptureError) -> [String] {
        for beginning in beginnings { try LibraryID.check(beginning: beginning) }
        guard let reader = scope.reader else { return [] }
        if isBinned, !reader.isEmpty { throw Visibility.binIsClosed }
        let state = isBinned ? "binned IS NOT NULL" : reader.isEmpty ? "binned IS NULL" : Visibility.condition
        // After all digits.
        let end = "g"
        return try read { database in
            let statement = try database.cachedStatement(
                sql: "SELECT id FROM asset WHERE id >= :from AND id < :until AND \(state) ORDER BY id LIMIT :most"
            )
            return try beginnings.flatMap { beginning in
                var arguments: StatementArguments = [
                    "from": beginning, "until": beginning + end, "most": MediaLibrary.mostFound,
                ]
                if !isBinned, !reader.isEmpty { arguments += ["reader": reader] }
                return try String.fetchAll(statement, arguments: arguments)
            }
        }
    }
}
