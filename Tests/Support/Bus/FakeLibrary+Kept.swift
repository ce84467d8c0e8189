import CaptureBus
import CaptureCore
import Synchronization

extension FakeLibrary {
    /// Recordings that were not saved. One that is saved becomes an asset of its name.
    var keeping: [String: FakeDaemon.Answer] {
        [
            "ListKept": { _, _ in [.propertyList(self.state.withLock { $0.kept })] },
            "SaveKept": { daemon, call throws(CaptureError) in
                let recording = try self.takeKept(call)
                let id = self.put(recording["name"]?.text ?? "", "MOVIE")
                let request = self.state.withLock { $0.newRequest() }
                var result: [String: BusValue] = ["id": .string(id)]
                result["album"] = recording["album"]
                try self.finish(daemon, call.sender, request, nil, result)
                return [.uint32(request)]
            },
            "DiscardKept": { _, call throws(CaptureError) in
                _ = try self.takeKept(call)
                return []
            },
        ]
    }

    private func takeKept(_ call: BusCall) throws(CaptureError) -> [String: BusValue] {
        try state.withLock { state throws(CaptureError) in
            guard let index = state.kept.firstIndex(where: { $0["id"] == call.arguments[0] }) else {
                throw CaptureError(.noSuchAsset, "there is no such recording")
            }
            return state.kept.remove(at: index)
        }
    }
}
