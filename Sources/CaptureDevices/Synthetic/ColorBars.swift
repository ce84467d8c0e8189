import CaptureCore

/// The SMPTE colour bars (ECR 1-1978) at 75 %, in BT.601 limited range, with a black box below them for the burned-in
/// digits.
struct ColorBars {
    /// Luma and the two chroma values of a pixel.
    struct Color: Equatable {
        var y: UInt8
        var cb: UInt8
        var cr: UInt8

        init(_ y: UInt8, _ cb: UInt8, _ cr: UInt8) {
            self.y = y
            self.cb = cb
            self.cr = cr
        }
    }

    static let white = Color(235, 128, 128)
    static let black = Color(16, 128, 128)
    /// Grey, yellow, cyan, green, magenta, red, blue: the upper two thirds, from the left.
    static let bars = [
        Color(180, 128, 128), Color(162, 44, 142), Color(131, 156, 44), Color(112, 72, 58), Color(84, 184, 198),
        Color(65, 100, 212), Color(35, 212, 114),
    ]
    private static let castellations = [bars[6], black, bars[4], black, bars[2], black, bars[0]]
    /// -I, white, +Q, black, each 5/28 of the width, then the three steps of the PLUGE and black.
    private static let inPhase = Color(61, 153, 99)
    private static let quadrature = Color(35, 174, 152)

    let width: Int
    let height: Int
    let box: BurnInLayout

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        box = BurnInLayout(height: height)
    }

    /// The colour of a pixel.
    func color(_ x: Int, _ y: Int) -> Color {
        if box.contains(x, y) { return Self.black }
        if y * 3 < height * 2 { return Self.bars[x * 7 / width] }
        if y * 4 < height * 3 { return Self.castellations[x * 7 / width] }
        switch x * 28 / width {
        case ..<5: return Self.inPhase
        case ..<10: return Self.white
        case ..<15: return Self.quadrature
        case ..<20: return Self.black
        case ..<24:
            switch (x * 28 - 20 * width) * 3 / (4 * width) {
            case 0: return Color(7, 128, 128)
            case 1: return Self.black
            default: return Color(24, 128, 128)
            }
        default: return Self.black
        }
    }
}

/// Where the digits stand in a frame: two lines in a box whose cells are a sixtieth of the frame's height.
///
/// The first line is the frame's number since the stream's start, 8 digits; the second the stream clock as
/// `HH:MM:SS.mmm`. Lit cells are bright on dark, and dark on white in a flash.
struct BurnInLayout {
    /// Pixels of a cell's edge; even, so that chroma falls in place.
    let cell: Int
    /// The box, in cells.
    static let left = 3
    static let top = 41
    static let columns = 74
    static let rows = 18
    /// The first cell of the two lines' first characters.
    static let textLeft = 4
    static let lines = [42, 51]

    init(height: Int) {
        cell = max(height / 120 * 2, 2)
    }

    func contains(_ x: Int, _ y: Int) -> Bool {
        let column = x / cell - Self.left
        let row = y / cell - Self.top
        return column >= 0 && column < Self.columns && row >= 0 && row < Self.rows
    }
}
