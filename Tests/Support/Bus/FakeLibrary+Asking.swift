import CaptureBus
import CaptureCore
import CaptureMessages
import Synchronization

extension FakeLibrary {
    /// Statuses, questions and care.
    var asking: [String: FakeDaemon.Answer] {
        [
            "GetStatus": { _, call throws(CaptureError) in
                let state = self.state.withLock { $0 }
                let word = call.arguments[0].text ?? ""
                let level = LibraryLevel.allCases.first { $0.service.rawValue == word }
                return [.uint32((level.map(state.status) ?? state.status(.readWrite).withoutLevel).rawValue)]
            },
            "RequestAccess": { daemon, call throws(CaptureError) in try self.ask(daemon, call) },
            "Check": { daemon, call throws(CaptureError) in try self.care(daemon, call) },
            "Repair": { daemon, call throws(CaptureError) in
                let answer = try self.care(daemon, call)
                self.state.withLock { $0.faults = [] }
                return answer
            },
        ]
    }

    private func care(_ daemon: FakeDaemon, _ call: BusCall) throws(CaptureError) -> [BusValue] {
        let (request, faults) = try state.withLock { state throws(CaptureError) in
            try state.checkChanging()
            return (state.newRequest(), state.faults)
        }
        try finish(daemon, call.sender, request, nil, ["faults": .records(faults)])
        return [.uint32(request)]
    }

    private func ask(_ daemon: FakeDaemon, _ call: BusCall) throws(CaptureError) -> [BusValue] {
        let services = call.arguments[0].texts ?? []
        let levels = LibraryLevel.allCases.filter { services.contains($0.service.rawValue) }
        let (request, statuses) = state.withLock { state in
            state.asked += levels
            for level in levels { state.statuses[level] = state.answers[level] ?? .notDetermined }
            let statuses = levels.map { ($0.service.rawValue, state.status($0).rawValue) }
            return (state.newRequest(), Dictionary(uniqueKeysWithValues: statuses))
        }
        func hasAny(_ status: AuthorizationStatus) -> Bool { statuses.values.contains(status.rawValue) }
        let (code, message) =
            hasAny(.notDetermined)
            ? ("Dismissed", "the question was closed") : hasAny(.denied) ? ("Denied", "it was denied") : ("", "")
        try daemon.decide(request, code, message, statuses, to: call.sender)
        return [.uint32(request)]
    }
}
