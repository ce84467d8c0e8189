/// A part of a camera's picture in whole pixels. Left and top count from the corner that the driver calls 0,0, and may be
/// negative.
public struct PixelRectangle: Hashable, Sendable {
    /// The first column.
    public var left: Int
    /// The first row.
    public var top: Int
    /// Columns.
    public var width: Int
    /// Rows.
    public var height: Int

    /// A rectangle of the given place and size; any numbers.
    public init(left: Int = 0, top: Int = 0, width: Int, height: Int) {
        self.left = left
        self.top = top
        self.width = width
        self.height = height
    }

    /// Whether it is a rectangle that a control can have, and the other one lies in it: not empty, and at no side beyond it.
    public func contains(_ other: PixelRectangle) -> Bool {
        guard number != nil, other.number != nil, other.width > 0, other.height > 0 else { return false }
        return other.left >= left && other.left + other.width <= left + width
            && other.top >= top && other.top + other.height <= top + height
    }
}

/// The one number that stands for a rectangle as the value of a control.
extension PixelRectangle {
    private static let places = Int(Int16.min)...Int(Int16.max)
    private static let sizes = 0...Int(UInt16.max)

    /// Left, top, width and height in 16 bits each, the left in the highest; left and top have a sign. `nil` if one does not
    /// fit.
    public var number: Int64? {
        guard Self.places.contains(left), Self.places.contains(top), Self.sizes.contains(width),
            Self.sizes.contains(height)
        else { return nil }
        let parts = [left, top, width, height]
        return parts.reduce(0) { $0 << 16 | Int64($1 & 0xffff) }
    }

    /// The rectangle of a number.
    public init(number: Int64) {
        func part(_ index: Int64) -> UInt16 { UInt16(truncatingIfNeeded: number >> (48 - 16 * index)) }
        self.init(
            left: Int(Int16(bitPattern: part(0))),
            top: Int(Int16(bitPattern: part(1))),
            width: Int(part(2)),
            height: Int(part(3))
        )
    }
}

extension PixelRectangle: CustomStringConvertible {
    /// As in `160,120,640x480`: left, top and size.
    public var description: String { "\(left),\(top),\(width)x\(height)" }

    /// Reads what `description` writes.
    public init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 3, let left = Int(parts[0]), let top = Int(parts[1]) else { return nil }
        let sizes = parts[2].split(separator: "x", omittingEmptySubsequences: false)
        guard sizes.count == 2, let width = Int(sizes[0]), let height = Int(sizes[1]) else { return nil }
        self.init(left: left, top: top, width: width, height: height)
    }
}
