public import CaptureCore

extension CaptureDevice {
    /// A search for devices by kind, type and position. A value; any task may call everything.
    ///
    /// Nobody is asked for that, and no device is opened.
    public struct DiscoverySession: Sendable {
        /// The types to find. The devices found are in this order.
        public let deviceTypes: [DeviceType]
        /// Cameras or microphones alone; `nil` for both.
        public let mediaType: MediaType?
        /// Where on the machine; `unspecified` finds devices anywhere.
        public let position: DevicePosition
        private let daemon: CaptureDaemon?

        /// A search.
        ///
        /// - Parameters:
        ///   - deviceTypes: The types to find; none finds nothing.
        ///   - mediaType: Cameras or microphones alone; `nil` for both.
        ///   - position: Where on the machine; `unspecified` for anywhere.
        ///   - daemon: `nil` for the shared connection.
        public init(
            deviceTypes: [DeviceType] = DeviceType.allCases,
            mediaType: MediaType? = nil,
            position: DevicePosition = .unspecified,
            on daemon: CaptureDaemon? = nil
        ) {
            self.deviceTypes = deviceTypes
            self.mediaType = mediaType
            self.position = position
            self.daemon = daemon
        }

        /// The devices that are there now.
        public var devices: [CaptureDevice] {
            get async throws(CaptureError) {
                let all = try await CaptureDevice.devices(for: mediaType, on: daemon)
                return deviceTypes.flatMap { type in
                    all.filter { $0.deviceType == type && (position == .unspecified || $0.position == position) }
                }
            }
        }

        /// The devices now, and again whenever one comes or goes. Only the latest list waits to be read. Empty while there
        /// is no daemon; ends as `CaptureDaemon.events()` does.
        ///
        /// - Throws: As `CaptureDaemon.events()`.
        public func updates() async throws(CaptureError) -> AsyncStream<[CaptureDevice]> {
            let events = try await CaptureDaemon.given(daemon).events()
            let (stream, continuation) = AsyncStream<[CaptureDevice]>.makeStream(bufferingPolicy: .bufferingNewest(1))
            continuation.yield(try await present())
            let following = Task {
                for await event in events {
                    switch event {
                    case .deviceAdded, .deviceRemoved, .daemonAppeared, .daemonVanished: break
                    default: continue
                    }
                    do throws(CaptureError) {
                        continuation.yield(try await present())
                    } catch {
                        // The next event reads the list again.
                        continue
                    }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in following.cancel() }
            return stream
        }

        /// The devices; none while there is no daemon.
        private func present() async throws(CaptureError) -> [CaptureDevice] {
            do throws(CaptureError) {
                return try await devices
            } catch {
                guard error.code == .unreachable else { throw error }
                return []
            }
        }
    }

    /// Whether it is there now. `DiscoverySession.updates()` tells of changes.
    public var isConnected: Bool {
        get async throws(CaptureError) {
            try await CaptureDevice.devices(for: mediaType, on: daemon).contains { $0.id == id }
        }
    }

    /// Whether somebody captures with it through captured now, as far as this program may know: a program of the same
    /// user. Root hears of everybody, and a program in a sandbox of itself alone. `CaptureDaemon.uses()` has the programs.
    public var isInUse: Bool {
        get async throws(CaptureError) {
            try await daemon.uses().contains { $0.phase == .live && $0.device == id.rawValue }
        }
    }
}
