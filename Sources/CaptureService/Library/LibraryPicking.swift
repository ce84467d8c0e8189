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
    let commandLine: ShippedProgram
    let contents: PickedContents
    let taken: TakenContents
    let choosing: LibraryChoosing

    /// Its part of the Library interface.
    var methods: [String: BusHandler] {
        ["Pick": pick, "OpenPicked": openPicked, "ExtendChoice": extendChoice, "Choose": choose]
    }

    func pick(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let options = try PickOptions(busValue: call.arguments.argument(0), most: PickQuestion.mostAssets)
        return try await requests.answer(client) { number throws(CaptureError) in
            guard let longest = options.longest else { return try await pick(options, number, for: client) }
            return try await take(longest, number, for: client)
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
            by: client.requester
        )
        let program = client.identity.program
        let (found, ids) = try await libraries.use(client.identity.user) { library throws(CaptureError) in
            let found = try library.contents.contents(of: answer.picked, kinds: options.kinds)
            return (found, try library.picks.ids(of: found.map(\.asset.id), for: program))
        }
        guard !found.isEmpty else {
            throw CaptureError(.noSuchAsset, "what was picked is not in the media library any more")
        }
        try await keep(found.map(PickedContent.asset), of: number, for: client)
        let assets = found.map(\.asset)
        var facts = PickedFacts()
        facts.count = UInt32(clamping: assets.count)
        facts.names = assets.map(\.name)
        facts.kinds = assets.map(\.kind.rawValue)
        facts.mediaTypes = assets.map(\.mediaType)
        facts.sizes = assets.map(\.size)
        facts.ids = ids
        return facts.properties
    }

    /// Has the person take a photo, or a movie of so many seconds at most.
    private func take(
        _ longest: Int,
        _ number: UInt32,
        for client: SessionClient
    ) async throws(CaptureError) -> [String: BusValue] {
        let kind: MediaAssetKind = longest > 0 ? .movie : .photo
        await choosing.offers.giveWay(to: client.connection)
        let taking = try await access.gate.taking(longest: longest, for: client.identity)
        await taken.begin(taking)
        do throws(CaptureError) {
            _ = try await access.gate.take(taking, kind.rawValue, by: client.requester)
        } catch {
            await taken.end(taking)
            throw error
        }
        guard let content = await taken.end(taking) else {
            throw CaptureError(.internalFault, "nothing was taken")
        }
        try await keep([.taken(content)], of: number, for: client)
        var facts = PickedFacts()
        facts.count = 1
        facts.names = [content.name]
        facts.kinds = [content.kind.rawValue]
        facts.mediaTypes = [content.mediaType]
        facts.sizes = [content.size]
        return facts.properties
    }

    private func keep(
        _ found: [PickedContent],
        of number: UInt32,
        for client: SessionClient
    ) async throws(CaptureError) {
        await contents.keep(found, of: number, for: client.connection)
        if Task.isCancelled {
            // The caller left while it was kept, and nobody else clears it away.
            await contents.clientGone(client.connection)
            throw LibraryCatalog.cancelled
        }
    }

    func openPicked(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let content = try await contents.content(
            call.arguments.number(1),
            of: try call.arguments.number(0),
            for: call.sender
        )
        let file: Descriptor
        switch content {
        case .taken(let content): file = try content.open()
        case .asset(let content):
            file = try await libraries.use(client.identity.user) { library throws(CaptureError) in
                Descriptor(owning: try library.contents.open(content))
            }
        }
        return [.descriptor(file)]
    }
}
