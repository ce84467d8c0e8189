import Authorization
import CaptureCore
import CaptureDevices
import CaptureEngine
import CaptureSystem
import Synchronization

/// The devices of this machine, and the synthetic ones when they are wanted.
///
/// Opening, starting and closing block for as long as a driver does, so each runs on a thread of its own.
struct MachineDevices: DeviceProvider {
    let monitor: DeviceMonitor
    let synthetic: SyntheticDevices?
    /// Knows which devices stream.
    let heartbeat: Heartbeat
    /// Knows which of the cameras' own controls may be written.
    let vendors: VendorControls
    let profiles: DeviceProfiles
    /// The latest frames of each camera.
    private let frames = CameraFrames()

    func devices() async -> [DeviceDescription] {
        (synthetic?.descriptions() ?? []) + monitor.devices()
    }

    /// The device of an id or an alias.
    func device(_ name: String) async throws(CaptureError) -> DeviceDescription {
        let all = await devices()
        if let found = all.first(where: { $0.id.rawValue == name || $0.aliases.contains(name) }) { return found }
        throw CaptureError(.noSuchDevice, "there is no device '\(name)'")
    }

    func openCamera(_ device: DeviceDescription, _ request: VideoFormatRequest, grant: Grant) async throws(CaptureError)
        -> any MediaSource
    {
        let (synthetic, proof, frames) = (synthetic, heartbeat.proof, frames.of(device.id))
        return try await WorkerThread.run("open-camera") { () throws(CaptureError) -> any MediaSource in
            profiles.apply(to: device.id) { () throws(CaptureError) in try openSettings(device, grant) }
            if let synthetic, device.isSynthetic {
                return device.id == SyntheticDevices.depthCameraID
                    ? try synthetic.openDepthCamera(request, grant: grant)
                    : try synthetic.openCamera(request, grant: grant)
            }
            return try V4L2Camera.open(device, request, grant: grant, proof: proof, frames: frames)
        }
    }

    func openMetadata(_ camera: DeviceDescription, grant: Grant) async throws(CaptureError) -> any MediaSource {
        let (synthetic, proof, frames) = (synthetic, heartbeat.proof, frames.of(camera.id))
        return try await WorkerThread.run("open-metadata") { () throws(CaptureError) -> any MediaSource in
            if let synthetic, camera.isSynthetic { return try synthetic.openMetadata(grant: grant) }
            return try V4L2.openMetadata(of: camera, grant: grant, proof: proof, frames: frames)
        }
    }

    func openMicrophone(_ device: DeviceDescription, _ request: AudioFormatRequest, grant: Grant)
        async throws(CaptureError) -> any MediaSource
    {
        let (synthetic, proof) = (synthetic, heartbeat.proof)
        return try await WorkerThread.run("open-mic") { () throws(CaptureError) -> any MediaSource in
            profiles.apply(to: device.id) { () throws(CaptureError) in try openSettings(device, grant) }
            if let synthetic, device.isSynthetic { return try synthetic.openMicrophone(request, grant: grant) }
            return try ALSA.open(device, request, grant: grant, proof: proof)
        }
    }

    func start(
        _ source: any MediaSource,
        into sink: any MediaSink,
        ended: @escaping @Sendable (CaptureError) -> Void
    ) async throws(CaptureError) {
        heartbeat.began(source)
        do throws(CaptureError) {
            try await WorkerThread.run("start-source") { () throws(CaptureError) in
                try source.start(into: sink, ended: ended)
            }
        } catch {
            heartbeat.ended(source)
            throw error
        }
    }

    func move(_ source: any MediaSource, to sink: any MediaSink, atOnce: Bool) async throws(CaptureError) {
        try await WorkerThread.run("move-source") { () throws(CaptureError) in
            try source.move(to: sink, atOnce: atOnce)
        }
    }

    func close(_ source: any MediaSource) async {
        // Closing cannot fail, but a thread for it can be lacking; then it is done here.
        do throws(CaptureError) {
            try await WorkerThread.run("close-source") { source.close() }
        } catch {
            source.close()
        }
        heartbeat.ended(source)
    }
}

/// Where cameras note their frames, so that their metadata finds the frame it belongs to. It stays when a camera is closed
/// and opened again. Thread-safe.
private final class CameraFrames: Sendable {
    private let all = Mutex<[DeviceID: FrameNumbers]>([:])

    func of(_ camera: DeviceID) -> FrameNumbers {
        all.withLock { all in
            if let known = all[camera] { return known }
            let made = FrameNumbers()
            all[camera] = made
            return made
        }
    }
}

extension DeviceDescription {
    /// Whether it is one of those that draw and beep without hardware.
    var isSynthetic: Bool { SyntheticDevices.ids.contains(id) }
}
