import CaptureKit

/// What uses cameras and microphones, as lines and as JSON.
enum UsePresentation {
    static func table(_ uses: [LiveUse]) -> Table {
        var table = Table([
            .text("DEVICE"), "SERVICE", .optional("USER"), .name("PROGRAM"), ">SESSION", .optional("SINCE"), "UNTIL",
        ])
        for use in uses {
            table.add([
                device(use), use.service, use.user, use.program, "\(use.session)", clock(use.began),
                use.ended.map(clock) ?? "now",
            ])
        }
        return table
    }

    /// What became of a use, as in `camera Front of ann is used by exe:/usr/bin/tool`.
    static func sentence(_ use: LiveUse) -> String {
        let what = "\(use.service) \(device(use))"
        let whose = "\(use.program) of \(use.user)"
        return switch use.phase {
        case .live: "\(what) is used by \(whose)"
        case .ended: "\(what) is no longer used by \(whose)"
        case .gone: "the use of \(what) by \(whose) is no longer listed"
        }
    }

    static func json(_ use: LiveUse) -> JSON {
        [
            "id": .id(use.id), "state": JSON(use.phase.rawValue), "service": JSON(use.service),
            "device": JSON(use.device), "deviceName": JSON(use.deviceName), "user": JSON(use.user),
            "program": JSON(use.program), "name": JSON(use.name), "tier": JSON(use.tier),
            "session": .id(use.session), "began": .time(milliseconds: use.began),
            "ended": use.ended.map { .time(milliseconds: $0) } ?? .null,
        ]
    }

    private static func device(_ use: LiveUse) -> String { use.deviceName.isEmpty ? use.device : use.deviceName }

    private static func clock(_ milliseconds: Int64) -> String { Clock.Moment(seconds: milliseconds / 1000).clock }
}
