import Glibc

/// The parts of the file system that the doctor looks at, below a root that tests choose.
struct Machine {
    /// Empty for the machine itself.
    var root = ""

    /// Whether something is there.
    func exists(_ path: String) -> Bool {
        unsafe access(root + path, F_OK) == 0
    }

    /// The first of some paths that is there.
    func first(of paths: [String]) -> String? {
        paths.first { exists($0) }
    }

    /// The names in a folder; none when it cannot be read.
    func names(in folder: String) -> [String] {
        guard let directory = unsafe opendir(root + folder) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Where a symbolic link points.
    func link(at path: String) -> String? {
        unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            guard let bytes = unsafe buffer.baseAddress?.assumingMemoryBound(to: CChar.self) else { return nil }
            let count = unsafe readlink(root + path, bytes, buffer.count)
            return count < 0 ? nil : unsafe String(decoding: buffer.prefix(count), as: UTF8.self)
        }
    }

    /// The start of a file, without white space at its end; empty when it cannot be read.
    func text(of path: String) -> String {
        let file = unsafe open(root + path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        return unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            let count = unsafe read(file, buffer.baseAddress, buffer.count)
            guard count > 0 else { return "" }
            var text = unsafe String(decoding: buffer.prefix(count), as: UTF8.self)
            while let last = text.last, last.isWhitespace { text.removeLast() }
            return text
        }
    }

    /// A node's permission bits and group.
    func permissions(of path: String) -> (mode: mode_t, group: gid_t)? {
        var status = stat()
        guard unsafe stat(root + path, &status) == 0 else { return nil }
        return (status.st_mode & 0o777, status.st_gid)
    }

    /// The capture nodes: every video node, every PCM that captures.
    var captureNodes: [String] {
        let video = names(in: "/dev").filter { $0.hasPrefix("video") && Int($0.dropFirst(5)) != nil }
        let sound = names(in: "/dev/snd").filter { $0.hasPrefix("pcm") && $0.hasSuffix("c") }
        return video.map { "/dev/" + $0 } + sound.map { "/dev/snd/" + $0 }
    }

    /// A process that has a capture node open.
    struct Holder: Equatable {
        var node: String
        var process: Int
        var name: String
    }

    /// Who has capture nodes open, as far as this user may see; the daemon left out.
    var holders: [Holder] {
        let nodes = Set(captureNodes)
        var holders: [Holder] = []
        for process in names(in: "/proc").compactMap({ Int($0) }).sorted() {
            var seen: Set<String> = []
            for number in names(in: "/proc/\(process)/fd") {
                guard let target = link(at: "/proc/\(process)/fd/\(number)"), nodes.contains(target),
                    seen.insert(target).inserted
                else { continue }
                let name = text(of: "/proc/\(process)/comm")
                if name != "captured" { holders.append(Holder(node: target, process: process, name: name)) }
            }
        }
        return holders
    }
}

/// Users and groups by name.
enum Accounts {
    static func hasUser(_ name: String) -> Bool {
        unsafe getpwnam(name) != nil
    }

    static func group(_ number: gid_t) -> String {
        guard let entry = unsafe getgrgid(number), let name = unsafe entry.pointee.gr_name else { return "\(number)" }
        return unsafe String(cString: name)
    }
}
