import Testing

@testable import capturectl

/// Pictures that take each other's place on a terminal.
struct TerminalPictureTests {
    private static let size = TerminalSize(columns: 80, rows: 24)
    private static let (red, blue): ([UInt8], [UInt8]) = ([255, 0, 0], [0, 0, 255])

    @Test func `a block has two pixels, one above the other, in all colours`() {
        let picture = RGBPicture(width: 2, height: 2, bytes: [Self.red, Self.red, Self.blue, Self.red].flatMap { $0 })
        let shown = TerminalPicture.blocks(isRich: true).sequence(picture, in: Self.size)
        // What stays the same is not said again.
        #expect(shown == "\u{1B}[38;2;255;0;0m\u{1B}[48;2;0;0;255m▀\u{1B}[48;2;255;0;0m▀\u{1B}[0m")
    }

    @Test func `or in 216, row by row`() {
        let picture = RGBPicture(width: 1, height: 4, bytes: [Self.red, Self.blue, Self.blue, Self.red].flatMap { $0 })
        let shown = TerminalPicture.blocks(isRich: false).sequence(picture, in: Self.size)
        let rows = ["\u{1B}[38;5;196m\u{1B}[48;5;21m▀\u{1B}[0m", "\u{1B}[38;5;21m\u{1B}[48;5;196m▀\u{1B}[0m"]
        #expect(shown == rows.joined(separator: "\r\n"))
    }

    @Test func `a row without its second half is left out`() {
        let picture = RGBPicture(width: 1, height: 3, bytes: [Self.red, Self.red, Self.blue].flatMap { $0 })
        #expect(!TerminalPicture.blocks(isRich: true).sequence(picture, in: Self.size).contains("\n"))
    }

    @Test func `kitty has one image, taken off at the end`() {
        let picture = RGBPicture(width: 1, height: 1, bytes: Self.red)
        #expect(
            TerminalPicture.kitty.sequence(picture, in: Self.size).hasPrefix(
                "\u{1B}_Ga=T,f=24,s=1,v=1,i=1,p=1,C=1,r=23,q=2,m=0;"
            )
        )
        #expect(TerminalPicture.kitty.ending == "\u{1B}_Ga=d,d=I,i=1,q=2\u{1B}\\")
        #expect(TerminalPicture.sixel.ending.isEmpty)
    }

    @Test(arguments: [
        (640, 480, 80, 24, TerminalPicture.blocks(isRich: true), 61, 46),
        (640, 480, 40, 100, .blocks(isRich: true), 40, 30), (1920, 1080, 200, 60, .kitty, 640, 360),
        (480, 640, 200, 60, .sixel, 240, 320), (640, 480, 1, 1, .blocks(isRich: false), 2, 2),
        (4096, 2, 80, 24, .kitty, 640, 2),
    ])
    func `a picture keeps its proportions in the room`(
        width: Int,
        height: Int,
        columns: Int,
        rows: Int,
        way: TerminalPicture,
        across: Int,
        down: Int
    ) {
        let fitted = way.fitted(width: width, height: height, in: TerminalSize(columns: columns, rows: rows))
        #expect(fitted == (across, down))
    }

    @Test(arguments: 2...700)
    func `sizes that are asked for settle`(columns: Int) {
        let size = TerminalSize(columns: columns, rows: 60)
        let way = TerminalPicture.blocks(isRich: true)
        // As a converter keeps the proportions of a camera's 1000 by 563 pixels.
        var width = 80
        var asked = Set<Int>()
        while asked.insert(width).inserted {
            width = way.fitted(width: width, height: (563 * width + 500) / 1000, in: size).width
        }
        #expect(way.fitted(width: width, height: (563 * width + 500) / 1000, in: size).width == width)
    }

    @Test func `what the terminal says decides`() {
        #expect(TerminalPicture(.kitty, isRich: true) == .kitty)
        #expect(TerminalPicture(.iterm, isRich: true) == .sixel)
        #expect(TerminalPicture(nil, isRich: false) == .blocks(isRich: false))
    }
}
