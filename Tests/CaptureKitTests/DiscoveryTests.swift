import BusSupport
import CaptureBus
import CaptureCore
import CaptureKit
import CaptureMessages
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct `A search for devices` {
    private static func device(_ id: String, _ type: DeviceType, _ position: DevicePosition) -> DeviceDescription {
        DeviceDescription(
            id: DeviceID(rawValue: id),
            mediaType: id.hasPrefix("m") ? .audio : .video,
            name: id,
            aliases: [],
            driver: "",
            bus: "",
            deviceType: type,
            position: position
        )
    }

    /// A daemon whose list of devices a test changes.
    private static func daemon(_ list: Shared) async throws -> FakeDaemon {
        try await FakeDaemon(["ListDevices": { _, _ in [.list(list.devices.withLock { $0 })] }])
    }

    private final class Shared: Sendable {
        let devices = Mutex<[DeviceDescription]>([
            device("c-front", .builtIn, .front), device("c-usb", .external, .external),
            device("m-usb", .external, .external), device("c-back", .builtIn, .back),
        ])
    }

    private func found(_ search: CaptureDevice.DiscoverySession) async throws -> [String] {
        try await search.devices.map(\.id.rawValue)
    }

    @Test func `finds by type, kind and position, in the order of the types`() async throws {
        let daemon = try await Self.daemon(Shared())
        let client = try await daemon.client()
        typealias Search = CaptureDevice.DiscoverySession
        #expect(try await found(Search(on: client)) == ["c-front", "c-back", "c-usb", "m-usb"])
        let order = Search(deviceTypes: [.external, .builtIn], mediaType: .video, on: client)
        #expect(try await found(order) == ["c-usb", "c-front", "c-back"])
        #expect(try await found(Search(mediaType: .video, position: .back, on: client)) == ["c-back"])
        #expect(try await found(Search(deviceTypes: [.external], mediaType: .audio, on: client)) == ["m-usb"])
        #expect(try await found(Search(deviceTypes: [.synthetic], on: client)).isEmpty)
        #expect(try await found(Search(deviceTypes: [], on: client)).isEmpty)
        withExtendedLifetime(daemon) {}
    }

    @Test func `tells of devices that come and go, and of none without a daemon`() async throws {
        let list = Shared()
        let daemon = try await Self.daemon(list)
        let client = try await daemon.client()
        let search = CaptureDevice.DiscoverySession(deviceTypes: [.external], mediaType: .video, on: client)
        var updates = try await search.updates().makeAsyncIterator()
        let camera = try #require(await updates.next()?.first)
        #expect(camera.id.rawValue == "c-usb")
        #expect(camera.position == .external)
        #expect(try await camera.isConnected)
        list.devices.withLock { $0.removeAll { $0.id == camera.id } }
        try daemon.connection.emit(
            CaptureNames.root,
            CaptureNames.manager,
            "DeviceRemoved",
            signature: "s",
            [.string(camera.id.rawValue)]
        )
        #expect(await updates.next()?.isEmpty == true)
        #expect(try await !camera.isConnected)
        let new = Self.device("c-new", .external, .external)
        list.devices.withLock { $0.append(new) }
        try daemon.connection.emit(
            CaptureNames.root,
            CaptureNames.manager,
            "DeviceAdded",
            signature: "a{sv}",
            [new.busValue]
        )
        #expect(await updates.next()?.map(\.id.rawValue) == ["c-new"])
        await daemon.connection.close()
        #expect(await updates.next()?.isEmpty == true)
    }

    @Test func `finds the synthetic devices, and says which is in use`() async throws {
        let captured = try await RealDaemon()
        let client = try await captured.client()
        let search = CaptureDevice.DiscoverySession(deviceTypes: [.synthetic], on: client)
        let devices = try await search.devices
        #expect(devices.map(\.id.rawValue) == ["synthetic:camera", "synthetic:depth", "synthetic:microphone"])
        let camera = try #require(devices.first)
        #expect(camera.deviceType == .synthetic)
        #expect(try await camera.isConnected)
        #expect(try await !camera.isInUse)
        let session = try await SessionLifeTests.session(client, FrameBufferOutput())
        try await session.startRunning()
        #expect(try await camera.isInUse)
        #expect(try await devices[1].isInUse == false)
        try await session.stopRunning()
        try await until { try await !camera.isInUse }
    }

    @Test func `tells before a start which presets a session's cameras have`() async throws {
        let captured = try await RealDaemon()
        let client = try await captured.client()
        let session = try await CaptureSession(on: client)
        #expect(try await session.canSetPreset(.hd4K3840x2160))
        try await session.addInput(.microphone("synthetic:microphone"))
        try await session.addInput(.camera("synthetic:camera"))
        #expect(try await session.canSetPreset(.hd1920x1080))
        #expect(try await session.canSetPreset(.photo))
        #expect(try await !session.canSetPreset(.hd4K3840x2160))
        try await session.removeInput("camera")
        try await session.addInput(.camera("nothing of that name"))
        #expect(await code { _ = try await session.canSetPreset(.low) } == .noSuchDevice)
        #expect(await session.id == nil)
    }
}
