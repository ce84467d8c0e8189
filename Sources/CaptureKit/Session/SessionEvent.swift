import CaptureBus
public import CaptureCore
import CaptureMessages

/// The result of an output.
public struct OutputResult: Hashable, Sendable {
    /// The output's name.
    public var name: String
    /// Why it was not made, or not to the end; `nil` when it is complete.
    public var error: CaptureError?
    /// The figures of the data that was written.
    public var statistics: OutputStatistics
    /// The outcome in the media library, for an output that was saved there, and for the connection alone that asked for
    /// it; `nil` for any other connection, and for an output that is not there.
    public var saved: SavedOutput?
    /// The same for each picture of a burst.
    public var savedPictures: [SavedOutput] = []

    /// A result of the given parts.
    public init(name: String, error: CaptureError?, statistics: OutputStatistics, saved: SavedOutput? = nil) {
        self.name = name
        self.error = error
        self.statistics = statistics
        self.saved = saved
    }
}

extension OutputResult {
    /// Reads the arguments of `OutputFinished`; `nil` if they are not as its interface has them.
    init?(_ arguments: [BusValue]) {
        guard arguments.count == 4, let name = arguments[0].text, let code = arguments[1].text,
            let message = arguments[2].text
        else { return nil }
        self.init(
            name: name,
            error: code.isEmpty ? nil : CaptureError(.init(rawValue: code), message),
            // Counters that cannot be read do not take the news away that the output is at its end.
            statistics: (try? OutputStatistics(busValue: arguments[3])) ?? OutputStatistics()
        )
    }
}

extension SessionStatus {
    /// The reason in a session's properties; `nil` without one.
    static func reason(in properties: [String: BusValue]) -> CaptureError? {
        guard let code = properties["ReasonCode"]?.text, !code.isEmpty else { return nil }
        return CaptureError(.init(rawValue: code), properties["Reason"]?.text ?? "")
    }
}

/// Something that happened to a session.
public enum SessionEvent: Hashable, Sendable {
    /// It stands elsewhere now.
    case changed(SessionStatus)
    /// An output is at its end, or a photo that was taken with `PhotoOutput.capturePhoto`, whose name has a dot.
    case finished(OutputResult)
    /// A file of a movie in segments is begun, or complete.
    case segment(output: String, SegmentEvent)
    /// A buffer's stream goes on in other memory.
    case bufferMoved(output: String)
}
