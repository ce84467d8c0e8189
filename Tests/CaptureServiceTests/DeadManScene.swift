import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import CaptureDevices
import CaptureEngine
import CaptureSystem
import Foundation
import Synchronization
import TestSupport

@testable import CaptureService

/// The bus, the gate and the engine as in the daemon. The synthetic devices stream into real rings, whose memory a
/// client maps. Thread-safe.
final class DeadManScene: Sendable {
    let bus = try? PrivateBus()
    let connection: BusConnection
    let gate: AuthorizationGate
    let engine: CaptureEngine
    let watch = BlockingObserver()
    let heartbeat = Heartbeat()
    let gateBlock = Block()

    private static let identity = ClientIdentity(
        program: "exe:/usr/bin/tester",
        tier: .claimed,
        user: 1000,
        name: "tester",
        detail: "a test"
    )
    private static let other = ClientIdentity(
        program: "exe:/usr/bin/other",
        tier: .claimed,
        user: 1000,
        name: "other",
        detail: "another"
    )
    private static let client = SessionClient(identity: identity, connection: ":1.1") { () throws(CaptureError) in
        identity
    }

    /// A session of both devices, each with a ring for the client to map.
    private static let description = SessionDescription(
        inputs: [
            InputDescription(name: "camera", mediaType: .video, video: VideoFormatRequest(width: 320, height: 240)),
            InputDescription(name: "microphone", mediaType: .audio),
        ],
        outputs: [
            OutputDescription(name: "frames", kind: .buffer, format: ""),
            OutputDescription(name: "samples", kind: .buffer, format: ""),
        ],
        connections: [
            ConnectionDescription(input: "camera", output: "frames"),
            ConnectionDescription(input: "microphone", output: "samples"),
        ]
    )

    init() async throws {
        guard let bus else { throw CaptureError(.unreachable, "no bus of the test's own") }
        connection = try await BusConnection.open(bus.kind)
        gate = AuthorizationGate(prompter: ClosurePrompter.yes, decisions: { [gateBlock] _ in gateBlock.pass() })
        let devices = MachineDevices(
            monitor: try DeviceMonitor(probers: []) { _ in },
            synthetic: SyntheticDevices(proof: heartbeat.proof),
            heartbeat: heartbeat,
            vendors: VendorControls(),
            profiles: DeviceProfiles(ProfileFile(directory: "/nonexistent"))
        )
        engine = CaptureEngine(
            devices: devices,
            rings: SharedRings(),
            recorders: FakeRecorders(),
            gate: gate,
            observer: watch,
            history: HistoryKeeper()
        )
        heartbeat.serve(Heartbeat.Rounds(connection, gate, engine, heartbeat.proof))
    }

    /// Starts a session. Returns its number and the memory of its rings, once buffers arrive.
    func stream() async throws -> (id: UInt32, memory: [SharedMemory]) {
        let id = try await engine.create(Self.description, files: [:], client: Self.client)
        try await engine.start(id, client: Self.client)
        try await until { await self.session(id)?.state == .running }
        var memory: [SharedMemory] = []
        for output in ["frames", "samples"] {
            let file = try await engine.openBuffer(id, output: output, client: Self.client)
            guard let file = file as? Descriptor else { throw CaptureError(.internalFault, "a ring without a memfd") }
            memory.append(try SharedMemory(mapping: file))
        }
        for one in memory {
            let before = one.copy
            try await until { one.copy != before }
        }
        return (id, memory)
    }

    func session(_ id: UInt32) async -> SessionSnapshot? {
        await engine.list(for: Self.client).first { $0.id == id }
    }

    func statistics(of id: UInt32) async throws -> SessionStatistics {
        try await engine.statistics(of: id, client: Self.client)
    }

    func stop(_ id: UInt32) async throws {
        try await engine.stop(id, client: Self.client)
        try await until { await self.session(id)?.state == .stopped }
    }

    /// Makes the gate decide and the engine act, as far as they work.
    func knockAtGate() {
        Task { [gate] in
            _ = try await gate.requestAccess(
                [.camera],
                for: Requester(client: Self.other, session: ":1.2") { Self.other }
            )
        }
    }

    func knockAtEngine() {
        Task { [engine] in
            _ = try await engine.create(Self.description, files: [:], client: Self.client)
        }
    }
}

extension SharedMemory {
    /// Every byte of the mapping.
    var copy: [UInt8] { unsafe Array(UnsafeRawBufferPointer(bytes)) }
}

/// Holds the next thread that passes, once armed. Thread-safe.
final class Block: Sendable {
    private enum State {
        case open
        case armed
        case holding(since: ContinuousClock.Instant)
    }

    private let state = Mutex(State.open)
    private let release = DispatchSemaphore(value: 0)

    func arm() { state.withLock { $0 = .armed } }

    /// Called by the thread to hold.
    func pass() {
        let holds = state.withLock { state in
            guard case .armed = state else { return false }
            state = .holding(since: .now)
            return true
        }
        if holds { release.wait() }
    }

    /// When it caught a thread.
    var since: ContinuousClock.Instant? {
        state.withLock { if case .holding(let since) = $0 { since } else { nil } }
    }

    /// Releases the thread.
    ///
    /// - Returns: How long it was held.
    func open() -> Duration {
        let since = state.withLock { state in
            defer { state = .open }
            if case .holding(let since) = state { return since }
            return .now
        }
        release.signal()
        return ContinuousClock.now - since
    }
}

/// Measures how late this machine runs tasks, between `init` and `end`. Thread-safe.
final class Delays: Sendable {
    private let task = Task {
        var most = Duration.zero
        while !Task.isCancelled {
            let begun = ContinuousClock.now
            // `end` cuts the last one short, which counts as no delay.
            try? await Task.sleep(for: .milliseconds(20))
            most = max(most, ContinuousClock.now - begun - .milliseconds(20))
        }
        return most
    }

    /// The longest delay since `init`.
    func end() async -> Duration {
        task.cancel()
        return await task.value
    }
}

/// Records the states of sessions, and holds up the engine when armed.
final class BlockingObserver: EngineObserver {
    let block = Block()
    private let seen = Mutex<[(state: SessionState, reason: CaptureError?)]>([])

    /// The announced states of all sessions, with their reasons.
    var states: [(state: SessionState, reason: CaptureError?)] { seen.withLock { $0 } }

    func sessionAdded(_ session: SessionSnapshot) { block.pass() }
    func sessionChanged(_ session: SessionSnapshot) {
        seen.withLock { $0.append((session.state, session.reason)) }
    }
    func sessionRemoved(_ id: UInt32) {}
    func bufferMoved(_ session: SessionSnapshot, output: String) {}
    func outputSaved(_ session: SessionSnapshot, output: String, _ saved: SavedOutput, to connection: String) {}
    func outputSegment(_ session: SessionSnapshot, output: String, _ event: SegmentEvent) {}
    func outputLevels(_ id: UInt32, output: String, _ levels: [AudioLevel], to connections: Set<String>) {}
    func outputFinished(_ session: SessionSnapshot, output: String, error: CaptureError?, statistics: OutputStatistics)
    {}
}
