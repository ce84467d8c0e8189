public import CaptureCore

/// Why a program captures, in its own words, and what it calls itself. Neutralized: fit to be shown.
public struct UsageDescription: Hashable, Sendable {
    /// The program's name for people; `nil` when its metadata has none.
    public var name: String?
    /// The reason for each service that was asked about; of a program that came through a bridge, as far as there are any.
    public var reasons: [Service: String]
    /// How a program came that gives no reason.
    public var bridge: Bridge?

    /// A reason as it may be shown: neutralized, and at most 300 characters of it.
    public static func shown(_ reason: String) -> String { DisplayText.neutralized(reason, limit: 300) }

    /// A description of the given parts.
    public init(name: String? = nil, reasons: [Service: String], bridge: Bridge? = nil) {
        self.name = name
        self.reasons = reasons
        self.bridge = bridge
    }
}

/// Where usage descriptions come from. Thread-safe.
public protocol UsageDescriptions: Sendable {
    /// Looks up why a program captures.
    ///
    /// - Parameters:
    ///   - client: The program.
    ///   - services: What it asks for.
    /// - Returns: A reason for each of the services.
    /// - Throws: `missingUsageDescription`, naming the key that is missing and where to put it.
    func description(of client: ClientIdentity, for services: [Service]) throws(CaptureError) -> UsageDescription

    /// Whether a program's metadata says that its person is not to be offered more of the media library each time it
    /// runs.
    func preventsLibraryAlert(_ client: ClientIdentity) -> Bool
}

extension UsageDescriptions {
    /// No program says so where there is no metadata.
    public func preventsLibraryAlert(_ client: ClientIdentity) -> Bool { false }
}

extension Service {
    /// The key by which a program's metadata says why it wants this.
    public var usageKey: String {
        switch self {
        case .camera: "X-Capture-CameraUsageDescription"
        case .microphone: "X-Capture-MicrophoneUsageDescription"
        case .libraryAdd: "X-Capture-LibraryAddUsageDescription"
        case .libraryReadWrite: "X-Capture-LibraryUsageDescription"
        }
    }
}
