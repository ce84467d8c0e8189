import CaptureKit
import Synchronization

// A capture program as AVFoundation programmers write it, with the changes that the page "AVFoundation and PhotoKit names"
// lists. No call is left out. It prints what a test compares.
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
print("found", try await discovery.devices.map(\.name))
let camera = try await CaptureDevice.default(for: .video)
print("camera", try await camera.isConnected, camera.position, camera.id, camera.name, camera.videoFormats.count)
// 3 device control
try await camera.lockForConfiguration()
try await camera.setFocusMode(.continuousAutoFocus)
print("focus", try await camera.focusMode())
try await camera.setFocusMode(.locked(lensPosition: 0.5))
print("focus", try await camera.focusMode())
let controls = try await camera.controls()  // V4L2 has no point of interest; a maker's control has a name
print("point of interest", controls.contains { $0.name == "focus_point_of_interest" })
let exposure = try await camera.supportedExposure()
try await camera.setExposureMode(.custom(duration: .milliseconds(10), iso: exposure.iso == nil ? nil : 400))
print("exposure", try await camera.exposureMode())
try await camera.setExposureMode(.continuousAutoExposure)
try await camera.setExposureTargetBias(1)
print("bias", try await camera.exposureTargetBias())
try await camera.setWhiteBalanceMode(.locked(temperature: 4600))
print("white balance", try await camera.whiteBalanceMode())
try await camera.setVideoZoomFactor(2)
print("zoom", try await camera.videoZoomFactor())
try await camera.setTorchMode(.on)
print("torch", try await camera.torchMode())
print("smooth focus", controls.contains { $0.name == "focus_smooth" })
if try await camera.supportedVideoStabilizationModes().contains(.standard) {  // of the camera, not of a connection
    try await camera.setVideoStabilizationMode(.standard)
    print("stabilization", try await camera.videoStabilizationMode())
}
try await camera.unlockForConfiguration()
// 4 session
let session = try await CaptureSession()
await session.beginConfiguration()
let input = CaptureDeviceInput(camera)
if await session.canAddInput(input) { try await session.addInput(input) }
if try await session.canSetPreset(.hd1280x720) { try await session.setPreset(.hd1280x720) }
let mic = CaptureDeviceInput(try await CaptureDevice.default(for: .audio))
try await session.addInput(mic)
try await session.addInput(.metadata(of: input))  // a port in AVFoundation
try await session.addInput(.depth())  // a camera of its own
// 5 outputs
let count = Count()
let photoOutput = PhotoOutput()
try await session.addOutput(photoOutput)
let videoData = VideoDataOutput()
videoData.videoSettings = try VideoSettings(pixelFormat: .nv12)
videoData.alwaysDiscardsLateVideoFrames = true
let audioData = AudioDataOutput()
let metadata = CameraMetadataOutput { if case .data = $0 { count.metadata.add(1, ordering: .relaxed) } }
let depth = DepthDataOutput()
let sync = try DataOutputSynchronizer(dataOutputs: [videoData, audioData, depth]) { event in
    guard case .data(let set) = event, let frame = set.frame(of: videoData) else { return }
    if frame.format.pixelFormat == .nv12 { count.frames.add(1, ordering: .relaxed) }
    if !set.samples(of: audioData).isEmpty { count.samples.add(1, ordering: .relaxed) }
    if set.frame(of: depth)?.distances != nil { count.distances.add(1, ordering: .relaxed) }
    count.isDark.store(unsafe (frame.planes.first?.bytes.prefix(1280).max() ?? 0) < 40, ordering: .relaxed)
}
let preview = try await PreviewWindow.open(title: "Ported", closed: {})
for output in [videoData, audioData, metadata, depth, preview.output] as [any CaptureOutput] {
    if await session.canAddOutput(output) { try await session.addOutput(output) }
}
try await session.commitConfiguration()
let states = try await session.states()
let interruptions = Task {
    for await status in states { if let reason = status.interruption { print(reason) } }
}
try await session.startRunning()
try await reached(count.frames, 30)
try await reached(count.metadata, 30)
// 6 record, photo
let movie = try OutputFile(creating: "a.mov")
let movieOutput = try MovieFileOutput(
    file: movie.descriptor,
    format: "mov",
    duration: 60,
    maxFileSize: 1 << 30,
    minFreeSpace: 1_000_000,
    fragmentInterval: .seconds(1),
    tags: [.title: "Ported"]
)
await session.beginConfiguration()
try await session.addOutput(movieOutput)
let connection = await session.connection(with: .video, to: movieOutput.name)
try await connection?.setVideoMirrored(true)
try await connection?.setVideoRotationAngle(90)
try await session.commitConfiguration()  // starts the recording
try await recorded(moreThan: 30)
try await connection?.setEnabled(false)
print("enabled", try await connection?.isEnabled ?? true)
print("frames while disabled", try await rests())
try await connection?.setEnabled(true)
let sound = await session.connection(with: .audio, to: movieOutput.name)
while try await sound?.audioChannels.first?.average ?? 0 < -60 { try await Task.sleep(for: .milliseconds(10)) }
print("level", "of a beep")
try await session.pauseRecording()
try await session.resumeRecording()
try await recorded(moreThan: 60)
let isDark = count.isDark.load(ordering: .relaxed)  // in place of the mode `auto`
let flash: PhotoFlash? = try await camera.hasTorch() && isDark ? .on : nil
let photo = try await photoOutput.capturePhoto(with: PhotoSettings(quality: 80, flash: flash))
print("photo", photo.bytes.starts(with: [0xff, 0xd8]), photo.picture.bytes > 10_000, photo.lostBefore, isDark)
try await session.removeOutput(movieOutput.name)  // stops the recording
try movie.keep()
try await session.stopRunning()
await interruptions.value
await preview.close()
// again, in a format of the sensor's own
let before = count.metadata.load(ordering: .relaxed)
await session.beginConfiguration()
for output in [videoData, preview.output] { try await session.removeOutput(output.name) }
try await session.removeInput(input.name)
let raw = camera.rawFormats[0]  // the active format, and its least duration of a frame
let sensor = CaptureDeviceInput(
    camera,
    video: VideoFormatRequest(pixelFormat: raw.pixelFormat, width: 640, height: 480, framesPerSecond: 30, isExact: true)
)
try await session.addInput(sensor)
try await session.commitConfiguration()
try await session.startRunning()
try await reached(count.metadata, before + 1)
print("format", try await session.statistics().inputs["camera"]?.format ?? "none")
let (rawFile, processedFile) = (try OutputFile(creating: "a.dng"), try OutputFile(creating: "a.jpg"))
let rawPhoto = try await photoOutput.capturePhoto(
    with: PhotoSettings(format: "dng", companion: "jpeg"),
    file: rawFile.descriptor,
    companion: processedFile.descriptor
)
for file in [rawFile, processedFile] { try file.keep() }
print("raw", rawPhoto.picture.bytes > 100_000, rawPhoto.companion?.size ?? 0 > 1000)
try await session.stopRunning()
print("sound", count.samples.load(ordering: .relaxed) > 30, "depth", count.distances.load(ordering: .relaxed) > 30)
withExtendedLifetime(sync) {}

/// What the handlers got.
final class Count: Sendable {
    let frames = Atomic<Int>(0)
    let samples = Atomic<Int>(0)
    let distances = Atomic<Int>(0)
    let metadata = Atomic<Int>(0)
    let isDark = Atomic<Bool>(false)
}

/// Waits until a handler has got so many.
func reached(_ counter: borrowing Atomic<Int>, _ least: Int) async throws {
    while counter.load(ordering: .relaxed) < least { try await Task.sleep(for: .milliseconds(5)) }
}

/// How many frames the movie has.
func movieFrames() async throws -> UInt64 { try await session.statistics().outputs[movieOutput.name]?.frames ?? 0 }

/// Whether the movie gets no more frames, once it has those that waited for its encoder.
func rests() async throws -> Bool {
    for _ in 1...10 {
        let (before, passed) = (try await movieFrames(), count.frames.load(ordering: .relaxed))
        try await reached(count.frames, passed + 30)
        if try await movieFrames() == before { return true }
    }
    return false
}

/// Waits until the movie has more frames.
func recorded(moreThan count: UInt64) async throws {
    while try await movieFrames() <= count { try await Task.sleep(for: .milliseconds(10)) }
}
