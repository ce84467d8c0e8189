import CaptureCore
import Testing

/// Jobs and reports of the media library's helpers, as text.
@Suite struct RecorderJobTests {
    private static let photo = ExaminedMedia(
        kind: .photo,
        mediaType: "image/jpeg",
        codec: "mjpeg",
        width: 640,
        height: 480,
        created: -1
    )

    @Test func `a job is what it was after its way as text`() throws {
        let recording = RecordingJob(
            output: OutputDescription(name: "m", kind: .movie, format: "mkv"),
            hasVideo: true,
            hasAudio: false,
            origin: CaptureOrigin(camera: "HD\nWebcam \\ =Ü", cameraMaker: "A", microphone: "", exposure: 1, gain: 0)
        )
        let burst = RecordingJob(
            output: PhotoSettings(format: "png", quality: 3, sizeLimit: 9).output(named: "photo.1"),
            hasVideo: true,
            hasAudio: false,
            origin: CaptureOrigin(
                sensitivity: 400,
                exposureMode: .manual,
                whiteBalance: .automatic,
                exposureBias: -333
            ),
            fileCount: 16,
            companion: "jpeg",
            isOrdered: true
        )
        let pairs = RecordingJob(
            output: PhotoSettings(format: "dng").output(named: "photo.1"),
            hasVideo: true,
            hasAudio: false,
            fileCount: 3,
            companion: "jpeg",
            embedsCompanion: true
        )
        #expect(pairs.pictureCount == 3 && burst.pictureCount == 8)
        #expect(recording.origin.camera == "HDWebcam \\ =Ü")
        for job: RecorderJob in [
            .copy(limit: 0), .copy(limit: .max), .examine(isWhole: true), .examine(isWhole: false), .record(recording),
            .record(burst), .record(pairs),
        ] {
            #expect(try RecorderJob(text: job.text) == job)
        }
    }

    @Test(arguments: [
        ("v4l2:usb-Big_Vendor_HD_Webcam_C270-video-index0", "HD Webcam C270: HD Webcam C270", "Big Vendor"),
        ("v4l2:usb-046d_HD_Webcam-video-index0", "HD Webcam", "046d"),
        ("v4l2:usb-046d_0825-video-index0", "HD Webcam", "uvcvideo"),
        ("v4l2:usb-", "", "uvcvideo"),
    ]) func `a camera's maker is the vendor before its name`(id: String, name: String, maker: String) {
        let camera = DeviceDescription(
            id: DeviceID(rawValue: id),
            mediaType: .video,
            name: name,
            aliases: [],
            driver: "uvcvideo",
            bus: ""
        )
        #expect(CaptureOrigin(camera: camera, microphone: nil).cameraMaker == maker)
    }

    @Test(arguments: ["0", "17", "-1", "many"]) func `a job of no files, or too many, is refused`(count: String) {
        let right = RecordingJob(
            output: PhotoSettings().output(named: "p"),
            hasVideo: true,
            hasAudio: false
        ).text
        let wrong = right.replacing("files=1\n", with: "files=\(count)\n")
        #expect(wrong != right)
        #expect(throws: CaptureError.self) { try RecordingJob(text: wrong) }
    }

    @Test func `exposure, gain and what was automatic are those of the camera's settings`() {
        var origin = CaptureOrigin(camera: "C")
        #expect((origin.exposure, origin.gain) == (0, nil))
        origin.note(
            [
                ("brightness", 3), ("exposure_time_absolute", 200), ("gain", 7), ("auto_exposure", 3),
                ("white_balance_automatic", 0), ("iso_sensitivity", 2),
            ].map { name, value in
                DeviceControl(
                    name: name,
                    label: name,
                    kind: .integer,
                    minimum: 0,
                    maximum: 1000,
                    step: 1,
                    defaultValue: 0,
                    value: value,
                    choices: name == "iso_sensitivity" ? [1: "100000", 2: "200000"] : [:]
                )
            }
        )
        #expect((origin.exposureMode, origin.whiteBalance, origin.sensitivity) == (.automatic, .manual, 200))
        #expect((origin.exposure, origin.gain) == (20_000_000, 7))
    }

    @Test(arguments: [
        "message=copy\n", "message=copy\nlimit=-1\n", "message=copy\nlimit=many\n", "message=copy\nlimit=1\nmore=1\n",
        "message=examine\n", "message=examine\nwhole=2\n", "message=examine\nwhole=1\nlimit=1\n", "message=paint\n",
        "", "nothing",
    ]) func `a job that lacks something or says too much is refused`(text: String) {
        #expect(throws: CaptureError.self) { try RecorderJob(text: text) }
    }

    @Test func `a report is what it was after its way as text`() throws {
        let error = CaptureError(.badData, "cut off: a\\b", errno: 5)
        let movie = ExaminedMedia(
            kind: .movie,
            mediaType: "video/mp4",
            codec: "h264+aac",
            width: 1,
            height: 65_535,
            duration: .max
        )
        for report: ImportReport in [.copied(bytes: 9), .failed(error), .examined(Self.photo), .examined(movie)] {
            #expect(try ImportReport(text: report.text) == report)
        }
    }

    @Test func `facts that cannot be are refused`() {
        let right = ImportReport.examined(Self.photo).text
        for (from, to) in [
            ("kind=photo", "kind=folder"), ("width=640", "width=65536"), ("width=640", "width=0"),
            ("height=480", "height=-1"), ("duration=0", "duration=1"), ("duration=0", "duration=-1"),
            ("created=-1", "created=soon"), ("created=-1", "created=999999999999999999"),
            ("type=image/jpeg", "type=image/jpeg; x"), ("type=image/jpeg", "type="), ("codec=mjpeg", "codec=\u{202e}"),
            ("codec=mjpeg", "codec=" + String(repeating: "a", count: 65)), ("kind=photo", "kind=sound"),
            ("created=-1", "created=-1\nmore=1"),
        ] {
            let wrong = right.replacing(from, with: to)
            #expect(wrong != right)
            #expect(throws: CaptureError.self, "\(wrong)") { try ImportReport(text: wrong) }
        }
    }

    @Test func `a helper's words are shown without tricks, and never as another's answer`() throws {
        let text =
            "message=failed\ncode=Denied\nerrno=0\nreason=a\u{1b}[31mb\u{202e}c\\nd"
            + String(repeating: "e", count: 900)
        guard case .failed(let error) = try ImportReport(text: text + "\n") else {
            Issue.record("no failure")
            return
        }
        #expect(error.code == .internalFault)
        #expect(error.message.hasPrefix("a[31mbcde"))
        #expect(error.message.count == 500)
    }
}
