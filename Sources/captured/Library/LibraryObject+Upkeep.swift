import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureSystem
import MediaLibrary

/// What a program deletes, when the person confirms it, and looks after the files with.
extension LibraryObject {
    func delete(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let ids = try call.arguments.ids(0)
        let scope = try await access.changes(of: client)
        let names = try await libraries.use(client.identity.user) { library throws(CaptureError) in
            try ids.map { id throws(CaptureError) in try library.asset(id, scope).name }
        }
        return [
            .uint32(
                try await requests.begin(for: client) { () throws(CaptureError) in
                    try await agents.confirm(.deletion(of: names), by: client)
                    // The person may have changed the consent while the question stood.
                    let scope = try await access.changes(of: client)
                    try await libraries.use(client.identity.user) { library throws(CaptureError) in
                        try library.delete(ids, scope)
                    }
                    await watchers.changed(client.identity.user)
                    return ["count": .uint64(UInt64(ids.count))]
                }
            )
        ]
    }

    func check(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        try await look(call) { library throws(CaptureError) in try library.check { _ in !Task.isCancelled } }
    }

    func repair(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        try await look(call) { library throws(CaptureError) in try library.repair { _ in !Task.isCancelled } }
    }

    private func look(
        _ call: BusCall,
        _ work: @escaping @Sendable (MediaLibrary) throws(CaptureError) -> [LibraryFault]
    ) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        _ = try await access.changes(of: client, everything: true)
        return [
            .uint32(
                try await requests.begin(for: client) { () throws(CaptureError) in
                    let faults = try await libraries.use(client.identity.user, work)
                    await watchers.changed(client.identity.user)
                    return ["faults": .propertyList(faults.map(\.properties))]
                }
            )
        ]
    }
}
