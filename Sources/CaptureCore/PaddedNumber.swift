extension String {
    /// A number with zeros before it, so that it has at least so many digits, as in `0042`. It is not negative.
    package init(_ number: some BinaryInteger, digits: Int, radix: Int = 10, uppercase: Bool = false) {
        let text = String(number, radix: radix, uppercase: uppercase)
        self.init(repeating: "0", count: Swift.max(digits - text.utf8.count, 0))
        self += text
    }
}
