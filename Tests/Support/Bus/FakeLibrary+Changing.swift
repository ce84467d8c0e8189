import CaptureBus
import CaptureCore
import CaptureSystem
import Synchronization

extension FakeLibrary {
    /// Makes a change of who may, and tells the listeners.
    private func change<Result>(
        _ daemon: FakeDaemon,
        _ body: (inout State) throws(CaptureError) -> Result
    ) throws(CaptureError) -> Result {
        let result = try state.withLock { state throws(CaptureError) in
            try state.checkChanging()
            return try body(&state)
        }
        try tellListeners(daemon)
        return result
    }

    /// What changes something.
    var changing: [String: FakeDaemon.Answer] {
        [
            "Import": { daemon, call throws(CaptureError) in
                guard let file = call.arguments[0].file, let facts = call.arguments[1].properties else { return [] }
                return [.uint32(try self.add(daemon, call.sender, file, facts))]
            },
            "Cancel": { daemon, call throws(CaptureError) in
                let request = UInt32(clamping: call.arguments[0].integer ?? 0)
                guard let caller = self.state.withLock({ $0.held.removeValue(forKey: request) }) else {
                    throw CaptureError(.invalidArgument, "there is no request \(request) under way")
                }
                try self.finish(daemon, caller, request, CaptureError(.dismissed, "it was cancelled"))
                return []
            },
            "Edit": { daemon, call throws(CaptureError) in
                let content = call.arguments[1].file.map(FakeLibrary.read) ?? []
                let request = try self.change(daemon) { state throws(CaptureError) in
                    let index = try state.index(call.arguments[0].text)
                    state.entries[index].edit = content
                    state.entries[index].facts["edited"] = .bool(true)
                    state.entries[index].facts["size"] = .uint64(UInt64(content.count))
                    state.touch(index)
                    return state.newRequest()
                }
                try self.finish(daemon, call.sender, request, nil, ["id": call.arguments[0]])
                return [.uint32(request)]
            },
            "Revert": { daemon, call throws(CaptureError) in
                try self.change(daemon) { state throws(CaptureError) in
                    let index = try state.index(call.arguments[0].text)
                    guard state.entries[index].edit != nil else { throw CaptureError(.wrongState, "it has no edit") }
                    state.entries[index].edit = nil
                    state.entries[index].facts["edited"] = .bool(false)
                    state.touch(index)
                }
                return []
            },
            "Change": { daemon, call throws(CaptureError) in
                try self.change(daemon) { state throws(CaptureError) in
                    let index = try state.index(call.arguments[0].text)
                    state.entries[index].facts.merge(call.arguments[1].properties ?? [:]) { $1 }
                    state.touch(index)
                }
                return []
            },
            "Delete": { daemon, call throws(CaptureError) in try self.delete(daemon, call) },
            "EmptyBin": { daemon, call throws(CaptureError) in
                let (request, count) = self.state.withLock { state in
                    let before = state.entries.count
                    if state.confirms { state.entries.removeAll(where: \.isBinned) }
                    return (state.newRequest(), state.confirms ? UInt64(before - state.entries.count) : nil)
                }
                let refusal = count == nil ? CaptureError(.denied, "the person did not confirm it") : nil
                try self.finish(daemon, call.sender, request, refusal, ["count": .uint64(count ?? 0)])
                return [.uint32(request)]
            },
            "Restore": { daemon, call throws(CaptureError) in
                let count = try self.change(daemon) { state throws(CaptureError) -> UInt64 in
                    var count: UInt64 = 0
                    for id in call.arguments[0].texts ?? [] {
                        let index = try state.index(id)
                        guard state.entries[index].isBinned else { continue }
                        state.entries[index].facts["binned"] = .int64(0)
                        state.log("inserted", id)
                        count += 1
                    }
                    return count
                }
                return [.uint64(count)]
            },
            "CreateAlbum": { daemon, call throws(CaptureError) in
                let id = try self.change(daemon) { state in
                    let id = state.newID()
                    state.albums.append(Album(id: id, name: call.arguments[0].text ?? "", assets: []))
                    state.log("albums-inserted", id)
                    return id
                }
                return [.string(id)]
            },
            "RenameAlbum": { daemon, call throws(CaptureError) in
                try self.changeAlbum(daemon, call) { $0.name = call.arguments[1].text ?? "" }
            },
            "AddToAlbum": { daemon, call throws(CaptureError) in
                try self.changeAlbum(daemon, call) { album in
                    album.assets += (call.arguments[1].texts ?? []).filter { !album.assets.contains($0) }
                }
            },
            "RemoveFromAlbum": { daemon, call throws(CaptureError) in
                try self.changeAlbum(daemon, call) { album in
                    album.assets.removeAll { call.arguments[1].texts?.contains($0) == true }
                }
            },
            "MoveInAlbum": { daemon, call throws(CaptureError) in
                let (moved, next) = (call.arguments[1].texts ?? [], call.arguments[2].text ?? "")
                return try self.changeAlbum(daemon, call) { album in
                    album.assets.removeAll { moved.contains($0) }
                    let place = album.assets.firstIndex(of: next) ?? album.assets.endIndex
                    album.assets.insert(contentsOf: moved, at: place)
                }
            },
            "DeleteAlbum": { daemon, call throws(CaptureError) in
                try self.change(daemon) { state throws(CaptureError) in
                    let index = try state.albumIndex(call.arguments[0].text)
                    state.log("albums-removed", state.albums.remove(at: index).id)
                }
                return []
            },
        ]
    }

