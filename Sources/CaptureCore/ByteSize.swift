/// Numbers of bytes as people write them.
public enum ByteSize {
    /// The bytes of a size as in `65536`, `500M`, `1.5G` or `2GiB`. K, M, G and T are powers of 1024, in either case.
    ///
    /// - Returns: `nil` for a text that is no size, such as `5MB`, whose M could be a million, and for 2⁶² bytes or more.
    public static func parse(_ text: String) -> Int64? {
        let number = text.prefix { ("0"..."9").contains($0) || $0 == "." }
        guard let scale = scale(of: text.dropFirst(number.count)) else { return nil }
        if let whole = Int64(number) {
            let (bytes, isTooLarge) = whole.multipliedReportingOverflow(by: scale)
            return isTooLarge || bytes >= 1 << 62 ? nil : bytes
        }
        // Bytes alone are whole.
        guard scale > 1, let part = Double(number), part * Double(scale) < 0x1p62 else { return nil }
        return Int64(part * Double(scale))
    }

    private static func scale(of unit: Substring) -> Int64? {
        switch unit.lowercased() {
        case "": 1
        case "k", "kib": 1 << 10
        case "m", "mib": 1 << 20
        case "g", "gib": 1 << 30
        case "t", "tib": 1 << 40
        default: nil
        }
    }
}
