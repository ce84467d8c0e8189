import CaptureKit
import Synchronization

// A capture program as AVFoundation programmers write it, with the changes that the page "AVFoundation and PhotoKit names"
// lists. What has no equivalent yet is left out, and is in that page's table.
// 1 authorization
switch try await CaptureDevice.authorizationStatus(for: .video) {
case .authorized: print("authorized")
case .notDetermined: let granted = try await CaptureDevice.requestAccess(for: .video); _ = granted as Bool
case .denied: break
case .restricted: break
case .limited: break
}
// 2 discovery
let discovery = CaptureDevice.DiscoverySession(
    deviceTypes: [.external, .synthetic],
    mediaType: .video,
    position: .unspecified
)
print(try await discovery.devices.map(\.name))
let camera = try await CaptureDevice.default(for: .video)
print(try await camera.isConnected, camera.position, camera.id, camera.name, camera.videoFormats.count)
// 3 device control
try await camera.lockForConfiguration()
try await camera.setFocusMode(.continuousAutoFocus)
try await camera.setFocusMode(.locked(lensPosition: 0.5))
try await camera.setExposureTargetBias(1)
try await camera.setExposureMode(.custom(duration: .milliseconds(10)))
try await camera.setWhiteBalanceMode(.locked(temperature: 4600))
try await camera.setVideoZoomFactor(2)
try await camera.setTorchMode(.on)
print(try await camera.focusMode(), try await camera.whiteBalanceMode(), try await camera.videoZoomFactor())
try await camera.unlockForConfiguration()
// 4 session
let session = try await CaptureSession()
await session.beginConfiguration()
let input = CaptureDeviceInput(camera)
if await session.canAddInput(input) { try await session.addInput(input) }
if try await session.canSetPreset(.hd1280x720) { try await session.setPreset(.hd1280x720) }
let mic = CaptureDeviceInput(try await CaptureDevice.default(for: .audio))
try await session.addInput(mic)
// 5 outputs
let count = Count()
let videoData = VideoDataOutput { if case .data = $0 { count.frames.add(1, ordering: .relaxed) } }
let audioData = AudioDataOutput { if case .data = $0 { count.samples.add(1, ordering: .relaxed) } }
try await session.addOutput(videoData)
try await session.addOutput(audioData)
let photoOutput = PhotoOutput()
try await session.addOutput(photoOutput)
try await session.commitConfiguration()
let states = try await session.states()
try await session.startRunning()
print(try await session.statistics().inputs["camera"]?.format ?? "no format")
// 6 record, photo
let movie = try OutputFile(creating: "a.mov")
let movieOutput = try MovieFileOutput(file: movie.descriptor, format: "mov", duration: 60, maxFileSize: 1 << 30)
try await session.addOutput(movieOutput)  // starts the recording
let connection = await session.connection(with: .video, to: movieOutput.name)
try await recorded(moreThan: 30)
try await connection?.setEnabled(false)
try await connection?.setEnabled(true)
print(try await session.statistics().outputs[movieOutput.name]?.peak ?? -1 >= 0)
try await session.pauseRecording()
try await session.resumeRecording()
try await recorded(moreThan: 60)
let photo = try await photoOutput.capturePhoto(with: PhotoSettings(format: "jpeg", quality: 80))
print(photo.bytes.starts(with: [0xff, 0xd8]), photo.lostBefore)
try await session.removeOutput(movieOutput.name)  // stops the recording
try movie.keep()
let interruptions = Task {
    for await status in states { if let reason = status.interruption { print(reason) } }
}
try await session.stopRunning()
await interruptions.value
let before = count.frames.load(ordering: .relaxed)
try await session.startRunning()
while count.frames.load(ordering: .relaxed) == before { try await Task.sleep(for: .milliseconds(5)) }
try await session.stopRunning()
print("frames \(before > 30), samples \(count.samples.load(ordering: .relaxed) > 30), again true")

/// What the handlers got.
final class Count: Sendable {
    let frames = Atomic<Int>(0)
    let samples = Atomic<Int>(0)
}

/// Waits until the movie has more frames.
func recorded(moreThan count: UInt64) async throws {
    while try await session.statistics().outputs[movieOutput.name]?.frames ?? 0 <= count {
        try await Task.sleep(for: .milliseconds(10))
    }
}
