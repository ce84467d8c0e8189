@testable import Authorization
import Testing

@Suite struct `A key file` {
    private func systemd(_ text: String) -> KeyFile {
        KeyFile(parsing: text, path: "/etc/a.conf", dialect: .systemd)
    }

    private func desktop(_ text: String) -> KeyFile {
        KeyFile(parsing: text, path: "a.desktop", dialect: .desktopEntry)
    }

    @Test func `of systemd has comments of two kinds, continued lines and repeated keys`() {
        let file = systemd(
            """
            # a comment
            ; another
            [One]
            A = first
            A=second\\
              and \\
            # passed over
            ; and this
            more
              B = \t spaced \t
            [Two]
            A=other # no comment
            """
        )
        #expect(file.problems.isEmpty)
        #expect(file.entries("One", "A").map(\.value) == ["first", "second   and  more"])
        #expect(file.entries("One", "A").map(\.line) == [4, 5])
        #expect(file.value("One", "B") == "spaced")
        #expect(file.value("Two", "A") == "other # no comment")
    }

    @Test func `of systemd takes back by an empty value what came before`() {
        let file = systemd("[S]\nA=1\nA=2\nA=\nA=3\nB=1\nB=\n")
        #expect(file.entries("S", "A").map(\.value) == ["", "3"])
        #expect(file.value("S", "A") == "3")
        #expect(file.value("S", "B") == nil)
    }

    @Test func `of systemd continues only by a backslash that is not escaped`() {
        let file = systemd("[S]\nA=one\\\\\nB=two\\")
        #expect(file.value("S", "A") == "one\\\\")
        #expect(file.value("S", "B") == "two")
    }

    @Test func `of a desktop has localized keys and escapes`() {
        let file = desktop(
            """
            [Desktop Entry]
            Name=Cheese
            Name[de]=Käse
            Name[de_AT]=Kas
            Name[sr@latin]=Sir
            Text=a\\sb\\nc\\td\\re\\\\f
            ;NoComment=1
            """
        )
        #expect(file.problems.isEmpty)
        #expect(file.value("Desktop Entry", "Name", locale: "de_DE.UTF-8") == "Käse")
        #expect(file.value("Desktop Entry", "Name", locale: "de_AT") == "Kas")
        #expect(file.value("Desktop Entry", "Name", locale: "sr_RS.UTF-8@latin") == "Sir")
        #expect(file.value("Desktop Entry", "Name", locale: "fr") == "Cheese")
        #expect(file.value("Desktop Entry", "Name", locale: "") == "Cheese")
        #expect(file.value("Desktop Entry", "Text") == "a b\nc\td\re\\f")
        #expect(file.value("Desktop Entry", ";NoComment") == "1")
    }

    @Test func `says what is wrong by file and line and takes the rest`() {
        let file = systemd("A=0\n[S]\nnonsense\n=x\nA=1\n[S\nA=2\nB=3\n[T]\nA=4\n")
        #expect(
            file.problems.map(\.description) == [
                "/etc/a.conf:1: 'A=0' stands outside of a section",
                "/etc/a.conf:3: 'nonsense' has no '=', expected KEY=VALUE",
                "/etc/a.conf:4: there is no key before '='",
                "/etc/a.conf:6: '[S' is no section header, expected [NAME]; what follows is ignored",
            ]
        )
        #expect(file.entries("S", "A").map(\.value) == ["1"])
        #expect(file.value("T", "A") == "4")
    }

    @Test func `of a desktop says which escapes and repetitions are wrong`() {
        let file = desktop("[D]\nA=x\\qy\nA=z\nB=end\\\n")
        #expect(
            file.problems.map(\.description) == [
                "a.desktop:2: '\\q' is no escape; there are \\s \\n \\t \\r \\\\",
                "a.desktop:3: 'A' was set on line 2 already; this one counts",
                "a.desktop:4: a backslash at the end of the line escapes nothing",
            ]
        )
        #expect(file.value("D", "A") == "z")
    }

    @Test(.timeLimit(.minutes(1))) func `may have very many keys`() {
        let lines = (0..<40_000).map { "k\($0)=1" }
        let file = desktop((["[D]"] + lines + ["k7=2"]).joined(separator: "\n"))
        #expect(file.entries.count == 40_000)
        #expect(file.value("D", "k7") == "2")
        #expect(file.problems.count == 1)
    }

    @Test func `may have a byte order mark and line ends of another system`() {
        let file = systemd("\u{FEFF}[S]\r\nA=1\r\n")
        #expect(file.problems.isEmpty)
        #expect(file.value("S", "A") == "1")
    }

    @Test(arguments: ["", "\n", "\\", "[", "]", "[]", "=", "\0", "[S]\n\0=1", "[S]\nA[=1", "[S]\nA]=1", "\\\n\\\n\\"])
    func `never fails, whatever is in it`(text: String) {
        for dialect in [KeyFile.Dialect.systemd, .desktopEntry] {
            let file = KeyFile(parsing: text, path: "f", dialect: dialect)
            #expect(file.entries.allSatisfy { $0.section == "S" })
        }
    }

    @Test func `of random bytes never fails`() {
        let alphabet: [Character] = ["[", "]", "=", "\\", "\n", "\r", "a", " ", "#", ";", "\0", "é", "\u{202E}"]
        for seed in 0..<2000 {
            var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
            let text = String(
                (0..<64).map { _ in
                    state = state &* 6_364_136_223_846_793_005 &+ 1
                    return alphabet[Int(state >> 33) % alphabet.count]
                }
            )
            _ = systemd(text)
            _ = desktop(text)
        }
    }
}
