/// The digits that are burned into synthetic frames: 5 by 7 cells a character, 6 from one to the next.
enum BurnInFont {
    /// Cells of a character's width.
    static let width = 5
    /// Cells of a character's height.
    static let height = 7
    /// Cells from one character to the next.
    static let pitch = 6

    /// Glyphs of `0` to `9`, then `:` and `.`; a byte a row, the leftmost cell in bit 4.
    static let glyphs: [[UInt8]] = [
        [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110],
        [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
        [0b01110, 0b10001, 0b00001, 0b00010, 0b00100, 0b01000, 0b11111],
        [0b11111, 0b00010, 0b00100, 0b00010, 0b00001, 0b10001, 0b01110],
        [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010],
        [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110],
        [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110],
        [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000],
        [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110],
        [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
        [0b00000, 0b00100, 0b00100, 0b00000, 0b00100, 0b00100, 0b00000],
        [0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b01100, 0b01100],
    ]

    /// The glyph of `:`.
    static let colon = 10
    /// The glyph of `.`.
    static let point = 11
}
