import Authorization
import CaptureCore
import Logging

/// Opens each device once, whoever asks, and closes it when its last session has left.
///
/// An actor, because opening takes as long as the driver takes: two sessions that start at one time wait for the same
/// opening instead of colliding in the driver.
actor SourcePool {
    private enum Entry {
        case opening(Task<SharedSource, any Error>)
        case open(SharedSource, Streaming)
        case closing(Task<Void, Never>)
    }

    private enum Streaming {
        case not
        case starting(Task<Void, any Error>)
        case now
        /// The device stopped by itself.
        case ended(CaptureError)
    }

    private let devices: any DeviceProvider
    private let rings: any RingProvider
    private let lost: @Sendable (Set<UInt32>, CaptureError) async -> Void
    private let moved: @Sendable (SharedSource, Set<UInt32>) async -> Void
    private var entries: [DeviceID: Entry] = [:]
    private var users: [DeviceID: Set<UInt32>] = [:]
    private var moves: [DeviceID: Task<Void, any Error>] = [:]
    /// The sessions that have devices for themselves, with those who wait for that.
    private var holds: [DeviceID: Hold] = [:]
    /// Sessions that stop, and wait for no device any more.
    private var leaving: Set<UInt32> = []

    private struct Hold {
        let session: UInt32
        /// Those who wait, each until it may have the device, or gives up.
        var waiting: [(session: UInt32, resume: CheckedContinuation<Void, Never>)] = []
    }

    /// - Parameters:
    ///   - lost: Told when a device stops by itself, with the sessions that use it or are about to.
    ///   - moved: Told when a device is about to go on in another ring, which its source has by now.
    init(
        devices: any DeviceProvider,
        rings: any RingProvider,
        lost: @escaping @Sendable (Set<UInt32>, CaptureError) async -> Void,
        moved: @escaping @Sendable (SharedSource, Set<UInt32>) async -> Void
    ) {
        self.devices = devices
        self.rings = rings
        self.lost = lost
        self.moved = moved
    }

    /// The device that an input names, or the first of its kind.
    func resolve(_ input: InputDescription) async throws(CaptureError) -> DeviceDescription {
        if input.mediaType == .metadata { return try await resolve(input.cameraOfMetadata).metadataPart() }
        let devices = await devices.devices()
        let (all, kind) =
            switch input.mediaType {
            case .audio: (devices.filter { $0.mediaType == .audio }, "microphone")
            case .depth: (devices.filter { !$0.depthFormats.isEmpty }, "depth camera")
            case .video, .metadata: (devices.filter { $0.mediaType == .video }, "camera")
            }
        guard let name = input.device else {
            if let first = all.first { return first }
            throw CaptureError(.noSuchDevice, "there is no \(kind)")
        }
        if let found = all.first(where: { $0.id.rawValue == name || $0.aliases.contains(name) }) { return found }
        let known = all.isEmpty ? "none is there" : "there are: " + all.map(\.id.rawValue).joined(separator: ", ")
        throw CaptureError(.noSuchDevice, "no \(kind) '\(name)'; \(known)")
    }

    /// Opens the input's device, or joins those who have it open, on behalf of a session. A session is one user of a device,
    /// however many of its inputs do.
    ///
    /// - Throws: `.busy` when it is open in another format than the one that is asked for exactly, `.deviceLost` when it
    ///   has stopped by itself and those who used it are still leaving.
    func acquire(_ input: InputDescription, _ device: DeviceDescription, grant: Grant, for session: UInt32)
        async throws(CaptureError) -> SharedSource
    {
        // The task itself takes the entry away, so that whoever waits for it never finds it again.
        while true {
            if let hold = holds[device.id], hold.session != session {
                guard !leaving.contains(session) else {
                    throw CaptureError(.wrongState, "session \(session) was stopped while it waited for \(device.name)")
                }
                await withCheckedContinuation { holds[device.id]?.waiting.append((session, $0)) }
            } else if case .closing(let task) = entries[device.id] {
                await task.value
            } else {
                break
            }
        }
        log.debug("session \(session) \(entries[device.id] == nil ? "opens" : "joins") \(device.id)")
        // From here to the entry there is no suspension, so nobody comes between.
        let isNew = users[device.id, default: []].insert(session).inserted
        do {
            switch entries[device.id] {
            case .open(_, .ended(let error)): throw error
            case .open(let shared, _):
                try SourcePool.check(input, fits: shared)
                return shared
            case .opening(let task):
                let shared: SharedSource
                do {
                    shared = try await task.value
                } catch let error as CaptureError where error.isWithdrawal && grant.isLive {
                    // The withdrawn consent was that of the session that opened the device.
                    return try await acquire(input, device, grant: grant, for: session)
                }
                try SourcePool.check(input, fits: shared)
                return shared
            case .closing, nil:
                let task = Task { try await self.open(input, device, grant) }
                entries[device.id] = .opening(task)
                return try await task.value
            }
        } catch {
            // Another input of the session may use it, and goes on.
            if isNew { await release(device.id, for: session) }
            throw error as? CaptureError ?? CaptureError(.internalFault, "opening \(device.name): \(error)")
        }
    }

    /// Opens a device and enters what came of it, before anybody who waits for that goes on.
    private func open(_ input: InputDescription, _ device: DeviceDescription, _ grant: Grant)
        async throws(CaptureError) -> SharedSource
    {
        do throws(CaptureError) {
            let source =
                switch input.mediaType {
                case .video, .depth:
                    try await devices.openCamera(device, try input.request(to: device), grant: grant)
                case .audio: try await devices.openMicrophone(device, input.audio, grant: grant)
                case .metadata: try await devices.openMetadata(device.camera, grant: grant)
                }
            let ring: any MediaRing
            do throws(CaptureError) {
                guard input.accepts(source.format) else {
                    throw CaptureError(.noSuchFormat, "\(device.name) delivers no depth, but \(source.format)")
                }
                ring = try rings.makeRing(for: source, name: device.id.rawValue, isMoved: false)
            } catch {
                await devices.close(source)
                throw error
            }
            let shared = SharedSource(device: device, source: source, ring: ring)
            entries[device.id] = .open(shared, .not)
            log.debug("\(device.id) is open: \(source.format)")
            return shared
        } catch {
            entries[device.id] = nil
            throw error
        }
    }

    /// Makes a device stream, unless it does so already.
    ///
    /// - Throws: What ended the device, if it has stopped by itself meanwhile.
    func stream(_ shared: SharedSource) async throws(CaptureError) {
        let id = shared.device.id
        guard case .open(let current, let streaming) = entries[id], current === shared else {
            throw CaptureError(.deviceLost, "\(shared.device.name) went away before it could stream")
        }
        let task: Task<Void, any Error>
        switch streaming {
        case .now: return
        case .ended(let error): throw error
        case .starting(let running): task = running
        case .not:
            task = Task { try await self.start(shared) }
            entries[id] = .open(shared, .starting(task))
        }
        do {
            try await task.value
        } catch {
            throw error as? CaptureError
                ?? CaptureError(.internalFault, "\(shared.device.name) does not start: \(error)")
        }
    }

    /// Starts a source for all who wait for it.
    private func start(_ shared: SharedSource) async throws(CaptureError) {
        let id = shared.device.id
        var fault: CaptureError?
        do {
            try await devices.start(shared.source, into: shared.ring.sink) { error in
                shared.fail(error)
                Task { await self.ended(shared, error) }
            }
        } catch {
            fault = error
        }
        guard case .open(let current, let streaming) = entries[id], current === shared else { return }
        if case .ended(let error) = streaming { throw error }
        log.debug("\(id) \(fault.map { "does not stream: \($0.message)" } ?? "streams")")
        entries[id] = .open(shared, fault == nil ? .now : .not)
        if let fault { throw fault }
    }

    /// A source stopped by itself. Nobody joins it any more; the sessions that use it are told.
    private func ended(_ shared: SharedSource, _ error: CaptureError) async {
        let id = shared.device.id
        guard case .open(let current, _) = entries[id], current === shared else { return }
        log.debug("\(id) stopped by itself: \(error.message)")
        entries[id] = .open(shared, .ended(error))
        // Frames come without it, so that no session ends with it. Its readers see the end of the ring.
        if shared.device.mediaType == .metadata { return }
        await lost(users[id] ?? [], error)
    }

    /// Lets a device go on in a new ring, so that whoever has the present one mapped sees nothing more of it.
    ///
    /// Nothing is to be done where it is closed, or writes another ring by now.
    ///
    /// - Parameters:
    ///   - ring: The ring; `nil` for any that was left without haste and may still be written.
    ///   - atOnce: As `MediaSource.move` has it.
    /// - Throws: When it cannot go on; then it may still write the ring.
    func move(_ id: DeviceID, from ring: (any MediaRing)?, atOnce: Bool) async throws(CaptureError) {
        while let running = moves[id] { _ = try? await running.value }
        while case .closing(let task) = entries[id] { await task.value }
        guard case .open(let shared, let streaming) = entries[id],
            shared.ring === ring || (atOnce && shared.mayStillWrite(ring))
        else { return }
        if case .ended = streaming { return }
        let task = Task { try await self.move(shared, streaming, atOnce: atOnce) }
        moves[id] = task
        do {
            try await task.value
        } catch {
            throw error as? CaptureError
                ?? CaptureError(.internalFault, "\(shared.device.name) does not go on: \(error)")
        }
    }

    private func move(_ shared: SharedSource, _ streaming: Streaming, atOnce: Bool) async throws(CaptureError) {
        let id = shared.device.id
        defer { moves[id] = nil }
        if case .starting(let task) = streaming { _ = try? await task.value }
        let next = try rings.makeRing(for: shared.source, name: id.rawValue, isMoved: true)
        let former = shared.go(into: next, atOnce: atOnce)
        guard case .open(let current, .now) = entries[id], current === shared else {
            // Nothing is written yet, or any more.
            shared.settle(former, atOnce: true)
            return former.sink.finish(.moved)
        }
        // Before the device goes there, so that its other readers lose no time.
        await moved(shared, users[id] ?? [])
        do throws(CaptureError) {
            try await devices.move(shared.source, to: next.sink, atOnce: atOnce)
            shared.settle(former, atOnce: atOnce)
        } catch {
            shared.fail(error)
            for ring in [former, next] { ring.sink.finish(.deviceLost) }
            // Who closes it meanwhile, or was told that it ended, sees to the rest.
            guard case .open(let current, .now) = entries[id], current === shared else { return }
            throw error
        }
    }

    /// A session no longer uses a device; the last one closes it.
    ///
    /// - Parameter end: What readers of the ring are told where it is closed.
    func release(_ id: DeviceID, for session: UInt32, _ end: StreamEnd = .stopped) async {
        users[id]?.remove(session)
        log.debug("session \(session) leaves \(id), which \(users[id]?.count ?? 0) others use")
        guard users[id]?.isEmpty ?? true else { return }
        users[id] = nil
        switch entries[id] {
        case .open(let shared, let streaming):
            let isStreaming = if case .not = streaming { false } else { true }
            // Before a driver is waited for that may take its time. What it publishes at this moment still counts.
            if isStreaming, end == .revoked { shared.ring.sink.finish(end) }
            let task = Task {
                await self.devices.close(shared.source)
                if isStreaming { shared.ring.sink.finish(end) }
                self.entries[id] = nil
                log.debug("\(id) is closed")
            }
            entries[id] = .closing(task)
            await task.value
        // Who opens is a user until the opening came to its end.
        case .opening, .closing, nil: break
        }
    }

    /// Closes a device that a session alone uses, and begins to open it in another format. `acquire` waits for that; its
    /// readers wait to be handed another ring.
    ///
    /// - Throws: `.busy` if other sessions use it, `.deviceLost` if it does not stream any more. Then it stays as it is.
    func restart(_ shared: SharedSource, as input: InputDescription, grant: Grant, for session: UInt32)
        async throws(CaptureError)
    {
        let id = shared.device.id
        while let running = moves[id] { _ = try? await running.value }
        guard case .open(let current, .now) = entries[id], current === shared else {
            throw CaptureError(.deviceLost, "\(shared.device.name) went away")
        }
        guard users[id] == [session] else {
            throw CaptureError(
                .busy,
                "cannot change the format of \(shared.device.name): other sessions use it; stop them first"
            )
        }
        log.debug("session \(session) has \(id) go on in another format")
        let closing = Task {
            await self.devices.close(shared.source)
            shared.ring.sink.finish(.moved)
            self.entries[id] = .opening(Task { try await self.open(input, shared.device, grant) })
        }
        entries[id] = .closing(closing)
        await closing.value
    }

    /// Has other sessions wait for a device that a session alone uses, until `letGo`.
    ///
    /// - Returns: Whether it alone uses it.
    func hold(_ shared: SharedSource, for session: UInt32) -> Bool {
        guard users[shared.device.id] == [session], holds[shared.device.id] == nil else { return false }
        holds[shared.device.id] = Hold(session: session)
        return true
    }

    /// Lets others have a device again.
    func letGo(_ id: DeviceID) {
        for waiter in holds.removeValue(forKey: id)?.waiting ?? [] { waiter.resume.resume() }
    }

    /// Has a session wait for no device that others hold, until `forget`: its start or change fails.
    func giveUp(_ session: UInt32) {
        leaving.insert(session)
        for id in holds.keys {
            let waiting = holds[id]?.waiting ?? []
            holds[id]?.waiting = waiting.filter { $0.session != session }
            for waiter in waiting where waiter.session == session { waiter.resume.resume() }
        }
    }

    /// A session that gave up has stopped, and may come back.
    func forget(_ session: UInt32) { leaving.remove(session) }

    /// The rings that devices left without haste and may still write.
    var late: [DeviceID: Set<ObjectIdentifier>] {
        entries.compactMapValues { if case .open(let shared, _) = $0 { shared.late } else { nil } }
    }

    /// The sessions that use a device, or are about to.
    func users(of id: DeviceID) -> Set<UInt32> { users[id] ?? [] }

    private static func check(_ input: InputDescription, fits shared: SharedSource) throws(CaptureError) {
        let isSame =
            switch shared.source.format {
            case .video(let format):
                input.accepts(.video(format)) && (!input.video.isExact || format.fulfils(input.video))
            case .audio(let format): !input.audio.isExact || format.fulfils(input.audio)
            case .metadata: true
            }
        if isSame { return }
        throw CaptureError(.busy, "\(shared.device.name) is in use in another format: \(shared.source.format)")
    }
}

extension InputDescription {
    /// What is asked of the camera: distances, if the input is of depth.
    ///
    /// - Throws: `noSuchFormat` if that is no depth format, or the camera has none.
    fileprivate func request(to device: DeviceDescription) throws(CaptureError) -> VideoFormatRequest {
        guard mediaType == .depth else { return video }
        var request = video
        request.pixelFormat = video.pixelFormat ?? device.depthFormats.first?.pixelFormat
        guard let asked = request.pixelFormat, asked.isDepth else {
            let known = Set(device.depthFormats.map { "\($0.pixelFormat)" }).sorted().joined(separator: ", ")
            throw CaptureError(
                .noSuchFormat,
                "the input '\(name)' is of depth, which \(request.pixelFormat.map { "\($0)" } ?? device.name) has not; "
                    + (known.isEmpty ? "\(device.name) has no depth format" : "\(device.name) has: \(known)")
            )
        }
        return request
    }

    /// Whether a device's format is of the input's kind.
    fileprivate func accepts(_ format: MediaFormat) -> Bool {
        guard mediaType == .depth, case .video(let video) = format else { return mediaType != .depth }
        return video.pixelFormat.isDepth
    }
}
