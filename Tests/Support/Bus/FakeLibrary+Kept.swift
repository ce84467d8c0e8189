import CaptureBus
import CaptureCore
import CaptureMessages
import Synchronization

extension FakeLibrary {
    /// Recordings that were not saved. One that is saved becomes an asset of its name.
    var keeping: [String: FakeDaemon.Answer] {
        [
            "ListKept": { _, _ in [.records(self.state.withLock { $0.kept })] },
            "SaveKept": { daemon, call throws(CaptureError) in
                let saved = try self.takeKept(call).map { recording in
                    // One without a program is refused, and is not taken by a second try either.
                    if recording.program.isEmpty {
                        let error = CaptureError(.overQuota, "there is no room")
                        return KeptOutcome(id: recording.id, result: .failure(error))
                    }
                    let asset = self.put(recording.name, "MOVIE")
                    return KeptOutcome(
                        id: recording.id,
                        result: .success(SavedOutput(asset: asset, album: recording.album))
                    )
                }
                return try self.finishKept(daemon, call, ["saved": .records(saved)])
            },
            "DiscardKept": { daemon, call throws(CaptureError) in
                try self.finishKept(daemon, call, ["count": .uint64(UInt64(try self.takeKept(call).count))])
            },
        ]
    }

    private func finishKept(
        _ daemon: FakeDaemon,
        _ call: BusCall,
        _ result: [String: BusValue]
    ) throws(CaptureError) -> [BusValue] {
        let request = state.withLock { $0.newRequest() }
        try finish(daemon, call.sender, request, nil, result)
        return [.uint32(request)]
    }

    private func takeKept(_ call: BusCall) throws(CaptureError) -> [KeptRecording] {
        try state.withLock { state throws(CaptureError) in
            try (call.arguments[0].texts ?? []).map { id throws(CaptureError) in
                guard let index = state.kept.firstIndex(where: { $0.id == id }) else {
                    throw CaptureError(.noSuchAsset, "there is no such recording")
                }
                return state.kept.remove(at: index)
            }
        }
    }
}
