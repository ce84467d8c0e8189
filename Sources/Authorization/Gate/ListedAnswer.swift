public import CaptureCore

/// A stored answer, and what it comes to.
public struct ListedAnswer: Hashable, Sendable {
    /// As it is stored.
    public var answer: StoredAnswer
    /// As it counts: by policy, and for adding to the library by what was said about reading it.
    public var status: AuthorizationStatus
    /// The service whose answer counts in its place; its own, unless adding follows from reading.
    public var source: Service
    /// What policy says about its service.
    public var verdict: PolicyVerdict
    /// When it ends as things stand, in milliseconds since 1970; `nil` when it does not by itself.
    public var ends: Int64?
}

extension AuthorizationGate {
    /// Every answer that holds, as `list` has it, with what it comes to.
    ///
    /// - Throws: `inputOutput` when the store cannot be used.
    public func listed() throws(CaptureError) -> [ListedAnswer] {
        let rows = try list()
        return rows.map { row in
            var stored = [row.service: row.status]
            if row.service == .libraryAdd {
                let reading = rows.filter {
                    $0.service == .libraryReadWrite && $0.user == row.user && $0.program == row.program
                        && $0.executableKey == row.executableKey
                }
                for answer in reading {
                    stored[.libraryReadWrite] = AuthorizationGate.stricter(stored[.libraryReadWrite], answer.status)
                }
            }
            let counting = counting(row.service, stored, for: PolicySubject(row))
            return ListedAnswer(
                answer: row,
                status: counting.status,
                source: counting.source,
                verdict: verdict(on: row),
                ends: ends(row)
            )
        }
    }
}
