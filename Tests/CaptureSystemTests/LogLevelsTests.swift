import CaptureSystem
import Logging
import Testing

@Suite struct `CAPTURE_LOG` {
    @Test(
        arguments: [
            (nil, [.info, .info]), ("", [.info, .info]), ("debug", [.debug, .debug]), ("bus=trace", [.trace, .info]),
            ("debug,bus=info", [.info, .debug]), ("bus=debug,engine=trace", [.debug, .trace]),
        ] as [(String?, [Logger.Level])]
    )
    func `sets the level of each room`(text: String?, levels: [Logger.Level]) {
        let found = LogLevels(text)
        #expect(["captured.bus", "captured.engine"].map { found.level(of: $0) } == levels)
        #expect(found.problems.isEmpty)
    }

    @Test func `a room that it does not name keeps its usual level`() {
        #expect(LogLevels("bus=debug").level(of: "captured.engine", usual: .warning) == .warning)
    }

    @Test(arguments: [
        ("loud", "CAPTURE_LOG: 'loud' is no level; there are: debug, trace, info"),
        ("bus=", "CAPTURE_LOG: '' is no level; there are: debug, trace, info"),
        ("a=b=c", "CAPTURE_LOG: 'a=b=c' is no level; there are: debug, trace, info"),
        (
            "gate=debug",
            "CAPTURE_LOG: 'gate' is no room that logs; there are: authorization, bus, devices, engine, rings, system"
        ),
    ]) func `what is wrong is told and has no effect`(text: String, problem: String) {
        let found = LogLevels("engine=debug,\(text)")
        #expect(found.problems == [problem])
        #expect(found.level(of: "captured.engine") == .debug)
        #expect(found.level(of: "captured.bus") == .info)
    }
}
