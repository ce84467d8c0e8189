import Authorization
import CaptureBus
import CaptureEngine

/// The parts of the daemon that serve media libraries, and how they know each other.
struct LibraryParts: Sendable {
    let libraries: LibraryCatalog
    let watchers: LibraryWatchers
    let pictures: LibraryPictures
    /// What a session saves goes through this.
    let saver: LibrarySaver
    /// What follows when a person limits a program, or forgets a choice.
    let settings: LibrarySettings
    /// The calls that take a person or a long copy.
    let requests: LongRequests
    private let gate: AuthorizationGate
    private let questions: AccessQuestions
    private let access: LibraryAccess
    private let grants: LibraryGrants
    private let importers: Importers
    private let turns: LibraryTurns
    private let choosing: LibraryChoosing
    private let offers = LibraryOffers()
    private let picked = PickedContents()
    /// What persons take by questions that stand.
    let taken = TakenContents()

    init(
        _ libraries: LibraryCatalog,
        bus: BusConnection,
        gate: AuthorizationGate,
        questions: AccessQuestions,
        history: HistoryKeeper,
        importers: Importers,
        turns: LibraryTurns = LibraryTurns()
    ) {
        let uses = LibraryUses(history: history)
        self.libraries = libraries
        self.gate = gate
        self.questions = questions
        self.importers = importers
        self.turns = turns
        grants = LibraryGrants(gate: gate, uses: uses)
        access = LibraryAccess(gate: gate, questions: questions, grants: grants)
        watchers = LibraryWatchers(bus: bus, access: access, libraries: libraries)
        pictures = LibraryPictures(libraries: libraries, importers: importers, turns: turns)
        choosing = LibraryChoosing(access: access, libraries: libraries, watchers: watchers, offers: offers)
        settings = LibrarySettings(libraries: libraries, watchers: watchers)
        requests = LongRequests(.library, bus: bus)
        saver = LibrarySaver(
            gate: gate,
            libraries: libraries,
            importers: importers,
            turns: turns,
            watchers: watchers,
            uses: uses,
            choosing: choosing,
            taken: taken
        )
    }

    /// Has a person who limits a program choose its assets at once, and choices forgotten with the answer. Gate and parts
    /// then keep each other.
    func follow() async {
        questions.whenLimited(choosing.begin)
        await gate.beforeLimiting(settings.forgetChosen)
    }

    /// What programs call on the bus.
    func object(
        callers: CallerDirectory,
        doors: PassingDoors,
        settings: SettingsGuard,
        commandLine: ShippedProgram
    ) -> LibraryObject {
        LibraryObject(
            callers: callers,
            access: access,
            libraries: libraries,
            requests: requests,
            watchers: watchers,
            importers: importers,
            doors: doors,
            commandLine: commandLine,
            turns: turns,
            pictures: pictures,
            picking: LibraryPicking(
                callers: callers,
                access: access,
                libraries: libraries,
                requests: requests,
                watchers: watchers,
                settings: settings,
                commandLine: commandLine,
                contents: picked,
                taken: taken,
                choosing: choosing
            )
        )
    }

    /// A program left the bus.
    func clientGone(_ connection: String) async {
        await requests.clientGone(connection)
        await picked.clientGone(connection)
        await offers.clientGone(connection)
        await watchers.clientGone(connection)
        await grants.clientGone(connection)
    }
}
