import CaptureKit
import CaptureSystem
import Glibc

/// A device node from which frames or samples can be had, or that belongs to one.
struct CaptureNode: Equatable {
    enum Kind: String {
        /// Gives frames.
        case camera
        /// Tells of a camera's parts.
        case media
        /// Gives samples.
        case microphone
    }

    var path: String
    var kind: Kind

    /// Whether it is a capture node of ALSA's that is not hidden.
    var isInSight: Bool { path.hasPrefix("/dev/snd/") }
}

extension Machine {
    /// The nodes that give frames and samples, by path: video nodes that capture, ALSA's capture streams.
    var captureNodes: [String] {
        video.map { "/dev/" + $0 } + sound
    }

    /// Every node that the lockdown is about, as `captured-lockdown.rules` chooses them.
    var lockdownNodes: [CaptureNode] {
        let media = numbered("media").filter { name in
            let nodes = names(in: "/sys/bus/media/devices/\(name)/../video4linux").filter { $0.hasPrefix("video") }
            // Without video nodes it is not known what it is of.
            return nodes.isEmpty || nodes.contains(where: isCamera)
        }
        let old = ["dsp", "adsp", "audio"].flatMap { (exists("/dev/" + $0) ? [$0] : []) + numbered($0) }
        return video.map { CaptureNode(path: "/dev/" + $0, kind: .camera) }
            + media.map { CaptureNode(path: "/dev/" + $0, kind: .media) }
            + (sound + old.map { "/dev/" + $0 }).map {
                CaptureNode(path: $0, kind: .microphone)
            }
    }

    /// Who may open a node.
    func access(to path: String) -> NodeAccess? {
        NodeAccess(of: root + path)
    }

    /// Which file or folder a path leads to; `nil` where that cannot be seen.
    func identity(of path: String) -> FileIdentity? {
        var status = stat()
        guard unsafe stat(root + path, &status) == 0 else { return nil }
        return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// Who has such nodes open, as far as this user may see, the daemon included.
    func holders(of nodes: [String]) -> [NodeHolder] {
        var numbers: [UInt64: String] = [:]
        for node in nodes {
            if let number = Files.deviceNumber(of: root + node) { numbers[number] = node }
        }
        return names(in: "/proc").compactMap { Int($0) }.sorted().flatMap { process in
            let folder = "/proc/\(process)/fd"
            let held = names(in: folder).compactMap { number -> String? in
                guard let target = link(at: "\(folder)/\(number)"), target.contains("/dev/") else { return nil }
                // A program with a /dev of its own has other paths for the same devices.
                return Files.deviceNumber(of: "\(root)\(folder)/\(number)").flatMap { numbers[$0] }
                    ?? nodes.first { $0 == target }
            }
            return Set(held).sorted().map { node in
                NodeHolder(
                    node: node,
                    process: process,
                    user: user(of: process),
                    name: text(of: "/proc/\(process)/comm"),
                    program: link(at: "/proc/\(process)/exe") ?? ""
                )
            }
        }
    }

    /// The processes of some names: which, and whose.
    func processes(named wanted: Set<String>) -> [(name: String, process: Int, user: UInt32)] {
        names(in: "/proc").compactMap { Int($0) }.sorted().compactMap { process in
            let name = text(of: "/proc/\(process)/comm")
            return wanted.contains(name) ? (name, process, user(of: process)) : nil
        }
    }

    private var video: [String] { numbered("video").filter(isCamera) }

    /// The capture nodes of ALSA's, by path; those that the lockdown hides, too.
    private var sound: [String] {
        func streams(in folder: String) -> [String] {
            names(in: folder).filter { $0.hasPrefix("pcm") && $0.hasSuffix("c") }
        }
        let inSight = streams(in: "/dev/snd")
        return inSight.map { "/dev/snd/" + $0 }
            + streams(in: Lockdown.hidden).filter { !inSight.contains($0) }.map { "\(Lockdown.hidden)/\($0)" }
    }

    /// The nodes in `/dev` of a name and a number.
    private func numbered(_ prefix: String) -> [String] {
        names(in: "/dev").filter { $0.hasPrefix(prefix) && Int($0.dropFirst(prefix.count)) != nil }
    }

    /// Whether a video node captures, by what udev's database says of it; of one that it does not know the worst is
    /// assumed.
    private func isCamera(_ name: String) -> Bool {
        let number = text(of: "/sys/class/video4linux/\(name)/dev")
        let key = "E:ID_V4L_CAPABILITIES="
        let record = text(of: "/run/udev/data/c\(number)").split(separator: "\n")
        guard let line = record.first(where: { $0.hasPrefix(key) }), line.count > key.count else { return true }
        // A loopback is one, whichever of its abilities it shows just now. Older codecs show both.
        if link(at: "/sys/class/video4linux/\(name)")?.contains("/devices/virtual/") == true { return true }
        return line.contains(":capture:") && !line.contains(":video_output:")
    }

    /// The real uid of a process; nobody's where it has just ended.
    private func user(of process: Int) -> UInt32 {
        let lines = text(of: "/proc/\(process)/status").split(separator: "\n")
        let words = lines.first { $0.hasPrefix("Uid:") }?.split { $0.isWhitespace } ?? []
        return words.count > 1 ? UInt32(words[1]) ?? .max : .max
    }
}
