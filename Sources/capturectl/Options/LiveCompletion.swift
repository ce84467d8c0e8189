import ArgumentParser
import CaptureKit
import Dispatch
import Synchronization

/// Completes words that only the daemon knows. Offers nothing if the daemon does not answer at once; asks nobody.
extension CompletionKind {
    /// Cameras; `none` too for a recording.
    static func cameras(orNone: Bool = false) -> CompletionKind { devices([.video], orNone) }

    /// Microphones; `none` too for a recording.
    static func microphones(orNone: Bool = false) -> CompletionKind { devices([.audio], orNone) }

    /// Every device.
    static var devices: CompletionKind { devices([.video, .audio], false) }

    private static func devices(_ kinds: Set<MediaType>, _ orNone: Bool) -> CompletionKind {
        .live { daemon, words throws(CaptureError) in
            var names: [String] = []
            for device in try await CaptureDevice.devices(on: daemon).map(\.description)
            where kinds.contains(device.mediaType) {
                // Aliases are offered once something is typed.
                names += [device.id.rawValue] + (words.prefix.isEmpty ? [] : device.aliases)
            }
            return names + (orNone ? ["none"] : [])
        }
    }

    /// The names of sizes and rates.
    static var presets: CompletionKind {
        .list(Preset.words + Preset.allCases.map(\.rawValue).filter { !Preset.words.contains($0) })
    }

    /// The formats of the camera that the command line names, or of the first one.
    static var videoFormats: CompletionKind {
        .live { daemon, words throws(CaptureError) in
            let device = try await words.device(.video, "--camera", "-c", on: daemon)
            return device.videoFormats.flatMap(names)
        }
    }

    /// The formats of the microphone that the command line names, or of the first one.
    static var audioFormats: CompletionKind {
        .live { daemon, words throws(CaptureError) in
            let device = try await words.device(.audio, "--microphone", "-m", on: daemon)
            return device.audioFormats.flatMap(names)
        }
    }

    /// The settings of the device that the command line names, or of the first camera.
    static var controls: CompletionKind {
        .live { daemon, words throws(CaptureError) in
            let isMicrophone = words.value(of: "--microphone", "-m") != nil
            let device =
                isMicrophone
                ? try await words.device(.audio, "--microphone", "-m", on: daemon)
                : try await words.device(.video, "--camera", "-c", on: daemon)
            return try await CaptureDevice.device(withID: device.id.rawValue, on: daemon).controls().map(\.name)
        }
    }

    /// Sessions that are not over, or all of them.
    static func sessions(all: Bool = false) -> CompletionKind {
        .live { daemon, _ throws(CaptureError) in
            SessionPresentation.ordered(try await daemon.sessions(), all: all).map { "\($0.id)" }
        }
    }

    /// Programs that have an answer.
    static var programs: CompletionKind {
        .live { daemon, _ throws(CaptureError) in
            Set(try await AuthorizationPanel(on: daemon).entries().map(\.program)).sorted()
        }
    }

    /// Albums, as far as this program may read the library.
    static var albums: CompletionKind {
        .live { daemon, _ throws(CaptureError) in
            let library = MediaLibrary(on: daemon)
            guard try await library.authorizationStatus(for: .readWrite).isYes else { return [] }
            return try await library.albums().map(\.name)
        }
    }

    /// Seconds that the daemon may take to answer: a person who presses Tab does not wait for a hung bus.
    private static let patience = 0.5

    private static func live(
        _ body: @escaping @Sendable (CaptureDaemon, CompletionWords) async throws(CaptureError) -> [String]
    ) -> CompletionKind {
        .custom { words, index, prefix in
            let words = CompletionWords(words, index, prefix)
            let found = Found()
            Task.detached {
                do throws(CaptureError) {
                    var bus = BusOptions()
                    bus.bus = words.value(of: "--bus", "--bus").flatMap(BusChoice.init)
                    guard await CaptureDaemon.answers(on: try bus.kind(), within: patience) else {
                        return found.put([])
                    }
                    found.put(try await body(try await bus.connect(), words).filter(CompletionWords.isHarmless))
                } catch {
                    found.put([])
                }
            }
            // What follows a colon is a description for zsh.
            let isZsh = CompletionShell.requesting == .zsh
            return found.wait(seconds: 3).map { isZsh ? $0.replacing(":", with: "\\:") : $0 }
        }
    }

    /// The result, for the thread that the parser asks on: see `Program.complete`.
    private final class Found: Sendable {
        private let names = Mutex<[String]>([])
        private let isThere = DispatchSemaphore(value: 0)

        func put(_ names: [String]) {
            self.names.withLock { $0 = names }
            isThere.signal()
        }

        func wait(seconds: Double) -> [String] {
            _ = isThere.wait(timeout: .now() + seconds)
            return names.withLock { $0 }
        }
    }

    private static func names(_ option: VideoFormatOption) -> [String] {
        let format = option.pixelFormat.description
        guard case .discrete(let sizes) = option.sizes else { return [format] }
        return sizes.flatMap { size -> [String] in
            let name = "\(format):\(size.width)x\(size.height)"
            guard case .discrete(let intervals) = size.intervals, !intervals.isEmpty else { return [name] }
            return intervals.map { "\(name)@\(Quantities.rate($0.framesPerSecond))" }
        }
    }

    private static func names(_ option: AudioFormatOption) -> [String] {
        let rates = [8000, 16000, 22050, 32000, 44100, 48000, 96000, 192_000].filter(option.rates.contains)
        let channels = [1, 2, 4, 6, 8].filter(option.channels.contains)
        return option.sampleFormats.flatMap { format in
            rates.flatMap { rate in channels.map { "\(format):\(rate)x\($0)" } }
        }
    }
}

/// An unfinished command line, as the shell passes it.
struct CompletionWords: Sendable {
    /// The words before the one to complete.
    private let words: [String]
    /// The word up to the cursor.
    let prefix: String

    init(_ words: [String], _ index: Int, _ prefix: String) {
        self.words = words.prefix(index).map { $0.filter { !"'\"\\".contains($0) } }
        self.prefix = prefix
    }

    /// The value of an option before the cursor.
    func value(of long: String, _ short: String) -> String? {
        for (index, word) in words.enumerated().reversed() {
            if word.hasPrefix(long + "=") { return String(word.dropFirst(long.count + 1)) }
            guard word == long || word == short else { continue }
            // Bash takes a = for a word of its own.
            return words.dropFirst(index + 1).first { $0 != "=" }
        }
        return nil
    }

    /// The device that an option names, or the first of its kind.
    fileprivate func device(
        _ kind: MediaType,
        _ long: String,
        _ short: String,
        on daemon: CaptureDaemon
    ) async throws(CaptureError) -> DeviceDescription {
        if let id = value(of: long, short) { return try await CaptureDevice.device(withID: id, on: daemon).description }
        return try await CaptureDevice.default(for: kind, on: daemon).description
    }

    /// Whether it is safe to offer a word: bash expands what it is offered, and other people name albums and devices.
    static func isHarmless(_ word: String) -> Bool {
        !word.unicodeScalars.contains { scalar in
            scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
                || "$`\\\"'{}~<>|&;*?[]!".unicodeScalars.contains(scalar)
        }
    }
}
