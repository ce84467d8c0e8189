public import CaptureCore
import CaptureSystem
import Glibc

/// Which other programs hold device nodes open, from `/proc`; a program whose descriptors may not be read is not seen.
/// Reentrant.
public enum NodeHolders {
    /// Who holds the machine's capture nodes: cameras, ALSA's capture streams, and the sound nodes of old.
    ///
    /// Reads the descriptors of every process: milliseconds, more on a busy machine.
    public static func ofCaptureNodes() -> [NodeHolder] { find(captureNodes()) }

    /// Who holds one node, as in `cheese (pid 812)`, at most four.
    static func of(_ path: String) -> [String] {
        find([path]).prefix(4).map { "\($0.name) (pid \($0.process))" }
    }

    /// The error for a node that is in use.
    ///
    /// - Parameter name: What people call the device.
    static func busy(_ path: String, _ name: String) -> CaptureError {
        let holders = of(path)
        let who = holders.isEmpty ? "another program" : holders.joined(separator: ", ")
        return CaptureError(.busy, "\(name) is in use by \(who)", errno: EBUSY)
    }

    /// By process, each node once.
    static func find(_ paths: [String]) -> [NodeHolder] {
        var numbers: [UInt64: String] = [:]
        for path in paths {
            if let number = Files.deviceNumber(of: path) { numbers[number] = path }
        }
        guard !numbers.isEmpty else { return [] }
        let own = getpid()
        let processes = Files.names(in: "/proc").compactMap { Int32($0) }.filter { $0 != own }
        return processes.sorted().flatMap { process in
            let held = DescriptorTables.links(of: process).compactMap { link -> String? in
                // The link is read first: a stat of every pipe and socket would cost far more. A program with a root of its
                // own has a path before its /dev.
                guard let target = Files.link(at: link), target.contains("/dev/") else { return nil }
                return Files.deviceNumber(of: link).flatMap { numbers[$0] }
            }
            return Set(held).sorted().map { node in
                NodeHolder(
                    node: node,
                    process: Int(process),
                    user: user(of: process),
                    name: Files.line(of: "/proc/\(process)/comm") ?? "a program",
                    program: Files.link(at: "/proc/\(process)/exe") ?? ""
                )
            }
        }
    }

    /// The nodes from which frames and samples can be had.
    private static func captureNodes() -> [String] {
        let video = Files.names(in: "/dev").filter { name in
            guard name.hasPrefix("video"), Int(name.dropFirst(5)) != nil else { return false }
            // Codecs have video nodes, too; what nobody has asked may be a camera.
            return UdevRecord(ofNode: "/dev/\(name)")?.videoCapabilities?.contains(":capture:") ?? true
        }
        let old = Files.names(in: "/dev").filter { name in
            ["dsp", "adsp", "audio"].contains(String(name.prefix { !$0.isNumber }))
        }
        let sound = Files.names(in: "/dev/snd").filter { $0.hasPrefix("pcm") && $0.hasSuffix("c") }
        return (video + old).map { "/dev/\($0)" } + sound.map { "/dev/snd/\($0)" }
    }

    /// The real uid, which a program that takes on another's rights for a moment keeps; nobody's where it has just ended.
    private static func user(of process: Int32) -> UInt32 {
        let status = Files.line(of: "/proc/\(process)/status") ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("Uid:") } ?? ""
        let words = line.split { $0.isWhitespace }
        return words.count > 1 ? UInt32(words[1]) ?? .max : .max
    }
}
