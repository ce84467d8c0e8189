import CaptureCore
import CaptureSystem
import Glibc

/// Which other programs hold a device node open, from `/proc`; a program whose descriptors may not be read is not seen.
enum NodeHolders {
    /// As in `cheese (pid 812)`, at most four.
    static func of(_ path: String) -> [String] {
        guard let device = Files.deviceNumber(of: path) else { return [] }
        let own = String(getpid())
        var holders: [String] = []
        for process in Files.names(in: "/proc") where process.first?.isNumber == true && process != own {
            let folder = "/proc/\(process)/fd"
            let holds = Files.names(in: folder).contains { name in
                // The link is read first: a stat of every pipe and socket would cost far more. A program with a root of its
                // own has a path before its /dev.
                guard let target = Files.link(at: "\(folder)/\(name)"), target.contains("/dev/") else { return false }
                return target == path || Files.deviceNumber(of: "\(folder)/\(name)") == device
            }
            if holds {
                holders.append("\(Files.line(of: "/proc/\(process)/comm") ?? "a program") (pid \(process))")
                if holders.count == 4 { break }
            }
        }
        return holders
    }

    /// The error for a node that is in use.
    static func busy(_ path: String) -> CaptureError {
        let holders = of(path)
        let who = holders.isEmpty ? "another program" : holders.joined(separator: ", ")
        return CaptureError(.busy, "the camera \(path) is in use by \(who)", errno: EBUSY)
    }
}
