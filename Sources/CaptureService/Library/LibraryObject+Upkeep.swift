import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureMessages
import MediaLibrary
import Synchronization

/// What a program deletes, when the person confirms it, and looks after the files with.
extension LibraryObject {
    func delete(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let ids = try call.arguments.ids(0)
        let scope = try await access.changes(of: client).scope
        let user = client.identity.user
        let assets = try await libraries.use(user) { library throws(CaptureError) in
            try ids.map { id throws(CaptureError) in try library.assets.asset(id, scope: scope) }
        }
        let names = assets.filter { $0.binned == nil }.map(\.name)
        return try await requests.answer(client) { _ throws(CaptureError) in
            guard !names.isEmpty else { return ["count": .uint64(0)] }
            try await confirm(.delete, names, by: client)
            // The person may have changed the consent while the question stood.
            let view = try await access.changes(of: client)
            let count = try await libraries.use(user) { library throws(CaptureError) in
                try library.whilePermitted(view.confirm) { () throws(CaptureError) in
                    try library.bin.delete(ids, scope: view.scope)
                }
            }
            await watchers.changed(user)
            return ["count": .uint64(UInt64(count))]
        }
    }

    /// Erases what is in the bin, before its time: at the shipped command line, when the person confirms it.
    func emptyBin(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await person(call, "only the person may empty the bin, with: capturectl library empty")
        let user = client.identity.user
        return try await requests.answer(client) { _ throws(CaptureError) in
            let contents = try await libraries.perform(user) { library throws(CaptureError) in
                try library.bin.contents()
            }
            guard contents.count > 0 else { return ["count": .uint64(0)] }
            try await confirm(.erase, contents.names, count: contents.count, by: client)
            // What came into it while the question stood was not asked about.
            let count = try await libraries.perform(user) { library throws(CaptureError) in
                try library.bin.erase(contents)
            }
            await watchers.changed(user)
            return ["count": .uint64(UInt64(count))]
        }
    }

    /// Has the person confirm what a program is about to do to what is called so.
    ///
    /// - Parameter count: To how many, where these are not the names of all.
    func confirm(
        _ action: ConfirmedAction,
        _ names: [String],
        count: Int? = nil,
        by client: SessionClient
    ) async throws(CaptureError) {
        await picking.choosing.offers.giveWay(to: client.connection)
        try await access.gate.confirm(
            action,
            of: names,
            count: count ?? names.count,
            by: client.requester
        )
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
                LibraryStore, @escaping @Sendable () throws(CaptureError) -> Void
            ) throws(CaptureError) -> [FoundFault]
    ) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let view = try await access.changes(of: client, everything: true)
        let user = client.identity.user
        return try await requests.answer(client) { _ throws(CaptureError) in
            let faults = try await checks.run(for: user) { () throws(CaptureError) in
                let isStopped = Atomic(false)
                return try await Task.run { () throws(CaptureError) in
                    try await libraries.perform(user) { library throws(CaptureError) in
                        try work(library) { () throws(CaptureError) in
                            if isStopped.load(ordering: .acquiring) { throw LibraryCatalog.cancelled }
                            try view.confirm()
                        }
                    }
                } onCancel: {
                    isStopped.store(true, ordering: .releasing)
                }
            }
            await watchers.changed(user)
            return LibraryObject.told(faults)
        }
    }

    /// How many faults a check tells of, since a message has an end; of those that are mended more show in the next.
    static let mostFaults = 1000

    private static func told(_ found: [FoundFault]) -> [String: BusValue] {
        let faults = found.lazy.flatMap { fault in
            // One line for each asset that has the fault, or one line if no asset has it.
            fault.assets.isEmpty ? [LibraryFault(fault, nil)] : fault.assets.map { LibraryFault(fault, $0) }
        }
        return [
            "faults": .records(Array(faults.prefix(mostFaults))),
            "count": .uint64(UInt64(found.reduce(0) { $0 + max(1, $1.assets.count) })),
        ]
    }
}

extension LibraryFault {
    fileprivate init(_ fault: FoundFault, _ asset: String?) {
        self.init()
        kind = fault.kind.rawValue
        self.asset = asset
        name = fault.file
        message = fault.message
        outcome = fault.outcome
        isLeft = fault.isLeft
    }
}