    private func changeAlbum(
        _ daemon: FakeDaemon,
        _ call: BusCall,
        _ body: (inout Album) -> Void
    ) throws(CaptureError) -> [BusValue] {
        try change(daemon) { state throws(CaptureError) in
            let index = try state.albumIndex(call.arguments[0].text)
            let ids = call.arguments.dropFirst().first?.texts ?? []
            guard ids.count <= 1000 else { throw CaptureError(.invalidArgument, "\(ids.count) assets are too many") }
            for id in ids { _ = try state.index(id) }
            body(&state.albums[index])
            state.log("albums-changed", state.albums[index].id)
        }
        return []
    }

    private func add(
        _ daemon: FakeDaemon,
        _ caller: String,
        _ file: Descriptor,
        _ facts: [String: BusValue]
    ) throws(CaptureError) -> UInt32 {
        let content = FakeLibrary.read(file)
        let (request, id, isHeld) = try state.withLock { state throws(CaptureError) in
            let status = state.status(.addOnly)
            if status == .notDetermined { throw CaptureError(.undecided, "the person is being asked") }
            if status == .denied { throw CaptureError(.denied, "the person said no to adding") }
            if facts["album"] != nil { try state.checkChanging() }
            let request = state.newRequest()
            if state.holdsImports {
                state.held[request] = caller
                return (request, String?.none, true)
            }
            return (request, state.insert(content, facts), false)
        }
        if isHeld { return request }
        // Before the number is returned, as may happen with what is done quickly.
        if let id {
            let mayRead = [.authorized, .limited].contains(state.withLock { $0.status(.readWrite) })
            try finish(daemon, caller, request, nil, mayRead ? ["id": .string(id)] : [:])
            try tellListeners(daemon)
        } else {
            try finish(daemon, caller, request, CaptureError(.badData, "it is no photo, movie or sound"))
        }
        return request
    }

    private func delete(_ daemon: FakeDaemon, _ call: BusCall) throws(CaptureError) -> [BusValue] {
        let ids = call.arguments[0].texts ?? []
        let (request, isConfirmed) = try change(daemon) { state throws(CaptureError) in
            for id in ids {
                let index = try state.index(id)
                guard state.confirms else { continue }
                state.entries[index].facts["binned"] = .int64(1_700_000_200_000)
                state.log("removed", id)
            }
            return (state.newRequest(), state.confirms)
        }
        let refusal = isConfirmed ? nil : CaptureError(.denied, "the person did not confirm it")
        try finish(daemon, call.sender, request, refusal, isConfirmed ? ["count": .uint64(UInt64(ids.count))] : [:])
        return [.uint32(request)]
    }
}
