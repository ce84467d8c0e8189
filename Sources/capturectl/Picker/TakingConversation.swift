import CaptureAgent
import CaptureKit
import PickerMessages
import Synchronization

/// A person takes a photo or movie in the picker's window: this shows it the camera's picture and does what its buttons say.
struct TakingConversation: Sendable {
    private let request: PickRequest
    private let daemon: CaptureDaemon
    private let process: PickerProcess

    init(_ request: PickRequest, on daemon: CaptureDaemon, _ process: PickerProcess) {
        (self.request, self.daemon, self.process) = (request, daemon, process)
    }

    private enum Event: Sendable {
        case report(Result<PickerReport, CaptureError>)
        /// The window's program is gone.
        case gone
        case stage(TakingDialog.Stage)
        case failed(CaptureError)
        /// A picture is there, unless it was shown already.
        case frame
    }

    /// What the camera saw last, and the window was not shown.
    private final class Latest: Sendable {
        let jpeg = Mutex<[UInt8]?>(nil)
    }

    /// Wide enough for the window; more frames a second than it takes would only come late.
    private static let settings =
        (try? VideoSettings(pixelFormat: .rgb24, width: 640, framesPerSecond: 15)) ?? .camera

    /// Shows the window and waits for its answer. Cancelling the task takes it off the screen and turns the camera off.
    ///
    /// - Throws: `badData` or `inputOutput` when the window's program fails; why the camera cannot be used any more.
    func run() async throws(CaptureError) -> PromptAnswer {
        defer { process.end() }
        let (events, feed) = AsyncStream<Event>.makeStream()
        let latest = Latest()
        let preview = VideoDataOutput(name: "preview", settings: TakingConversation.settings) { event in
            guard case .data(let frame) = event, let jpeg = RGBPicture(frame)?.jpeg else { return }
            latest.jpeg.withLock { $0 = jpeg }
            feed.yield(.frame)
        }
        let dialog = TakingDialog(request, on: daemon, preview: preview) { feed.yield(.stage($0)) }
        let reports = Task {
            for await report in process.reports { feed.yield(.report(report)) }
            feed.yield(.gone)
        }
        defer { reports.cancel() }
        let result = await Result.of { () throws(CaptureError) in
            try await follow(events, dialog, latest) { feed.yield($0) }
        }
        // It ends with the question, too.
        await dialog.close()
        return try result.get()
    }

    private func follow(
        _ events: AsyncStream<Event>,
        _ dialog: TakingDialog,
        _ latest: Latest,
        _ tell: @escaping @Sendable (Event) -> Void
    ) async throws(CaptureError) -> PromptAnswer {
        try await process.send(.question(PickerQuestion(request)))
        let cameras = try await dialog.cameras().map { camera in
            PickerCamera(id: camera.id.rawValue, name: Printable.text(camera.name, limit: 60))
        }
        try await process.send(.stage(.asked(cameras: cameras)))
        for await event in events {
            if Task.isCancelled { return .withdrawn }
            switch event {
            case .report(let report):
                switch try report.get() {
                case .closed: return .dismissed
                case .again: await dialog.again()
                case .handOver:
                    if case .taken(let id, _) = await dialog.stage { return .picked(PickedAssets([id])) }
                case .advance(let camera):
                    if let camera { await dialog.choose(CaptureDevice.ID(rawValue: camera)) }
                    // It takes its time, in which the window goes on.
                    Task {
                        do throws(CaptureError) {
                            try await dialog.advance()
                        } catch {
                            tell(.failed(error))
                        }
                    }
                case .unable(let message): throw CaptureError(.inputOutput, Printable.text(message, limit: 300))
                case .ready, .page, .picture, .picked:
                    throw CaptureError(.badData, "the picker answered something that was not asked")
                }
            case .gone:
                throw CaptureError(.inputOutput, "the picker went away without an answer: \(process.ending)")
            case .failed(let error):
                try await process.send(.failed(message: Printable.text(error.message, limit: 300), page: nil))
            case .stage(.over(let why)): throw CaptureError(.inputOutput, why)
            case .stage(let stage):
                if let stage = PickerStage(stage) { try await process.send(.stage(stage)) }
            case .frame:
                guard let jpeg = latest.jpeg.withLock({ $0.take() }), await !dialog.stage.standsStill else { continue }
                try await process.send(.frame(PickerBytes(jpeg)))
            }
        }
        return .withdrawn
    }
}

extension PickerStage {
    /// As the window shows it; `nil` for what it does not.
    fileprivate init?(_ stage: TakingDialog.Stage) {
        switch stage {
        case .asked, .over: return nil
        case .viewing: self = .viewing
        case .recording: self = .recording
        case .taken(_, let remark): self = .taken(remark: remark.map { Printable.text($0, limit: 300) })
        }
    }
}
