import CLinux

/// What the threads of a process have open, from `/proc`. Reentrant.
///
/// `/proc/PID/fd` shows the first thread's descriptors alone. Another thread may have a table of its own
/// (unshare(2), CLONE_FILES), and in it what the first has closed.
public enum DescriptorTables {
    /// The folders of a process's tables, as `/proc/7/fd` and `/proc/7/task/9/fd`: the first thread's, and that of each
    /// thread that has another. Where the system does not tell who shares one (CONFIG_KCMP), every thread's.
    ///
    /// - Parameter processes: Where processes are looked at.
    public static func folders(of process: Int32, in processes: String = "/proc") -> [String] {
        var folders = ["\(processes)/\(process)/fd"]
        let isReal = processes == "/proc"
        // Threads that share a table mostly share it with the first one, or with the one before them.
        var last = process
        for thread in Files.names(in: "\(processes)/\(process)/task").compactMap({ Int32($0) }) where thread != process
        {
            let isKnown = isReal && [process, last].contains { clinux_share_descriptors($0, thread) == 1 }
            guard !isKnown else { continue }
            folders.append("\(processes)/\(process)/task/\(thread)/fd")
            last = thread
        }
        return folders
    }

    /// Every descriptor of a process, as `/proc/7/fd/3`; none where they cannot be read.
    public static func links(of process: Int32, in processes: String = "/proc") -> [String] {
        folders(of: process, in: processes).flatMap { folder in Files.names(in: folder).map { "\(folder)/\($0)" } }
    }
}
