extension LibrarySchema {
    /// The tables of albums, choices, counts and changes.
    enum Reading {
        static let statements = ""
    }
}
