/// What the parts of a library stand on.
struct LibraryBase: Sendable {
    let folder: LibraryFolder
    let index: LibraryIndex
    let contents: LibraryContents
    let quotas: LibraryQuotas
    let limits: LibraryLimits
    /// The time, in milliseconds since 1970.
    let now: @Sendable () -> Int64
}
