import CaptureKit

/// What `lockdown on` did to the bridges, so that `lockdown off` takes back exactly that. Kept in a file of root's.
struct BridgeRecord: Equatable {
    static let place = "/etc/captured/bridges"
    private static let head =
        "# What 'capturectl lockdown on' turned on; 'capturectl lockdown off' turns off this alone."

    /// The library that was put into `/etc/ld.so.preload`.
    var library: String?
    /// Whether that file was made for it.
    var madePreloadList = false
    /// Whether the last line of that file was without an end before.
    var wasOpen = false
    /// The SHA-256 of what was put into ALSA's folder.
    var alsa: String?
    /// Whether PipeWire's bridge was enabled.
    var pipeWire = false

    init() {}

    /// Reads what `text` wrote. Lines of later versions are passed over.
    init(_ text: String) {
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            switch (words[0], words.count > 1 ? words[1] : "") {
            case ("v4l2", let library) where PreloadList.canName(library): self.library = library
            case ("v4l2-file", "made"): madePreloadList = true
            case ("v4l2-file", "open"): wasOpen = true
            case ("alsa", let hash) where !hash.isEmpty: alsa = hash
            case ("pipewire", ""): pipeWire = true
            default: continue
            }
        }
    }

    var isEmpty: Bool { self == BridgeRecord() }

    var text: String {
        var lines = [BridgeRecord.head]
        if let library { lines.append("v4l2 \(library)") }
        if madePreloadList { lines.append("v4l2-file made") }
        if wasOpen { lines.append("v4l2-file open") }
        if let alsa { lines.append("alsa \(alsa)") }
        if pipeWire { lines.append("pipewire") }
        return lines.joined(separator: "\n") + "\n"
    }
}
