import ArgumentParser
import CaptureKit
import Foundation
import Testing

@testable import capturectl

/// Pictures on terminals.
struct PictureTests {
    /// A JPEG of 64 by 32 pixels, the left half red and the right one blue.
    private static let jpeg = Array(Data(base64Encoded: PictureTests.text) ?? Data())

    private static let text = [
        "/9j//gAQTGF2YzU5LjM3LjEwMAD/2wBDAAgoKC8oLzc3Nzc3N0E8QUNDQ0FBQUFDQ0NISEhVVVVISEhDQ0hIUFBVVVxfXFdXVVdf",
        "X2RkZHh4c3OMjJGsrM//xABOAAEBAAAAAAAAAAAAAAAAAAAABgEBAQEBAAAAAAAAAAAAAAAAAAgHBhABAAAAAAAAAAAAAAAAAAAA",
        "ABEBAAAAAAAAAAAAAAAAAAAAAP/AABEIACAAQAMBIgACEQADEQD/2gAMAwEAAhEDEQA/AIsByjfwAEgAqpNYACvASqpQABIAKqTW",
        "AA//2Q==",
    ].joined()

    @Test func `a JPEG is decoded as small as is wanted`() throws {
        let whole = try #require(RGBPicture(jpeg: Self.jpeg, height: 320))
        #expect(whole.width == 64 && whole.height == 32)
        let half = try #require(RGBPicture(jpeg: Self.jpeg, height: 16))
        #expect(half.width == 32 && half.height == 16 && half.bytes.count == 32 * 16 * 3)
        #expect(half.bytes[0] > 200 && half.bytes[2] < 60)
        let last = half.bytes.suffix(3)
        #expect(last.first.map { $0 < 60 } == true && last.last.map { $0 > 200 } == true)
        #expect(RGBPicture(jpeg: Array("no picture".utf8), height: 16) == nil)
        #expect(RGBPicture(jpeg: [], height: 16) == nil)
    }

    @Test func `kitty is sent the pixels in pieces`() throws {
        let sequence = try #require(TerminalGraphics.kitty.sequence(Self.jpeg, rows: 2))
        #expect(sequence.hasPrefix("\u{1B}_Ga=T,f=24,s=64,v=32,r=2,q=2,m=1;"))
        let pieces = sequence.components(separatedBy: "\u{1B}\\").dropLast()
        #expect(pieces.count == 2 && pieces.last?.hasPrefix("\u{1B}_Gm=0;") == true)
        let text = pieces.map { $0.split(separator: ";").last.map(String.init) ?? "" }.joined()
        #expect(Data(base64Encoded: text)?.count == 64 * 32 * 3)
    }

    @Test func `iTerm2 is sent the JPEG itself`() throws {
        let sequence = try #require(TerminalGraphics.iterm.sequence(Self.jpeg, rows: 4))
        #expect(sequence.hasPrefix("\u{1B}]1337;File=inline=1;size=\(Self.jpeg.count);height=4;"))
        let text = sequence.dropLast().split(separator: ":").last.map(String.init) ?? ""
        #expect(Data(base64Encoded: text).map(Array.init) == Self.jpeg)
        #expect(TerminalGraphics.iterm.sequence([1, 2, 3], rows: 4) == nil)
    }

    @Test func `sixels have the pixels of each colour, band by band`() {
        let red: [UInt8] = [255, 0, 0]
        let blue: [UInt8] = [0, 0, 255]
        let rows = (0..<7).flatMap { _ in Array(repeating: red, count: 5) + [blue] }.flatMap { $0 }
        let sequence = SixelEncoder(RGBPicture(width: 6, height: 7, bytes: rows)).sequence
        // Colour 180 is red, 5 is blue; six rows are the sign of 63, one row that of 1.
        let colours = "#5;2;0;0;100#180;2;100;0;0"
        let bands = "#5!5?~$#180!5~?-#5!5?@$#180!5@?-"
        #expect(sequence == "\u{1B}P0;1;0q\"1;1;6;7" + colours + bands + "\u{1B}\\")
    }

    @Test(arguments: [
        ("\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[?62;c", TerminalGraphics?.some(.kitty)), ("\u{1B}[?62;4;22c", .sixel),
        ("\u{1B}[?64;1;14c", nil), ("\u{1B}_Gi=31;EINVAL\u{1B}\\\u{1B}[?62;4c", .sixel), ("", nil), ("4c", nil),
    ])
    func `a terminal's answer tells what it can show`(answer: String, graphics: TerminalGraphics?) {
        #expect(TerminalAnswers.graphics(answering: Array(answer.utf8)) == graphics)
    }

    @Test func `none is none, and nothing is asked of a terminal for it`() throws {
        #expect(try PictureOptions.shown(PictureOptions.parse(["--pictures", "none"]).pictures) == nil)
        #expect(try PictureOptions.shown(PictureOptions.parse(["--pictures", "sixel"]).pictures) != nil)
        #expect(try PictureOptions.parse([]).pictures == .auto)
        #expect(throws: (any Error).self) { try PictureOptions.parse(["--pictures", "ascii"]) }
    }
}
