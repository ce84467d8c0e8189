@testable import Authorization
import CaptureCore
import Testing

/// What keeps a limited program's person from being offered more of the library.
@Suite struct `A program's wish for no offers` {
    let applications: TemporaryFolder
    let units: TemporaryFolder
    let overrides: TemporaryFolder

    init() throws {
        applications = try TemporaryFolder()
        units = try TemporaryFolder()
        overrides = try TemporaryFolder()
    }

    private func isFound(_ client: ClientIdentity) -> Bool {
        MetadataUsageDescriptions(
            applications: [applications.path],
            units: [units.path],
            overrides: [overrides.path]
        ).preventsLibraryAlert(client)
    }

    private let album = ClientIdentity.app("org.example.Album", runs: "/usr/bin/album")

    private func entry(_ lines: String) -> String { "[Desktop Entry]\nName=Album\n\(lines)\n" }

    @Test(arguments: [
        ("X-Capture-PreventAutomaticLimitedLibraryAlert=true", true),
        ("X-Capture-PreventAutomaticLimitedLibraryAlert=false", false),
        ("X-Capture-PreventAutomaticLimitedLibraryAlert=yes", false),
        ("PreventAutomaticLimitedLibraryAlert=true", false), ("X-Capture-CameraUsageDescription=To see", false),
    ])
    func `is the word true in its desktop entry`(line: String, isFound: Bool) throws {
        try applications.write("org.example.Album.desktop", entry(line))
        #expect(self.isFound(album) == isFound)
    }

    @Test func `may be in its unit, and is nowhere without metadata`() throws {
        let unit = ClientIdentity(program: "unit:a.service", tier: .service, user: 990, name: "a", detail: "")
        #expect(!isFound(unit))
        try units.write("a.service", "[Unit]\nDescription=A\n[X-Capture]\nPreventAutomaticLimitedLibraryAlert=true\n")
        #expect(isFound(unit))
    }

    @Test func `counts as the first file has it that says something of it`() throws {
        let key = "X-Capture-PreventAutomaticLimitedLibraryAlert"
        try overrides.write("org.example.Album.desktop", entry("\(key)=true"))
        #expect(isFound(album))
        try applications.write("org.example.Album.desktop", entry("\(key)=false"))
        #expect(!isFound(album))
    }
}
