import Authorization
import CaptureBus
import CaptureCore
import CaptureMessages

@testable import CaptureService

/// What the daemon itself reads of a call.
enum FuzzDaemon {
    @Sendable static func history(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let caller = ClientIdentity(
            program: "unit:a.service",
            tier: input.one(of: [.claimed, .service]),
            user: input.one(of: [0, 4711]),
            name: "a",
            detail: ""
        )
        let keys = ["user", "program", "service", "since", "until", "before", "limit", "page"]
        let table = BusValue.properties(FuzzBodies.table(&input, 5, keys: keys))
        guard let filter = try? HistoryFilter(busValue: table),
            let query = try? HistoryPages.allowed(filter, to: caller)
        else { return }
        FuzzTarget.hold((1...HistoryFilter.largestPage).contains(query.limit), "a page is short")
        FuzzTarget.hold((query.before ?? 1) > 0, "a page begins at an entry")
        FuzzTarget.hold(caller.user == 0 || query.user == String(caller.user), "nobody is shown another's history")
        FuzzTarget.hold(
            caller.user == 0 || caller.tier == .claimed || query.program == caller.program,
            "a service is shown its own history"
        )
    }

    @Sendable static func lifetimes(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let now: Int64 = 1_700_000_000_000
        var table: [String: BusValue] = [:]
        for _ in 0..<input.byte() % 3 {
            let service = input.one(of: ["camera", "library-read-write", "library-add", "everything"])
            let keys = ["allowed", "lifetime", "until", "limited", "for"]
            table[service] = .properties(FuzzBodies.table(&input, 5, keys: keys))
        }
        for (service, answer) in (try? LifetimeCoding.answers(table, now: now)) ?? [:] {
            FuzzTarget.hold(!answer.isLimited || service == "library-read-write", "reading alone is limited")
            FuzzTarget.hold(answer.isAllowed || !answer.isLimited, "a no is not limited")
            FuzzTarget.hold((answer.lifetime.moment ?? .max) > now, "a yes does not end before it begins")
            FuzzTarget.hold(answer.isAllowed || answer.lifetime == .always, "a no holds until it is changed")
        }
        _ = try? SetOptions(busValue: .properties(FuzzBodies.table(&input, 5, keys: ["until"])))
    }

    /// What a helper of the library answers, after it had a stranger's file to work on: a report, and frames of pictures.
    @Sendable static func helper(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        if let report = try? ImportReport(text: input.text()) {
            FuzzTarget.hold((try? ImportReport(text: report.text)) == report, "a report survives its way as text")
            if case .examined(let media) = report {
                FuzzTarget.hold(media.width <= ExaminedMedia.largestSide, "no picture is wider than pictures are")
                FuzzTarget.hold(media.duration >= 0, "nothing lasts less than no time")
                FuzzTarget.hold(media.kind != .sound || media.height == 0, "sound has no height")
            }
            if case .failed(let error) = report {
                FuzzTarget.hold(error.message.count <= 500, "a reason is a sentence")
                FuzzTarget.hold(error.code != .denied, "no helper answers for a person")
            }
        }
        guard let pictures = Importers.thumbnails(input.remainder()) else { return }
        FuzzTarget.hold(pictures.count == ExaminedMedia.thumbnailCount, "there is a picture of each size")
        FuzzTarget.hold(pictures.allSatisfy { $0.count <= ExaminedMedia.largestThumbnail }, "a picture is small")
    }
}
