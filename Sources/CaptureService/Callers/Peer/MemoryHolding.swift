import CaptureCore
import CaptureSystem
import Glibc

/// Which processes have memory that a bridge made for a program: by a descriptor, or mapped.
enum MemoryHolding {
    /// What all such files are called (memfd_create).
    private static let name = "/memfd:captured"

    /// Makes sure that a program has memory, and nobody else, but for the bridge and PipeWire's server. Looks at every process.
    ///
    /// - Parameters:
    ///   - inodes: The memory.
    ///   - program: The process that has to have all of it. Others that run its file may have it.
    ///   - bridge: The process that made it.
    /// - Throws: `.notPermitted` with what is not so.
    static func check(_ inodes: Set<UInt64>, of program: Int32, by bridge: Int32) throws(CaptureError) {
        let ends: Set<UInt32>
        do throws(SystemError) {
            ends = try BusSockets.peers(of: BusSockets.held(by: bridge))
        } catch {
            throw ProcessLook.refusal("captured cannot find out who has its memory: \(error)")
        }
        guard let file = PortalHolding.file(of: program), inodes.isSubset(of: held(by: program)) else {
            throw ProcessLook.refusal("process \(program) does not get the memory of its pictures")
        }
        for process in Files.names(in: "/proc").compactMap({ Int32($0) }) where ![program, bridge].contains(process) {
            guard !inodes.isDisjoint(with: held(by: process)), PortalHolding.file(of: process) != file,
                BusSockets.held(by: process).isDisjoint(with: ends)
            else { continue }
            let path = Files.link(at: "/proc/\(process)/exe") ?? "a program that has ended"
            throw ProcessLook.refusal("process \(process) (\(path)) has the memory of process \(program)'s pictures")
        }
    }

    /// The inodes of such memory that a process has.
    private static func held(by process: Int32) -> Set<UInt64> {
        var held: Set<UInt64> = []
        for link in DescriptorTables.links(of: process) where Files.link(at: link)?.hasPrefix(name) == true {
            var status = stat()
            if unsafe stat(link, &status) == 0 { held.insert(UInt64(status.st_ino)) }
        }
        let maps = Files.text(of: "/proc/\(process)/maps", limit: 1 << 24) ?? ""
        for line in maps.split(separator: "\n") where line.contains(name) {
            // Addresses, rights, offset, device, inode, path.
            let words = line.split(separator: " ", maxSplits: 5)
            if words.count == 6, let inode = UInt64(words[4]) { held.insert(inode) }
        }
        return held
    }
}
