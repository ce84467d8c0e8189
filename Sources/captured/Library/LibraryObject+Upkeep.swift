import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import MediaLibrary

/// What a program deletes, when the person confirms it, and looks after the files with.
extension LibraryObject {
    func delete(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let ids = try call.arguments.ids(0)
        let scope = try await access.changes(of: client)
        let user = client.identity.user
        let names = try await libraries.use(user) { library throws(CaptureError) in
            try ids.map { id throws(CaptureError) in try library.asset(id, scope: scope).name }
        }
        return [
            .uint32(
                try await requests.begin(for: client) { () throws(CaptureError) in
                    try await access.gate.confirm(
                        .delete,
                        of: names,
                        by: client.identity,
                        session: client.connection,
                        again: client.identifyAgain
                    )
                    // The person may have changed the consent while the question stood.
                    let scope = try await access.changes(of: client)
                    let count = try await libraries.use(user) { library throws(CaptureError) in
                        try library.delete(ids, scope: scope)
                    }
                    LibraryJournal.deleted(count, by: client.identity)
                    await watchers.changed(user)
                    return ["count": .uint64(UInt64(count))]
                }
            )
        ]
    }

    func check(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        try await look(call) { library, goOn throws(CaptureError) in
            try library.check { _, _ throws(CaptureError) in try goOn() }
        }
    }

    func repair(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        try await look(call) { library, goOn throws(CaptureError) in
            try library.repair { _, _ throws(CaptureError) in try goOn() }
        }
    }

    /// - Parameter work: Calls what it is given now and then, which throws once nobody waits any more.
    private func look(
        _ call: BusCall,
        _ work:
            @escaping @Sendable (
                MediaLibrary, @escaping @Sendable () throws(CaptureError) -> Void
            ) throws(CaptureError) -> [LibraryFault]
    ) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        _ = try await access.changes(of: client, everything: true)
        let user = client.identity.user
        return [
            .uint32(
                try await requests.begin(for: client) { () throws(CaptureError) in
                    let stop = StopFlag()
                    let found: Result<[LibraryFault], CaptureError> = await withTaskCancellationHandler {
                        do throws(CaptureError) {
                            return .success(
                                try await libraries.perform(user) { library throws(CaptureError) in
                                    try work(library) { () throws(CaptureError) in
                                        if stop.isRaised { throw LibraryCatalog.cancelled }
                                    }
                                }
                            )
                        } catch {
                            return .failure(error)
                        }
                    } onCancel: {
                        stop.raise()
                    }
                    let faults = try found.get()
                    await watchers.changed(user)
                    return ["faults": .propertyList(faults.flatMap(\.rows))]
                }
            )
        ]
    }
}

extension LibraryFault {
    /// As it travels: once for each asset that it is about, or once where there is none.
    fileprivate var rows: [[String: BusValue]] {
        let facts: [String: BusValue] = [
            "kind": .string(kind.rawValue), "name": .string(file), "message": .string(message),
            "outcome": .string(outcome),
        ]
        if assets.isEmpty { return [facts] }
        return assets.map { id in facts.merging(["id": .string(id)]) { $1 } }
    }
}
