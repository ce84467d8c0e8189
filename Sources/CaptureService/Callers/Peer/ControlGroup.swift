import CSystemd
import CaptureCore
import CaptureSystem
import Glibc
import Synchronization

/// What systemd makes of the control group of a process. It follows from the group's path alone.
struct ControlGroup: Hashable, Sendable {
    /// The path below the root, as `/proc/PID/cgroup` has it.
    var path: String
    /// The system unit.
    var unit: String?
    /// The unit of the user's own service manager.
    var userUnit: String?
    /// The login session.
    var session: String?

    /// By the text of `/proc/PID/cgroup`. Users make groups at will, so that only a few are kept.
    private static let known = Mutex<[String: ControlGroup]>([:])
    private static let most = 64

    /// That of a process, which is read anew; what systemd makes of it is asked once, since each of its answers reads the file
    /// twice.
    static func of(_ pid: Int32) throws(CaptureError) -> ControlGroup {
        for _ in 0..<8 {
            let text = try text(of: pid)
            if let group = known.withLock({ $0[text] }) { return group }
            let group = ControlGroup(
                path: try path(in: text, of: pid),
                unit: unsafe try answer("unit", pid) { unsafe sd_pid_get_unit($0, $1) },
                userUnit: unsafe try answer("user unit", pid) { unsafe sd_pid_get_user_unit($0, $1) },
                session: unsafe try answer("session", pid) { unsafe sd_pid_get_session($0, $1) }
            )
            // The service manager may just have moved it: then the answers are of two groups.
            guard try self.text(of: pid) == text else { continue }
            if group.isOfItsPath {
                known.withLock { known in
                    if known.count >= most { known = [:] }
                    known[text] = group
                }
            }
            return group
        }
        throw ProcessLook.refusal("its control group changes all the time")
    }

    /// Whether the path has the names that systemd told: they are not of a group that the process was in for a moment.
    private var isOfItsPath: Bool {
        [unit, userUnit, session].allSatisfy { name in name.map { path.contains($0) } ?? true }
    }

    private static func text(of pid: Int32) throws(CaptureError) -> String {
        guard let text = Files.text(of: "/proc/\(pid)/cgroup", limit: 1 << 16) else {
            throw ProcessLook.refusal("/proc/\(pid)/cgroup cannot be read")
        }
        return text
    }

    private static func path(in text: String, of pid: Int32) throws(CaptureError) -> String {
        let lines = text.split(separator: "\n")
        // The unified hierarchy is number 0; where it is missing, systemd's own named one is meant.
        let line = lines.first { $0.hasPrefix("0::") } ?? lines.first { $0.contains(":name=systemd:") }
        guard let line, let start = line.firstIndex(of: "/") else {
            throw ProcessLook.refusal("/proc/\(pid)/cgroup names no control group")
        }
        return String(line[start...])
    }

    /// What systemd makes of it; `nil` where there is nothing of the kind.
    private static func answer(
        _ what: String,
        _ pid: Int32,
        _ call: (pid_t, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> Int32
    ) throws(CaptureError) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        let code = unsafe call(pid, &text)
        defer { unsafe free(text) }
        if code == -ENODATA || code == -ENXIO { return nil }
        guard code >= 0, let text = unsafe text else {
            throw ProcessLook.refusal("its \(what) cannot be read (\(SystemError.text(of: -code)))")
        }
        return unsafe String(cString: text)
    }
}
