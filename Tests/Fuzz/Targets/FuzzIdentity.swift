import CaptureCore

@testable import Authorization

/// What a program can make the system say of it: its names, its label, its control group, its sandbox's file.
enum FuzzIdentity {
    @Sendable static func process(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let shape = input.byte()
        let uid = input.one(of: [0, 998, 1000] as [UInt32])
        // What is outside of every root is refused before it comes here.
        let link = "/" + input.text().drop { $0 == "/" }
        let optional = { (isThere: Bool, text: String) in isThere ? text : nil }
        let systemUnit = optional(shape & 1 != 0, input.text())
        let userUnit = optional(shape & 2 != 0, input.text())
        let label = input.text()
        let info = input.text()
        let facts = ProcessFacts(
            pid: 7,
            uid: uid,
            executable: .file(ExecutableFile(path: link, device: 1, inode: 2, isProtected: shape & 4 != 0)),
            systemUnit: systemUnit,
            systemUnitUser: input.one(of: [nil, 0, 998, 1000, .max]),
            userUnit: userUnit,
            session: optional(shape & 8 != 0, "3"),
            isLoginUser: uid == 1000,
            label: label,
            flatpakInfo: shape & 16 != 0
                ? .file(text: info, owner: uid, isInMemory: shape & 32 != 0, isOnOwnRoot: shape & 64 != 0) : .absent
        )
        guard let client = try? ClientIdentity.identify(facts) else { return }
        // A program has to be one that settings can name, or its answers could never be changed.
        guard let id = try? ProgramID(client.program) else {
            fatalError("broken promise: '\(client.program)' is an id that no command takes")
        }
        FuzzTarget.hold(id.tier == client.tier, "the id '\(client.program)' says the tier")
        FuzzTarget.hold(client.user == uid, "it is the user that the socket says")
        FuzzTarget.hold(client.isUnchanged(in: client), "it is itself")
        if client.tier == .service {
            FuzzTarget.hold(client.program == "unit:\(systemUnit ?? "")", "a service is named by its unit alone")
        }
        if case .flatpak = id { FuzzTarget.hold(shape & 16 != 0, "a Flatpak has its file") }
        FuzzFiles.check(client.detail, limit: 400)
        FuzzFiles.check(client.name, limit: 80)
    }

    @Sendable static func program(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        let name = MetadataUsageDescriptions.fileName(of: text)
        FuzzTarget.hold(!name.contains("/") && name != ".." && name != ".", "'\(name)' is a name within a folder")
        if let id = try? ProgramID(text) {
            FuzzTarget.hold((try? ProgramID(id.text)) == id, "'\(text)' is the id that is written so")
        }
        _ = UnitName.application(text)
        _ = UnitName.unescape(text[...])
        // Empty for a snap's unit that names none.
        if let snap = SnapName.inUnit(text), !snap.isEmpty {
            FuzzTarget.hold(SnapName.isName(snap), "'\(snap)' is a snap's name")
        }
        _ = SnapName.inLabel(text)
        _ = FlatpakInfo.isID(text)
        for candidate in DesktopEntryPaths.candidates(for: text) where !text.contains("/") && text != ".." {
            FuzzTarget.hold(!candidate.split(separator: "/").contains(".."), "'\(candidate)' stays below its folder")
        }
        _ = TimeSpan.parse(text)
    }
}
