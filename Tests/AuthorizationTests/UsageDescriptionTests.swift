@testable import Authorization
import CaptureCore
import Foundation
import Testing

@Suite struct `A usage description` {
    let applications: TemporaryFolder
    let vendorUnits: TemporaryFolder
    let units: TemporaryFolder
    let overrides: TemporaryFolder

    init() throws {
        applications = try TemporaryFolder()
        vendorUnits = try TemporaryFolder()
        units = try TemporaryFolder()
        overrides = try TemporaryFolder()
    }

    private func find(
        _ client: ClientIdentity,
        _ services: [Service] = [.camera],
        locale: String = ""
    ) throws -> UsageDescription {
        try MetadataUsageDescriptions(
            applications: [applications.path],
            units: [units.path, vendorUnits.path],
            overrides: [overrides.path],
            locale: locale
        ).description(of: client, for: services)
    }

    private func service(_ unit: String) -> ClientIdentity {
        ClientIdentity(program: "unit:" + unit, tier: .service, user: 990, name: unit, detail: "")
    }

    private let cheese = ClientIdentity.app("org.gnome.Cheese", runs: "/usr/bin/cheese")
    private let entry = """
        [Desktop Entry]
        Name=Cheese
        Name[de]=Käse
        X-Capture-CameraUsageDescription=To take pictures
        X-Capture-CameraUsageDescription[de]=Um Bilder zu machen

        """

    @Test func `comes from the application's desktop entry, in the language asked for`() throws {
        try applications.write("org.gnome.Cheese.desktop", entry)
        #expect(try find(cheese) == UsageDescription(name: "Cheese", reasons: [.camera: "To take pictures"]))
        #expect(try find(cheese, locale: "de_DE.UTF-8").reasons == [.camera: "Um Bilder zu machen"])
        #expect(try find(cheese, locale: "de_DE.UTF-8").name == "Käse")
    }

    @Test func `of an id with dashes may lie in a folder`() throws {
        try applications.write("kde/cheese-cam.desktop", entry)
        #expect(try find(.app("kde-cheese-cam", runs: "/x")).name == "Cheese")
    }

    @Test func `that is missing names the key and the file`() throws {
        let path = try applications.write("org.gnome.Cheese.desktop", entry)
        let error = #expect(throws: CaptureError.self) { try find(cheese, [.camera, .microphone]) }
        #expect(error?.code == .missingUsageDescription)
        #expect(error?.message.contains("X-Capture-MicrophoneUsageDescription=") == true)
        #expect(error?.message.contains("X-Capture-CameraUsageDescription=") == false)
        #expect(error?.message.contains(path) == true)
    }

    @Test func `may be completed by the administrator`() throws {
        try applications.write("org.gnome.Cheese.desktop", entry)
        try overrides.write(
            "org.gnome.Cheese.desktop",
            "[Desktop Entry]\nX-Capture-MicrophoneUsageDescription=For films\n"
        )
        let found = try find(cheese, [.camera, .microphone])
        #expect(found.reasons == [.camera: "To take pictures", .microphone: "For films"])
    }

    @Test func `of an executable is found by the program that a file names`() throws {
        try overrides.write(
            "anything.desktop",
            entry + "X-Capture-Program=exe:/usr/bin/cheese\n"
        )
        try overrides.write("other.desktop", "[Desktop Entry]\nX-Capture-Program=exe:/usr/bin/cheese-2\n")
        #expect(try find(.program()).reasons == [.camera: "To take pictures"])
        #expect(throws: CaptureError.self) { try find(.program("/usr/bin/cheese-2")) }
        #expect(throws: CaptureError.self) { try find(.program("/usr/bin/chees")) }
    }

    @Test func `of an executable is found by the file's name`() throws {
        try overrides.write("usr-bin-cheese.desktop", entry)
        #expect(try find(.program()).name == "Cheese")
        try overrides.write("usr-bin-cheese.desktop", entry + "X-Capture-Program=exe:/usr/bin-cheese\n")
        #expect(throws: CaptureError.self) { try find(.program()) }
    }

    @Test(arguments: [
        ("cheese %U", true), ("/usr/bin/cheese --new", true), ("\"/usr/bin/cheese\" %f", true), ("cheese-2", false),
        ("/opt/cheese", false), ("env cheese", false),
    ])
    func `of an executable is found by what an application's entry runs`(command: String, isFound: Bool) throws {
        try applications.write("any.desktop", entry + "Exec=\(command)\n")
        #expect((try? find(.program()))?.name == (isFound ? "Cheese" : nil))
    }

