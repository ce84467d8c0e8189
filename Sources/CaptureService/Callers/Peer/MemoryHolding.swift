import CaptureCore
import CaptureSystem
import CLinux
import Glibc

/// Which processes have memory that a bridge made for a program: by a descriptor, or mapped.
enum MemoryHolding {
    /// What all such files are called (memfd_create).
    private static let name = "/memfd:captured"
    private static let nameBytes = Array(name.utf8)
    /// The most bytes of a process's list of mappings that are read. Those that Linux allows (vm.max_map_count) take less,
    /// unless their files have long names.
    private static let mostMappings = 1 << 24
    /// The most times that the processes are listed: each time, those are looked at that have begun since.
    private static let rounds = 4

    /// Processes, besides the program and the bridge, that may have the memory if they are what they seem.
    struct Others: Sendable {
        /// Those that run the program's file.
        var alike: [BridgedPrograms.NamedProcess] = []
        /// Those that have the other end of the bridge's connection to PipeWire.
        var servers: [BridgedPrograms.NamedProcess] = []
    }

    /// Makes sure that a program has memory, and nobody else, but for the bridge and others that the caller has to identify.
    /// Looks at every process.
    ///
    /// - Parameters:
    ///   - inodes: The memory.
    ///   - program: The process that has to have all of it.
    ///   - bridge: The process that made it.
    /// - Throws: `.notPermitted` with what is not so, or cannot be told.
    static func others(
        with inodes: Set<UInt64>,
        beside program: Int32,
        by bridge: Int32
    ) throws(CaptureError) -> Others {
        let ends: Set<UInt32>
        do throws(SystemError) {
            ends = try BusSockets.pipewirePeers(of: BusSockets.held(by: bridge))
        } catch {
            throw refusal("captured cannot find out who has its memory: \(error)")
        }
        guard let file = PortalHolding.file(of: program), try inodes.isSubset(of: held(by: program)) else {
            throw refusal("process \(program) does not get the memory of its pictures")
        }
        var (others, seen) = (Others(), Set([program, bridge]))
        // One may hand it to another that has just begun.
        for _ in 0..<rounds {
            let new = Files.names(in: "/proc").compactMap { Int32($0) }.filter { seen.insert($0).inserted }
            if new.isEmpty { break }
            for process in new {
                guard try !inodes.isDisjoint(with: held(by: process)) else { continue }
                let named = BridgedPrograms.NamedProcess(process)
                if let named, PortalHolding.file(of: process) == file {
                    others.alike.append(named)
                } else if let named, !BusSockets.held(by: process).isDisjoint(with: ends) {
                    others.servers.append(named)
                } else {
                    // Also one that is gone by now: it may have handed the memory to one that was looked at before. Who
                    // asks looks again for a while.
                    let path = Files.link(at: "/proc/\(process)/exe") ?? "a program that has ended"
                    throw refusal(
                        "process \(process) (\(path)) has the memory of process \(program)'s pictures"
                    )
                }
            }
        }
        return others
    }

    /// The inodes of such memory that a process has.
    ///
    /// - Throws: `.notPermitted` if it maps more than is looked at.
    private static func held(by process: Int32) throws(CaptureError) -> Set<UInt64> {
        var held: Set<UInt64> = []
        for link in DescriptorTables.links(of: process) where Files.link(at: link)?.hasPrefix(name) == true {
            var file = clinux_file()
            if unsafe clinux_known_file(AT_FDCWD, link, &file) == 0 { held.insert(file.inode) }
        }
        for line in try mappings(of: process).split(separator: "\n") where line.contains(name) {
            // Addresses, rights, offset, device, inode, path.
            let words = line.split(separator: " ", maxSplits: 5)
            if words.count == 6, let inode = UInt64(words[4]) { held.insert(inode) }
        }
        return held
    }

    /// Why a program gets no pictures.
    static func refusal(_ why: String) -> CaptureError {
        CaptureError(.notPermitted, "no pictures are delivered: \(why)")
    }

    /// What a process maps, as the first of its threads that has not ended tells; nothing if it has ended or is hidden from
    /// captured.
    private static func mappings(of process: Int32) throws(CaptureError) -> String {
        for thread in Files.names(in: "/proc/\(process)/task").compactMap({ Int32($0) }).sorted() {
            let bytes: [UInt8]?
            do throws(SystemError) {
                let file = try Descriptor.open("/proc/\(process)/task/\(thread)/maps", O_RDONLY)
                bytes = try file.readAll(limit: mostMappings)
            } catch {
                guard [ENOENT, ESRCH, EACCES, EPERM].contains(error.errno) else {
                    throw refusal("what process \(process) maps cannot be read: \(error)")
                }
                continue
            }
            guard let bytes else {
                throw refusal("process \(process) maps more files than captured looks at")
            }
            if bytes.isEmpty { continue }
            // Most have none, and text is slow to look through.
            return bytes.firstRange(of: nameBytes) == nil ? "" : String(decoding: bytes, as: UTF8.self)
        }
        return ""
    }
}

extension BridgedPrograms.NamedProcess {
    /// `nil` if it cannot be looked at, as one that has ended or whose first thread has.
    fileprivate init?(_ number: Int32) {
        guard let process = try? ProcessLook.pin(number),
            let status = try? ProcessLook(pid: number, process: process).status()
        else { return nil }
        self.init(number: number, startTime: status.startTime)
    }
}
