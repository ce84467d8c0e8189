import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureMessages
import MediaLibrary

/// What a program may read that may read chosen assets alone.
extension LibraryPicking {
    func extendChoice(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        try await checkLimited(client)
        return try await requests.answer(client) { _ throws(CaptureError) in
            var choice = ExtendedChoice()
            choice.ids = try await choosing.extend(.extend, client)
            return choice.properties
        }
    }

    /// The person's own settings, by the command line that ships with the daemon.
    func choose(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let program = try call.arguments.text(0)
        let shown = DisplayText.neutralized(program, limit: 200)
        guard commandLine.isRun(by: client.identity) else {
            throw CaptureError(
                .notPermitted,
                "only a person may choose what other programs read, with: capturectl library choose '\(shown)'"
            )
        }
        guard !ClientIdentity.isMachines(program) else {
            throw CaptureError(
                .invalidArgument,
                "\(shown) runs for no person, so there is no library to choose from"
            )
        }
        let user = client.identity.user
        guard try await access.gate.statuses(user: user, program: program)[.libraryReadWrite] == .limited else {
            throw CaptureError(
                .wrongState,
                "\(shown) is not limited to chosen assets, so choosing some would change nothing; to limit it: "
                    + "capturectl auth set '\(shown)' library limited"
            )
        }
        return try await requests.answer(client) { _ throws(CaptureError) in
            try await settings.allow(
                client,
                on: user,
                of: program,
                loosening: "choose what \(shown) may read in the media library"
            )
            return try await choose(for: program, client)
        }
    }

    private func choose(
        for program: String,
        _ client: SessionClient
    ) async throws(CaptureError) -> [String: BusValue] {
        let answer = try await access.gate.pick(.choose, for: program, by: client.requester)
        let user = client.identity.user
        let counts = try await libraries.use(user) { library throws(CaptureError) in
            let seen = try library.choices.visible(to: program, among: answer.dropped)
            try library.choices.unchoose(program, answer.dropped)
            let left = try library.choices.visible(to: program, among: answer.dropped)
            return (try library.choices.choose(program, answer.picked).count, seen.count - left.count)
        }
        await watchers.changed(user)
        var choice = ChangedChoice()
        (choice.chosen, choice.dropped) = (UInt32(clamping: counts.0), UInt32(clamping: counts.1))
        return choice.properties
    }

    private func checkLimited(_ client: SessionClient) async throws(CaptureError) {
        guard case .limited = try await access.changes(of: client).scope else {
            throw CaptureError(
                .wrongState,
                "\(client.identity.name) (\(client.identity.program)) may read the whole media library, so there is "
                    + "nothing more to choose"
            )
        }
    }
}