    @Test func `of a service comes from its unit and drop-ins`() throws {
        try vendorUnits.write(
            "motion.service",
            "[Unit]\nDescription=Motion\n[X-Capture]\nX-Capture-CameraUsageDescription=To see \\\n  movement\n"
        )
        #expect(
            try find(service("motion.service"))
                == UsageDescription(name: "Motion", reasons: [.camera: "To see movement"])
        )
        try units.write("motion.service.d/10.conf", "[X-Capture]\nMicrophoneUsageDescription=To hear\n")
        try vendorUnits.write("motion.service.d/10.conf", "[X-Capture]\nMicrophoneUsageDescription=Hidden\n")
        try vendorUnits.write("motion.service.d/20.conf", "[X-Capture]\nX-Capture-CameraUsageDescription=Later\n")
        let found = try find(service("motion.service"), [.camera, .microphone])
        #expect(found.reasons == [.camera: "Later", .microphone: "To hear"])
        try units.write("motion.service.d/30.conf", "[X-Capture]\nX-Capture-CameraUsageDescription=\n")
        #expect(throws: CaptureError.self) { try find(service("motion.service")) }
    }

    @Test func `of an instance comes from its template`() throws {
        try units.write("cam@.service", "[X-Capture]\nCameraUsageDescription=Each\n")
        #expect(try find(service("cam@front.service")).reasons == [.camera: "Each"])
        try units.write("cam@front.service.d/a.conf", "[X-Capture]\nCameraUsageDescription=Front\n")
        #expect(try find(service("cam@front.service")).reasons == [.camera: "Front"])
        #expect(try find(service("cam@back.service")).reasons == [.camera: "Each"])
    }

    @Test(.enabled(if: geteuid() == 0))
    func `of a file that somebody else owns or can write does not count`() throws {
        let path = try applications.write("org.gnome.Cheese.desktop", entry, mode: 0o666)
        let error = #expect(throws: CaptureError.self) { try find(cheese) }
        #expect(error?.message.contains("can be written by others") == true)
        try FileManager.default.setAttributes([.posixPermissions: 0o644, .ownerAccountID: 12345], ofItemAtPath: path)
        let other = #expect(throws: CaptureError.self) { try find(cheese) }
        #expect(other?.message.contains("uid 12345") == true)
    }

    @Test func `is data, whatever is in it`() throws {
        let evil = "a\u{1B}[31m<b>red</b>\u{202E}\\nX & Y\u{7}" + String(repeating: "z", count: 5000)
        try applications.write(
            "org.gnome.Cheese.desktop",
            "[Desktop Entry]\nName=\u{202E}<i>\u{200B}\nX-Capture-CameraUsageDescription=\(evil)\n"
        )
        let found = try find(cheese)
        let reason = try #require(found.reasons[.camera])
        #expect(reason.hasPrefix("a [31m‹b›red‹/b› X ＆ Yzzz"))
        #expect(reason.count == 301)
        #expect(found.name == "‹i›")
    }

    @Test(arguments: ["../../etc/passwd", "..", ".", "a/b"])
    func `is not looked for outside of its folders`(id: String) {
        #expect(throws: CaptureError.self) { try find(.app(id, runs: "/x")) }
    }

    @Test func `is not read from a pipe or a file that is too large`() throws {
        let path = applications.path + "/org.gnome.Cheese.desktop"
        #expect(unsafe mkfifo(path, 0o600) == 0)
        #expect(throws: CaptureError.self) { try find(cheese) }
        try FileManager.default.removeItem(atPath: path)
        try applications.write("org.gnome.Cheese.desktop", entry + String(repeating: "#", count: 600_000))
        let error = #expect(throws: CaptureError.self) { try find(cheese) }
        #expect(error?.message.contains("is larger than") == true)
    }
}

@Suite struct `A shown text` {
    @Test(arguments: [
        ("plain", "plain"), ("a\nb\r\n\tc", "a b c"), ("  a  ", "a"), ("<b>&amp;</b>", "‹b›＆amp;‹/b›"),
        ("\u{1B}]0;title\u{7}x", "]0;titlex"), ("a\u{202E}b\u{2066}c\u{200F}d", "abcd"), ("\u{FEFF}a\u{200B}b", "ab"),
        ("e\u{301}\u{302}\u{303}\u{304}\u{305}", "e\u{301}\u{302}\u{303}"), ("\u{301}a", "a"), ("\u{E000}\u{FFFE}", ""),
        ("Käse 日本語", "Käse 日本語"), ("a\0b", "ab"), ("a\u{2028}b", "a b"), ("\u{E0041}x", "x"),
    ])
    func `is harmless`(text: String, shown: String) {
        #expect(DisplayText.neutralized(text) == shown)
    }

    @Test func `has a bound`() {
        #expect(DisplayText.neutralized("abcdef", limit: 6) == "abcdef")
        #expect(DisplayText.neutralized("abcdefg", limit: 6) == "abcdef…")
        #expect(DisplayText.neutralized(String(repeating: "x", count: 1_000_000), limit: 10).count == 11)
        #expect(DisplayText.neutralized(String(repeating: "\u{301}", count: 1_000_000), limit: 10).isEmpty)
    }
}
