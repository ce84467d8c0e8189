import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureMessages
import CaptureSystem

/// The sessions as objects on the bus.
///
/// What the engine tells comes through one queue, so that objects appear, change and go in the order of events.
actor SessionObjects {
    private let bus: BusConnection
    private var engine: CaptureEngine?
    private let callers: CallerDirectory
    private let listeners: Listeners
    private let doors: PassingDoors
    /// Lends cameras to photos; `nil` until it serves.
    private var cameras: (any CameraLender)?
    private var objects: [UInt32: (object: BusObject, session: SessionSnapshot)] = [:]
    private var exporting: [UInt32: Task<Void, any Error>] = [:]

    init(bus: BusConnection, callers: CallerDirectory, listeners: Listeners, doors: PassingDoors) {
        self.bus = bus
        self.doors = doors
        self.callers = callers
        self.listeners = listeners
    }

    func serve(_ engine: CaptureEngine, cameras: (any CameraLender)? = nil) {
        self.engine = engine
        self.cameras = cameras
    }

    /// Makes a session's object reachable, once, and waits until it is.
    ///
    /// - Parameter announcing: Whether those whom it concerns are told that it is there.
    func publish(_ session: SessionSnapshot, announcing: Bool = false) async throws(CaptureError) {
        try await makeReachable(session)
        if announcing { try tell("SessionAdded", of: session) }
    }

    private func makeReachable(_ session: SessionSnapshot) async throws(CaptureError) {
        if objects[session.id] != nil { return }
        let task =
            exporting[session.id]
            ?? Task { () throws in
                let object = try self.makeObject(session)
                try await self.bus.export(object)
                self.objects[session.id] = (object, session)
            }
        exporting[session.id] = task
        do {
            try await task.value
            exporting[session.id] = nil
        } catch {
            exporting[session.id] = nil
            throw error as? CaptureError ?? CaptureError(.internalFault, "\(error)")
        }
    }

    func update(_ session: SessionSnapshot) throws(CaptureError) {
        guard let object = objects[session.id]?.object else { return }
        let properties = SessionObjects.properties(of: session)
        try bus.update(object, CaptureNames.session, properties, to: listeners.hear(session))
    }

    func remove(_ id: UInt32) throws(CaptureError) {
        guard let session = objects.removeValue(forKey: id)?.session else { return }
        bus.unexport(CaptureNames.sessionPath(id))
        try tell("SessionRemoved", of: session)
    }

    /// Tells those whom it concerns that a session came or went.
    private func tell(_ member: String, of session: SessionSnapshot) throws(CaptureError) {
        let path = BusValue.objectPath(CaptureNames.sessionPath(session.id))
        for listener in listeners.hear(session) {
            try bus.tell(CaptureNames.root, CaptureNames.manager, member, [path], to: listener)
        }
    }

    private func makeObject(_ session: SessionSnapshot) throws(CaptureError) -> BusObject {
        let id = session.id
        return try BusObject(
            path: CaptureNames.sessionPath(id),
            [
                BusImplementation(
                    CaptureInterfaces.session,
                    methods: [
                        "GetStatistics": handler(looks: true) { engine, client, _ throws(CaptureError) in
                            [try await engine.statistics(of: id, client: client).busValue]
                        },
                        "OpenBuffer": handler { engine, client, arguments throws(CaptureError) in
                            // A photo of another size may be taken meanwhile.
                            BusTurn.end()
                            let file = try await engine.openBuffer(id, output: arguments.text(0), client: client)
                            guard let descriptor = file as? Descriptor else {
                                throw CaptureError(.internalFault, "the ring has no descriptor")
                            }
                            return [.descriptor(descriptor)]
                        },
                        "CapturePhoto": handler { [doors, cameras] engine, client, arguments throws(CaptureError) in
                            let settings = try PhotoSettings(busValue: arguments.argument(1))
                            try await engine.checkMayChange(id, client: client)
                            let files = try await arguments.files(2, from: doors, of: client.connection)
                            // A camera that changes its size keeps no other call from its turn, such as a stop.
                            BusTurn.end()
                            let name = try await engine.capturePhoto(
                                id,
                                output: arguments.text(0),
                                settings,
                                files: files,
                                client: client,
                                cameras: cameras
                            )
                            return [.string(name)]
                        },
                    ],
                    actions: [
                        "Start": handler { engine, client, _ throws(CaptureError) in
                            try await engine.start(id, client: client)
                        },
                        "Stop": handler { engine, client, _ throws(CaptureError) in
                            try await engine.stop(id, client: client)
                        },
                        "PauseOutput": handler { engine, client, arguments throws(CaptureError) in
                            try await engine.setPaused(true, id, output: arguments.text(0), client: client)
                        },
                        "ResumeOutput": handler { engine, client, arguments throws(CaptureError) in
                            try await engine.setPaused(false, id, output: arguments.text(0), client: client)
                        },
                        "MarkOutput": handler { engine, client, arguments throws(CaptureError) in
                            let (output, title) = (try arguments.text(0), try arguments.text(1))
                            try await engine.mark(id, output: output, title: title, client: client)
                        },
                        "AppendMetadata": handler { engine, client, arguments throws(CaptureError) in
                            let (output, items) = (try arguments.text(0), try arguments.metadata(1))
                            try await engine.append(items, id, output: output, client: client)
                        },
                        "BeginOutput": handler { engine, client, arguments throws(CaptureError) in
                            let start = try arguments.number(1)
                            guard start >= 0 else {
                                throw CaptureError(
                                    .invalidArgument,
                                    "a movie cannot begin at \(start) ns; give 0 or more"
                                )
                            }
                            // What is still to come begins it now.
                            let time = start == 0 ? nil : min(Timestamp(nanoseconds: start), .now)
                            try await engine.begin(id, output: arguments.text(0), from: time, client: client)
                        },
                        "CutOutput": handler { engine, client, arguments throws(CaptureError) in
                            try await engine.cut(id, output: arguments.text(0), client: client)
                        },
                        "AddSegment": handler { [doors] engine, client, arguments throws(CaptureError) in
                            try await engine.checkMayChange(id, client: client)
                            let file = try await arguments.file(1, from: doors, of: client.connection)
                            try await engine.addSegment(id, output: arguments.text(0), file: file, client: client)
                        },
                        "EnableConnection": handler { engine, client, arguments throws(CaptureError) in
                            try await engine.setEnabled(
                                arguments.boolean(2),
                                id,
                                from: arguments.text(0),
                                to: arguments.text(1),
                                client: client
                            )
                        },
                        "SetGain": handler { engine, client, arguments throws(CaptureError) in
                            try await engine.setGain(arguments.real(1), id, output: arguments.text(0), client: client)
                        },
                        "WatchLevels": handler { engine, client, arguments throws(CaptureError) in
                            let isWatched = try arguments.boolean(1)
                            try await engine.watchLevels(isWatched, id, output: arguments.text(0), client: client)
                        },
                        "Configure": handler { [doors] engine, client, arguments throws(CaptureError) in
                            let description = try SessionDescription(busValue: arguments.argument(0))
                            try await engine.checkMayChange(id, client: client)
                            let files = try await arguments.files(1, from: doors, of: client.connection)
                            try await engine.configure(id, description, files: files, client: client)
                        },
                        "AddOutput": handler { [doors] engine, client, arguments throws(CaptureError) in
                            let output = try OutputDescription(busValue: arguments.argument(0))
                            let inputs = try arguments.texts(1)
                            try await engine.checkMayChange(id, client: client)
                            // The engine refuses a file where none may be, and none where one has to be.
                            let file =
                                try arguments.text(2).isEmpty
                                ? nil : await arguments.file(2, from: doors, of: client.connection)
                            try await engine.addOutput(id, output, inputs: inputs, file: file, client: client)
                        },
                    ],
                    properties: SessionObjects.properties(of: session)
                        .merging(SessionObjects.constants(of: session)) { $1 }
                )
            ],
            readers: SessionObjects.readers(of: session) { [callers] sender throws(CaptureError) in
                try await callers.reader(sender).identity
            }
        )
    }

    /// What a session is, is shown to those who may call it; to others there is no session, as the engine says.
    static func readers(
        of session: SessionSnapshot,
        identify: @escaping @Sendable (_ sender: String) async throws(CaptureError) -> ClientIdentity
    ) -> BusReaders {
        BusReaders(refusal: CaptureError(.noSuchSession, "there is no session \(session.id)")) {
            sender throws(CaptureError) in
            try await identify(sender).mayControl(session.program, of: session.user)
        }
    }

    /// A handler that identifies its caller first.
    ///
    /// - Parameter looks: Whether the call only looks, so that a caller who is known is known at once.
    private func handler<Answer>(
        looks: Bool = false,
        _ body: @escaping @Sendable (CaptureEngine, SessionClient, [BusValue]) async throws(CaptureError) -> Answer
    ) -> @Sendable (BusCall) async throws(CaptureError) -> Answer {
        let callers = callers
        return { [engine] call throws(CaptureError) in
            guard let engine else { throw CaptureError(.unreachable, "captured is not ready yet") }
            let client = looks ? try await callers.reader(call.sender) : try await callers.client(call.sender)
            return try await body(engine, client, call.arguments)
        }
    }

    private static func properties(of session: SessionSnapshot) -> [String: BusValue] {
        [
            "State": .string(session.state.rawValue),
            "ReasonCode": .string(session.reason?.code.rawValue ?? ""),
            "Reason": .string(session.reason?.message ?? ""),
            "Description": session.description.shown.busValue,
        ]
    }

    private static func constants(of session: SessionSnapshot) -> [String: BusValue] {
        [
            "Id": .uint32(session.id),
            "Program": .string(session.program),
            "User": .uint32(session.user),
            "Attached": .bool(session.description.isAttached),
        ]
    }
}

extension SessionDescription {
    /// As it is shown to everybody who may see the session: what an asset will be called, and which album it joins, is for
    /// those alone who may read the media library.
    var shown: SessionDescription {
        var shown = self
        for index in shown.outputs.indices where shown.outputs[index].library != nil {
            shown.outputs[index].library = LibraryDestination()
        }
        return shown
    }
}
