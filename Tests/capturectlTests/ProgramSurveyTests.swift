import CaptureKit
import Foundation
import Testing

@testable import capturectl

struct ProgramSurveyTests {
    private let fake = FakeMachine()
    private let places = ProgramSurvey.Places(path: "/usr/bin:/usr/local/bin", data: "", home: "/home/alice")

    private func put(_ path: String, _ program: MadeProgram, mode: Int = 0o755) throws {
        try fake.put(path, "", mode: mode)
        try Data(program.bytes).write(to: URL(fileURLWithPath: fake.root + path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: fake.root + path)
    }

    /// A program for this processor, as far as the fake machine tells: its own is unknown there.
    private func survey(_ budget: ReadingBudget = .patient) -> ProgramSurvey {
        ProgramSurvey.take(fake.machine, budget, places: places)
    }

    private func uses(_ name: String) -> [Bridge]? { survey().programs.first { $0.name == name }?.uses }

    @Test func `programs capture by the functions that they call, not by the libraries that they need`() throws {
        try put("/usr/bin/arecord", MadeProgram(libraries: ["libasound.so.2"], functions: ["snd_pcm_readi"]))
        try put("/usr/bin/player", MadeProgram(libraries: ["libasound.so.2"], functions: ["snd_pcm_writei"]))
        try put("/usr/bin/ffmpeg", MadeProgram(libraries: ["libavdevice.so.59"], functions: ["avdevice_register_all"]))
        try put(
            "/usr/bin/webcam",
            MadeProgram(libraries: ["libc.so.6"], functions: ["ioctl"], constants: "/dev/video0")
        )
        try put("/usr/bin/talker", MadeProgram(libraries: ["libc.so.6"], constants: "see /dev/video0"))
        try put("/usr/bin/gstreaming", MadeProgram(libraries: ["libgstreamer-1.0.so.0"], constants: "v4l2src ! x"))
        try put("/usr/bin/ours", MadeProgram(libraries: ["libcapture.so.0", "libv4l2.so.0"], functions: ["v4l2_open"]))
        try put("/usr/bin/not-run", MadeProgram(libraries: ["libv4l2.so.0"], functions: ["v4l2_open"]), mode: 0o644)
        try fake.put("/usr/bin/script", "#!/usr/bin/python3\nimport cv2\n", mode: 0o755)
        try fake.link("/usr/bin/arec", to: "arecord")
        let found = survey()
        #expect(found.isWhole)
        #expect(found.programs.map(\.name).sorted() == ["arecord", "ffmpeg", "gstreaming", "script", "webcam"])
        #expect(uses("ffmpeg") == [.v4l2, .alsa, .pulse])
        #expect(uses("gstreaming") == [.v4l2])
        #expect(found.programs.first { $0.name == "arecord" }?.title == "arecord (arec)")
    }

    @Test func `libraries of a program's own are followed, those that serve many are not`() throws {
        try put(
            "/opt/app/lib/libcamera-of-app.so",
            MadeProgram(interpreter: nil, libraries: ["libv4l2.so.0"], functions: ["v4l2_open"])
        )
        try put("/opt/app/bin/app", MadeProgram(libraries: ["libown.so"], folder: "$ORIGIN/../lib"))
        try put("/opt/app/lib/libown.so", MadeProgram(interpreter: nil, libraries: ["libloop.so"], folder: "${ORIGIN}"))
        try put(
            "/opt/app/lib/libloop.so",
            MadeProgram(
                interpreter: nil,
                libraries: ["libown.so", "libv4l2.so.0"],
                folder: "${ORIGIN}",
                functions: ["v4l2_open"]
            )
        )
        try fake.link("/usr/bin/app", to: "../../opt/app/bin/app")
        try put(
            "/usr/lib/x86_64-linux-gnu/libSDL2-2.0.so.0",
            MadeProgram(libraries: ["libasound.so.2"], functions: ["snd_pcm_readi"])
        )
        try put("/usr/bin/game", MadeProgram(libraries: ["libSDL2-2.0.so.0"]))
        try fake.put("/usr/share/applications/app.desktop", "[Desktop Entry]\nExec=env A=1 \"/opt/app/bin/app\" %U\n")
        let programs = survey().programs
        #expect(programs.map(\.names) == [["app"]])
        #expect(programs.first?.isOnDesktop == true)
        #expect(uses("app") == [.v4l2])
    }

    @Test func `what cannot be reached is told with the reason`() throws {
        try put(
            "/usr/bin/still",
            MadeProgram(interpreter: nil, constants: "/dev/video0 /dev/snd/pcmC0D0c", isDynamic: false)
        )
        try put("/usr/bin/gopher", MadeProgram(libraries: ["libc.so.6"], constants: "/dev/video0", isGo: true))
        try put("/usr/bin/risen", MadeProgram(libraries: ["libv4l2.so.0"], functions: ["v4l2_open"]), mode: 0o4755)
        try fake.put(
            "/var/lib/flatpak/exports/share/applications/a.desktop",
            "[Desktop Entry]\nExec=/usr/bin/flatpak run a\nX-Flatpak=org.a\n"
        )
        try fake.put(
            "/var/lib/flatpak/app/org.a/current/active/metadata",
            "[Context]\nsockets=x11;pulseaudio;\ndevices=all;\n"
        )
        let states = [Bridge.v4l2, .alsa, .pipewire].map {
            BridgeState(bridge: $0, isInstalled: true, isOn: true, isByLockdown: true, place: "")
        }
        let list = ProgramPresentation(survey: survey(), states: states, isPulsePipeWire: true)
        let text = list.all(width: nil)
        func row(_ name: String) -> [String] {
            text.split(separator: "\n").filter { $0.hasPrefix(name + " ") }.map(String.init)
        }
        #expect(row("still").count == 2 && row("still").allSatisfy { $0.contains("not reached: static") })
        #expect(row("gopher").first?.contains("not reached: Go") == true)
        #expect(row("risen").first?.contains("not reached: setuid") == true)
        #expect(row("org.a").map { $0.contains("not reached: Flatpak") } == [true, false])
    }

    @Test func `a program comes as the bridges are`() {
        let program = CaptureProgram(names: ["x"], path: "/x", uses: Bridge.listed, obstacle: nil)
        func texts(_ isInstalled: Bool, _ isOn: Bool, pulse: Bool = true) -> [String] {
            let states = Bridge.installable.map {
                BridgeState(bridge: $0, isInstalled: isInstalled, isOn: isOn, isByLockdown: false, place: "")
            }
            let survey = ProgramSurvey(programs: [program])
            let list = ProgramPresentation(survey: survey, states: states, isPulsePipeWire: pulse)
            return program.uses.map { list.way(program, $0).means.rawValue }
        }
        #expect(texts(false, false) == ["none", "none", "none", "none"])
        #expect(texts(true, false) == ["capture-run", "alsa-device", "none", "none"])
        #expect(texts(true, true) == ["preload", "alsa-default", "pipewire", "pipewire"])
        #expect(texts(true, true, pulse: false) == ["preload", "alsa-default", "none", "pipewire"])
    }

    @Test func `a page has the most important of many programs, and counts the others`() {
        let many = (100..<160).map {
            CaptureProgram(names: ["program\($0)"], path: "/usr/bin/program\($0)", uses: [.alsa], obstacle: nil)
        }
        let others = [
            CaptureProgram(names: ["zoom"], path: "/z", uses: [.v4l2], obstacle: nil, isOnDesktop: true),
            CaptureProgram(names: ["zstatic"], path: "/s", uses: [.v4l2], obstacle: .isStatic),
        ]
        let survey = ProgramSurvey(programs: many + others, looked: 62, isWhole: false)
        let page = ProgramPresentation(survey: survey, states: [], isPulsePipeWire: true).page(width: 80)
        let lines = page.split(separator: "\n")
        #expect(lines.count == ProgramPresentation.page + 4)
        #expect(lines.allSatisfy { $0.count <= 80 || $0.hasPrefix("62 installed") || $0.hasPrefix("not all") })
        #expect(page.contains("zoom") && page.contains("zstatic") && page.contains("and 42 more"))
        #expect(page.contains("not all programs were looked at"))
    }

    @Test func `a spent budget ends the survey, and is told`() throws {
        for number in 0..<50 {
            try put("/usr/bin/p\(number)", MadeProgram(libraries: ["libv4l2.so.0"], functions: ["v4l2_open"]))
        }
        let found = survey(ReadingBudget(bytes: 20_000, milliseconds: 60_000))
        #expect(!found.isWhole && !found.programs.isEmpty && found.programs.count < 50)
        #expect(!survey(ReadingBudget(bytes: 1 << 30, milliseconds: 0)).isWhole)
    }

    @Test(
        arguments: [
            ("Exec=ffplay %f", "ffplay"), ("Exec=/usr/bin/env -i A=b cheese", "cheese"),
            ("Exec=\"/opt/a b/c\" x", "/opt/a b/c"),
            ("Exec=", nil), ("Name=x", nil), ("Exec=%f", nil),
        ] as [(String, String?)]
    )
    func `a desktop entry's command is its first word`(_ line: String, _ command: String?) {
        #expect(DesktopEntry("[Desktop Entry]\n\(line)\n[Desktop Action new]\nExec=other\n")?.command == command)
    }
}
