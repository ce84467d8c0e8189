import CLinux
import CaptureSystem
import Glibc

/// What a recorder gives up once every file and hardware node that it needs is open.
///
/// Layers on top of those of the unit that runs it; a kernel that lacks one is no reason not to record.
package enum Sandbox {
    /// Closes it.
    ///
    /// - Returns: A sentence for each layer that this kernel does not offer.
    package static func close() -> [String] {
        guard clinux_no_new_privileges() == 0 else {
            return ["no sandbox: new privileges cannot be given up (\(SystemError.text(of: errno)))"]
        }
        var missing: [String] = []
        if clinux_landlock_deny_files() != 0 {
            missing.append("no Landlock here (\(SystemError.text(of: errno)))")
        }
        if clinux_seccomp_deny_outside() != 0 {
            missing.append("no system-call filter here (\(SystemError.text(of: errno)))")
        }
        return missing
    }
}
