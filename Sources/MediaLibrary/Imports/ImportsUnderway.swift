/// What is being imported and not in the index yet, so that many imports at a time keep to the limits as one does.
struct ImportsUnderway {
    private var sizes: [String: (program: String, bytes: Int64)] = [:]

    /// How many there are of a program; of all when it is `nil`.
    func count(of program: String?) -> Int64 {
        Int64(sizes.values.filter { program == nil || $0.program == program }.count)
    }

    /// Their bytes so far.
    func bytes(of program: String?) -> Int64 {
        sizes.values.reduce(0) { $0 + (program == nil || $1.program == program ? $1.bytes : 0) }
    }

    /// Begins one.
    mutating func begin(_ id: String, of program: String) { sizes[id] = (program, 0) }

    /// It has grown.
    mutating func add(_ bytes: Int64, to id: String) { sizes[id]?.bytes += bytes }

    /// It is in the index, or was given up.
    mutating func end(_ id: String) { sizes[id] = nil }
}
