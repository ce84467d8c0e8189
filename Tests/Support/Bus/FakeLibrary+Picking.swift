import CaptureBus
import CaptureCore
public import CaptureSystem
import Synchronization

extension FakeLibrary {
    /// What the person picks; `nil` where they close it.
    public func picks(_ ids: [String]?) { state.withLock { $0.picks = ids } }

    /// What is in a file.
    public static func text(of file: Descriptor) -> String { String(decoding: read(file), as: UTF8.self) }

    /// What a person picks and chooses.
    var picking: [String: FakeDaemon.Answer] {
        [
            "Pick": { daemon, call throws(CaptureError) in try self.pick(daemon, call) },
            "OpenPicked": { _, call throws(CaptureError) in
                let index = Int(call.arguments[1].integer ?? -1)
                let content = self.state.withLock { state in
                    state.handed.indices.contains(index) ? state.handed[index].original : nil
                }
                guard let content else { throw CaptureError(.invalidArgument, "there is no index \(index)") }
                return [.descriptor(try FakeLibrary.file(content))]
            },
            "ExtendChoice": { daemon, call throws(CaptureError) in
                let (request, picked) = try self.state.withLock { state throws(CaptureError) in
                    guard state.status(.readWrite) == .limited else {
                        throw CaptureError(.wrongState, "it is not limited")
                    }
                    let new = state.picks?.filter { !state.chosen.contains($0) }
                    state.chosen.formUnion(new ?? [])
                    return (state.newRequest(), new)
                }
                try self.end(daemon, call, request, picked.map { ["ids": .strings($0)] })
                return [.uint32(request)]
            },
            "Choose": { daemon, call throws(CaptureError) in
                let (request, count) = self.state.withLock { ($0.newRequest(), $0.picks?.count) }
                let result = count.map { ["chosen": BusValue.uint32(UInt32($0)), "dropped": .uint32(0)] }
                try self.end(daemon, call, request, result)
                return [.uint32(request)]
            },
        ]
    }

    /// The id of a picked asset: that of the asset, sealed.
    public static func pickedID(of id: String) -> String { String(repeating: "5ea1", count: 14) + id }

    private func pick(_ daemon: FakeDaemon, _ call: BusCall) throws(CaptureError) -> [BusValue] {
        let (request, handed) = state.withLock { state in
            let handed = state.picks.map { ids in ids.compactMap { id in state.entries.first { $0.id == id } } }
            state.handed = handed ?? state.handed
            return (state.newRequest(), handed)
        }
        let result = handed.map { entries -> [String: BusValue] in
            [
                "count": .uint32(UInt32(entries.count)),
                "names": .strings(entries.map { $0.facts["name"]?.text ?? "" }),
                "kinds": .strings(entries.map { $0.facts["kind"]?.text ?? "" }),
                "media-types": .strings(entries.map { $0.facts["media-type"]?.text ?? "" }),
                "sizes": .array("t", entries.map { .uint64(UInt64($0.original.count)) }),
                "ids": .strings(entries.map { FakeLibrary.pickedID(of: $0.id) }),
            ]
        }
        try end(daemon, call, request, result)
        return [.uint32(request)]
    }

    private func end(
        _ daemon: FakeDaemon,
        _ call: BusCall,
        _ request: UInt32,
        _ result: [String: BusValue]?
    ) throws(CaptureError) {
        let closed = CaptureError(.dismissed, "the prompt was closed without an answer")
        try finish(daemon, call.sender, request, result == nil ? closed : nil, result ?? [:])
    }
}
