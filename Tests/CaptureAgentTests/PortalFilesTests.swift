import Foundation
import Testing

@testable import CaptureAgent

/// Which backend is chosen, for the files and rules of portals.conf(5).
struct PortalFilesTests {
    private static let access = "org.freedesktop.impl.portal.Access"

    /// The choice with the given files below one folder of data and one of the user's settings.
    private func choice(_ files: [String: String], desktop: String = "") throws -> PortalFiles.Choice {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("portals-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, text) in files {
            let file = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: file)
        }
        let variables = [
            "HOME": folder.path + "/home", "XDG_DATA_DIRS": folder.path + "/data",
            "XDG_CONFIG_DIRS": folder.path + "/etc", "XDG_CONFIG_HOME": folder.path + "/config",
            "XDG_CURRENT_DESKTOP": desktop,
        ]
        // The machine's own folder comes last and is not looked at: some name is found before, or none is wanted.
        switch PortalFiles({ variables[$0] }).choice(for: PortalFilesTests.access) {
        case .backend(let name, let file):
            return .backend(name, file: String(file.dropFirst(folder.path.count + 1)))
        case .nobody(let file): return .nobody(file: String(file.dropFirst(folder.path.count + 1)))
        case .unsaid: return .unsaid
        }
    }

    private static func portal(_ name: String, useIn: String = "", interfaces: String = access) -> String {
        "[portal]\nDBusName=bus.\(name)\nInterfaces=org.freedesktop.impl.portal.Print;\(interfaces);\nUseIn=\(useIn)\n"
    }

    private static let installed = [
        "data/xdg-desktop-portal/portals/aaa.portal": portal("aaa"),
        "data/xdg-desktop-portal/portals/gtk.portal": portal("gtk", useIn: "gnome"),
        "data/xdg-desktop-portal/portals/kde.portal": portal("kde", useIn: "KDE"),
        "data/xdg-desktop-portal/portals/wlr.portal": portal("wlr", useIn: "sway", interfaces: "x.ScreenCast"),
    ]

    private func file(_ name: String) -> String { "data/xdg-desktop-portal/portals/\(name).portal" }

    @Test func `without settings the one for the desktop is taken, else gtk's`() throws {
        let files = PortalFilesTests.installed
        #expect(try choice(files, desktop: "KDE") == .backend("bus.kde", file: file("kde")))
        #expect(try choice(files, desktop: "Budgie:GNOME") == .backend("bus.gtk", file: file("gtk")))
        #expect(try choice(files, desktop: "sway") == .backend("bus.gtk", file: file("gtk")))
        #expect(try choice(files) == .backend("bus.gtk", file: file("gtk")))
    }

    @Test func `settings decide, the interface's own before the default, the user's before the system's`() throws {
        var files = PortalFilesTests.installed
        files["data/xdg-desktop-portal/kde-portals.conf"] = "[preferred]\ndefault=gtk\n"
        #expect(try choice(files, desktop: "KDE") == .backend("bus.gtk", file: file("gtk")))
        files["etc/xdg-desktop-portal/portals.conf"] =
            "# mine\n[preferred]\ndefault = gtk\n\(PortalFilesTests.access) = kde\n"
        #expect(try choice(files) == .backend("bus.kde", file: file("kde")))
        files["config/xdg-desktop-portal/portals.conf"] = "[preferred]\ndefault=*\n"
        #expect(try choice(files, desktop: "KDE") == .backend("bus.aaa", file: file("aaa")))
    }

    @Test func `what is not installed, or does not show questions, is passed over`() throws {
        var files = PortalFilesTests.installed
        files["config/xdg-desktop-portal/portals.conf"] =
            "[preferred]\n\(PortalFilesTests.access)=nope;wlr\ndefault=kde;gtk"
        #expect(try choice(files) == .backend("bus.kde", file: file("kde")))
    }

    @Test func `none is nobody, and the file that says so is named`() throws {
        var files = PortalFilesTests.installed
        let settings = "config/xdg-desktop-portal/portals.conf"
        files[settings] = "[preferred]\ndefault=gtk\n\(PortalFilesTests.access)=none\n"
        #expect(try choice(files) == .nobody(file: settings))
        files[settings] = "[preferred]\ndefault=none\n"
        #expect(try choice(files) == .nobody(file: settings))
        files[settings] = "[preferred]\ndefault=none\n\(PortalFilesTests.access)=gtk\n"
        #expect(try choice(files) == .backend("bus.gtk", file: file("gtk")))
    }

    @Test func `a folder named for all is the only one looked into`() {
        let files = PortalFiles { ["XDG_DESKTOP_PORTAL_DIR": "/nowhere", "HOME": "/root"][$0] }
        #expect(files.choice(for: PortalFilesTests.access) == .unsaid)
    }
}
