@testable import Authorization
@testable import ProgramIdentity
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
            overrides: [overrides.path]
        ) { _ in locale }.description(of: client, for: services)
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

    @Test
    func `of a system unit that runs as a person comes from the unit, and never from one of her own of that name`()
        throws
    {
        try units.write("doorbell.service", "[Unit]\nDescription=Bell\n[X-Capture]\nCameraUsageDescription=Who rings\n")
        var client = ClientIdentity.app("doorbell", runs: "/usr/bin/bell")
        client.parts.unit = "doorbell.service"
        client.units = ["doorbell.service"]
        #expect(try find(client).reasons == [.camera: "Who rings"])
        client.units = ["user@1000.service", "doorbell.service"]
        #expect(throws: CaptureError.self) { try find(client) }
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

    @Test func `of a service is in the language asked for`() throws {
        try units.write(
            "motion.service",
            "[X-Capture]\nCameraUsageDescription=To see\nCameraUsageDescription[de]=Um zu sehen\n"
        )
        #expect(try find(service("motion.service"), locale: "de_CH.UTF-8").reasons == [.camera: "Um zu sehen"])
        try units.write("motion.service.d/a.conf", "[X-Capture]\nCameraUsageDescription[de_CH]=Zum Luege\n")
        #expect(try find(service("motion.service"), locale: "de_CH.UTF-8").reasons == [.camera: "Zum Luege"])
        #expect(try find(service("motion.service"), locale: "fr_CH.UTF-8").reasons == [.camera: "To see"])
    }

    @Test func `of a service is applied from drop-ins in the order of their names, the most particular of a name`()
        throws
    {
        func write(_ folder: String, _ file: String, _ text: String, _ root: TemporaryFolder) throws {
            try root.write("\(folder).d/\(file)", "[X-Capture]\nCameraUsageDescription=\(text)\n")
        }
        try write("service", "10.conf", "all", vendorUnits)
        #expect(try find(service("cam-front@1.service")).reasons == [.camera: "all"])
        try write("cam-.service", "10.conf", "cams", vendorUnits)
        #expect(try find(service("cam-front@1.service")).reasons == [.camera: "cams"])
        try write("cam-front@.service", "10.conf", "template", vendorUnits)
        #expect(try find(service("cam-front@1.service")).reasons == [.camera: "cams"])
        try write("cam-front@1.service", "10.conf", "instance", vendorUnits)
        #expect(try find(service("cam-front@1.service")).reasons == [.camera: "instance"])
        try write("service", "20.conf", "later", vendorUnits)
        #expect(try find(service("cam-front@1.service")).reasons == [.camera: "later"])
        try FileManager.default.createSymbolicLink(
            atPath: units.path + "/service.d-20",
            withDestinationPath: "/dev/null"
        )
        try FileManager.default.createDirectory(atPath: units.path + "/service.d", withIntermediateDirectories: true)
        try FileManager.default.moveItem(
            atPath: units.path + "/service.d-20",
            toPath: units.path + "/service.d/20.conf"
        )
        #expect(try find(service("cam-front@1.service")).reasons == [.camera: "instance"])
    }

    @Test func `of a user's service comes from the unit that the system brings along`() throws {
        try vendorUnits.write("webcam-watch.service", "[X-Capture]\nCameraUsageDescription=Watches\n")
        var client = ClientIdentity.app("webcam-watch", runs: "/usr/bin/python3")
        let metadata = MetadataUsageDescriptions(
            applications: [],
            units: [],
            userUnits: [vendorUnits.path],
            overrides: [overrides.path]
        )
        #expect(throws: CaptureError.self) { try metadata.description(of: client, for: [.camera]) }
        client.parts.unit = "webcam-watch.service"
        #expect(try metadata.description(of: client, for: [.camera]).reasons == [.camera: "Watches"])
        let error = #expect(throws: CaptureError.self) { try metadata.description(of: client, for: [.microphone]) }
        #expect(error?.message.contains("\(vendorUnits.path)/webcam-watch.service under [X-Capture]") == true)
    }

    @Test func `of a snap comes from the snap`() throws {
        try applications.write("cheese/current/meta/gui/cheese.desktop", entry)
        try applications.write("cheese/current/meta/gui/a.desktop", "[Desktop Entry]\nName=Other\n")
        let client = ClientIdentity(program: "snap:cheese", tier: .sandboxed, user: 1000, name: "cheese", detail: "")
        let metadata = MetadataUsageDescriptions(
            applications: [],
            units: [],
            snaps: [applications.path],
            overrides: [overrides.path]
        )
        #expect(try metadata.description(of: client, for: [.camera]).name == "Cheese")
        let error = #expect(throws: CaptureError.self) { try metadata.description(of: client, for: [.microphone]) }
        #expect(error?.code == .missingUsageDescription)
        #expect(error?.message.contains("X-Capture-MicrophoneUsageDescription=") == true)
    }

    @Test func `of a Flatpak comes from its sandbox, then from what the system knows of it`() throws {
        let client = ClientIdentity(
            program: "flatpak:org.gnome.Cheese",
            tier: .sandboxed,
            user: 1000,
            name: "org.gnome.Cheese",
            detail: ""
        )
        func metadata(_ file: SandboxFile) -> MetadataUsageDescriptions {
            MetadataUsageDescriptions(
                applications: [applications.path],
                units: [],
                overrides: [overrides.path],
                sandboxes: FixedSandbox(path: "share/applications/org.gnome.Cheese.desktop", file: file)
            ) { _ in "de" }
        }
        let own = metadata(.text(entry, place: "/app/share/applications/org.gnome.Cheese.desktop"))
        #expect(try own.description(of: client, for: [.camera]).reasons == [.camera: "Um Bilder zu machen"])
        let missing = #expect(throws: CaptureError.self) { try own.description(of: client, for: [.microphone]) }
        #expect(
            missing?.message.contains("/app/share/applications/org.gnome.Cheese.desktop under [Desktop Entry]") == true
        )
        let refused = #expect(throws: CaptureError.self) {
            try metadata(.unusable("is a trap")).description(of: client, for: [.camera])
        }
        #expect(refused?.message.contains("is a trap") == true)
        try applications.write("org.gnome.Cheese.desktop", entry)
        #expect(try metadata(.absent).description(of: client, for: [.camera]).name == "Käse")
    }

    @Test(arguments: [
        ("flatpak:org.a.B", Tier.sandboxed), ("snap:cam", .sandboxed), ("unit:cam.service", .service),
        ("uid:990", .user), ("app:cam", .claimed), ("exe:/opt/cam", .claimed),
    ])
    func `that is missing refuses in every tier, and names a file that would have it`(program: String, tier: Tier)
        throws
    {
        let client = ClientIdentity(program: program, tier: tier, user: 990, name: "cam", detail: "")
        let error = #expect(throws: CaptureError.self) { try find(client) }
        #expect(error?.code == .missingUsageDescription)
        let folder = tier == .claimed ? "~/.config/captured/apps.d" : overrides.path
        let file = folder + "/" + MetadataUsageDescriptions.fileName(of: program)
        #expect(error?.message.contains("X-Capture-CameraUsageDescription= into \(file) under [Desktop Entry]") == true)
        try overrides.write(MetadataUsageDescriptions.fileName(of: program), entry + "X-Capture-Program=\(program)\n")
        #expect(try find(client).name == "Cheese")
    }

    @Test func `is never a stale one, however its file was changed`() throws {
        let path = try applications.write("org.gnome.Cheese.desktop", entry)
        let metadata = MetadataUsageDescriptions(applications: [applications.path], units: [], overrides: [])
        func reason() throws -> String? { try metadata.description(of: cheese, for: [.camera]).reasons[.camera] }
        #expect(try reason() == "To take pictures")
        // As long, and written in the same tick of the kernel's clock, perhaps.
        for word in ["1", "2", "3"] {
            try applications.write("org.gnome.Cheese.desktop", entry.replacing("pictures", with: "picture" + word))
            #expect(try reason() == "To take picture" + word)
        }
        try FileManager.default.removeItem(atPath: path)
        #expect(throws: CaptureError.self) { try reason() }
        try applications.write("org.gnome.Cheese.desktop", entry)
        #expect(try reason() == "To take pictures")
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
        #expect(throws: CaptureError.self) { try reason() }
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

/// One file in a sandbox.
private struct FixedSandbox: SandboxFiles {
    let path: String
    let file: SandboxFile

    func read(_ path: String, of client: ClientIdentity) -> SandboxFile {
        path == self.path ? file : .absent
    }
}

@Suite struct `Metadata that was read` {
    private let folder: TemporaryFolder
    private let path: String
    private let file = KeyFile(parsing: "[X-Capture]\nA=b\n", path: "x", dialect: .systemd)

    init() throws {
        folder = try TemporaryFolder()
        path = try folder.write("x.desktop", "[X-Capture]\nA=b\n")
    }

    private func isKnown(_ cache: MetadataCache, _ stamp: FileStamp) -> Bool {
        if case .parsed = cache.content(of: path, stamp) { true } else { false }
    }

    @Test func `is not kept while the next change might look the same`() throws {
        let cache = MetadataCache()
        var (stamp, isKept): (FileStamp, Bool)
        // A test that is held up for two seconds changes the file once more.
        repeat {
            try #require(unsafe chmod(path, 0o644) == 0)
            stamp = try #require(FileStamp(of: path))
            cache.keep(.parsed(file), of: path, stamp)
            isKept = isKnown(cache, stamp)
        } while stamp.isSettled(at: FileStamp.now)
        #expect(!isKept)
        #expect(stamp.isSettled(at: FileStamp.now + 3_000_000_000))
    }

    @Test func `is kept for as long as the file stays the same`() throws {
        // One that nobody has touched for long.
        let cache = MetadataCache()
        let old = "/etc/passwd"
        let stamp = try #require(FileStamp(of: old))
        try #require(stamp.isSettled(at: FileStamp.now))
        cache.keep(.parsed(file), of: old, stamp)
        guard case .parsed(let known) = cache.content(of: old, stamp) else {
            Issue.record("it was not kept")
            return
        }
        #expect(known == file)
        #expect(cache.content(of: old, try #require(FileStamp(of: path))) == nil)
        // Read before the file was replaced, kept after.
        cache.keep(.parsed(file), of: path, stamp)
        #expect(cache.content(of: path, stamp) == nil)
    }

    @Test func `has another stamp after each kind of change`() throws {
        var stamps: Set<FileStamp> = []
        func note() throws { stamps.insert(try #require(FileStamp(of: path))) }
        try note()
        try folder.write("x.desktop", "[X-Capture]\nA=longer\n")
        try note()
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        try note()
        try FileManager.default.removeItem(atPath: path)
        #expect(FileStamp(of: path) == nil)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(FileStamp(of: path) == nil)
        #expect(stamps.count == 3)
    }
}

@Suite struct `A user's language` {
    private let accounts: TemporaryFolder
    private let systems: TemporaryFolder

    init() throws {
        accounts = try TemporaryFolder()
        systems = try TemporaryFolder()
    }

    private func locale(_ name: String) -> String {
        UserLocales(
            accounts: accounts.path,
            systems: [systems.path + "/locale.conf", systems.path + "/locale"]
        ).locale(of: name)
    }

    @Test func `is what the account's settings say, else the system's`() throws {
        #expect(locale("ann") == "")
        try systems.write("locale", "# comment\nLANG=\"fr_FR.UTF-8\"\n")
        #expect(locale("ann") == "fr_FR.UTF-8")
        try systems.write("locale.conf", "LANG=en_US.UTF-8\nLC_MESSAGES='sr_RS@latin' \nLC_TIME=de_DE\n")
        #expect(locale("ann") == "sr_RS@latin")
        try accounts.write("ann", "[User]\nLanguage=de_AT.UTF-8\nSystemAccount=false\n", mode: 0o600)
        #expect(locale("ann") == "de_AT.UTF-8")
        try accounts.write("bob", "[User]\nLanguages=pt_BR.UTF-8;en_US.UTF-8;\n")
        #expect(locale("bob") == "pt_BR.UTF-8")
        try accounts.write("eve", "[User]\nLanguage=\nSession=gnome\n")
        #expect(locale("eve") == "sr_RS@latin")
        #expect(locale("") == "sr_RS@latin")
    }

    @Test(arguments: ["../locale", "..", ".", "a/b", ".hidden"])
    func `is not looked for outside of the accounts`(name: String) throws {
        try systems.write("locale", "[User]\nLanguage=xx\n")
        try accounts.write(".hidden", "[User]\nLanguage=xx\n")
        #expect(locale(name) == "")
    }

    @Test(arguments: ["de AT", "../..", "de\u{1B}[2J", String(repeating: "a", count: 65), "ü"])
    func `is a locale and nothing else`(text: String) throws {
        try systems.write("locale", "LANG=\(text)\n")
        #expect(locale("ann") == "")
    }

    @Test(arguments: [
        ("de_AT@euro", "5"), ("de_AT.UTF-8@euro", "5"), ("de_AT.UTF-8", "4"), ("de_DE@euro", "3"), ("de_DE", "2"),
        ("fr_FR@euro", "1"), ("C.UTF-8", "1"), ("", "1"),
    ])
    func `chooses the most exact text that there is`(locale: String, value: String) {
        let file = KeyFile(
            parsing: "[S]\nK=1\nK[de]=2\nK[de@euro]=3\nK[de_AT]=4\nK[de_AT@euro]=5\n",
            path: "x",
            dialect: .desktopEntry
        )
        #expect(file.value("S", "K", locale: locale) == value)
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
