import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureMessages
import CaptureSystem
import MediaLibrary

/// What persons pick from their library: contents for a program, and what a program may read that is limited.
struct LibraryPicking: Sendable {
    let callers: CallerDirectory
    let access: LibraryAccess
    let libraries: LibraryCatalog
    let requests: LongRequests
    let watchers: LibraryWatchers
    let settings: SettingsGuard
    let commandLine: ShippedCommandLine
    let contents: PickedContents
    let choosing: LibraryChoosing

    /// Its part of the Library interface.
    var methods: [String: BusHandler] {
        ["Pick": pick, "OpenPicked": openPicked, "ExtendChoice": extendChoice, "Choose": choose]
    }

    func pick(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let options = try PickOptions(busValue: call.arguments.argument(0), most: PickQuestion.mostAssets)
        return try await requests.answer(client) { number throws(CaptureError) in
            try await pick(options, number, for: client)
        }
    }

    private func pick(
        _ options: PickOptions,
        _ number: UInt32,
        for client: SessionClient
    ) async throws(CaptureError) -> [String: BusValue] {
        await choosing.offers.giveWay(to: client.connection)
        let answer = try await access.gate.pick(
            .pick,
            kinds: Set(options.kinds.map(\.rawValue)),
            limit: options.limit,
            by: client.identity,
            session: client.connection,
            again: client.identifyAgain
        )
        let found = try await libraries.use(client.identity.user) { library throws(CaptureError) in
            try library.contents.contents(of: answer.picked, kinds: options.kinds)
        }
        guard !found.isEmpty else {
            throw CaptureError(.noSuchAsset, "what was picked is not in the media library any more")
        }
        await contents.keep(found, of: number, for: client.connection)
        if Task.isCancelled {
            // The caller left while it was kept, and nobody else clears it away.
            await contents.clientGone(client.connection)
            throw LibraryCatalog.cancelled
        }
        let assets = found.map(\.asset)
        var facts = PickedFacts()
        facts.count = UInt32(clamping: assets.count)
        facts.names = assets.map(\.name)
        facts.kinds = assets.map(\.kind.rawValue)
        facts.mediaTypes = assets.map(\.mediaType)
        facts.sizes = assets.map(\.size)
        return facts.properties
    }

    func openPicked(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let content = try await contents.content(
            call.arguments.number(1),
            of: try call.arguments.number(0),
            for: call.sender
        )
        let file = try await libraries.use(client.identity.user) { library throws(CaptureError) in
            Descriptor(owning: try library.contents.open(content))
        }
        return [.descriptor(file)]
    }
}
