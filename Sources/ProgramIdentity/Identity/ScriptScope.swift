public import CaptureCore

/// The scope that `capturectl run` makes for a script. Its name says which file it was made for.
///
/// An example is `captured-run-64769.1311.1761970000123456789.7f3a-home-alice-gauge.py.scope`. It has the file's device,
/// inode and change time (nanoseconds), a number that distinguishes runs, and the file's path, escaped as by
/// systemd-escape(1). Any program of the same user can make such a scope, just as it can run any other file, so a script's
/// identity is a claim, too.
public struct ScriptScope: Hashable, Sendable {
    /// The script, absolute and without symbolic links.
    public var path: String
    /// Its device when the scope was made.
    public var device: UInt64
    /// Its inode on that device.
    public var inode: UInt64
    /// Its change time, in nanoseconds since 1970; 0 for a file that only root can replace.
    public var changed: Int64

    private static let prefix = "captured-run-"
    private static let suffix = ".scope"
    /// The longest unit name that systemd accepts.
    private static let longestName = 255

    /// The scope of a file.
    ///
    /// - Parameter file: Its path without symbolic links.
    public init(of file: ExecutableFile) {
        self.init(path: file.path, device: file.device, inode: file.inode, changed: file.changed ?? 0)
    }

    package init(path: String, device: UInt64, inode: UInt64, changed: Int64) {
        self.path = path
        self.device = device
        self.inode = inode
        self.changed = changed
    }

    /// Parses a unit's name; `nil` for a name of any other form.
    public init?(unit: String) {
        guard unit.hasPrefix(ScriptScope.prefix), unit.hasSuffix(ScriptScope.suffix) else { return nil }
        let rest = unit.dropFirst(ScriptScope.prefix.count).dropLast(ScriptScope.suffix.count)
        let parts = rest.split(separator: "-", omittingEmptySubsequences: false)
        let numbers = parts[0].split(separator: ".")
        let names = parts.dropFirst().compactMap(UnitName.unescape)
        guard numbers.count == 4, let device = UInt64(numbers[0]), let inode = UInt64(numbers[1]),
            let changed = Int64(numbers[2]), !names.isEmpty, names.count == parts.count - 1,
            names.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." && !$0.contains("/") })
        else { return nil }
        self.init(path: names.map { "/" + $0 }.joined(), device: device, inode: inode, changed: changed)
    }

    /// The scope's name.
    ///
    /// - Parameter run: Distinguishes it from the scopes of other runs of the same file.
    /// - Throws: `invalidArgument` if the path is too long.
    public func unit(run: UInt32) throws(CaptureError) -> String {
        let escaped = path.split(separator: "/").map(UnitName.escape).joined(separator: "-")
        let numbers = "\(device).\(inode).\(changed).\(String(run, radix: 16))"
        let name = "\(ScriptScope.prefix)\(numbers)-\(escaped)\(ScriptScope.suffix)"
        guard name.utf8.count <= ScriptScope.longestName else {
            throw CaptureError(
                .invalidArgument,
                "\(path) is too long for the name of a scope, by \(name.utf8.count - ScriptScope.longestName) bytes "
                    + "(characters other than A-Z a-z 0-9 : _ . take four each); move the script to a shorter path"
            )
        }
        return name
    }

    /// The script's current state.
    ///
    /// - Parameter user: Who runs it.
    public func look(for user: UInt32, below root: String) -> Script {
        switch ExecutableFile.look(path, below: root) {
        case .found(let file):
            if file.isProtected {
                // It stays the same program, as elsewhere. Of a file in a closed folder nothing is told, since the name of
                // the scope may be a guess.
                let isTold = user == 0 || ExecutableFile.isForEverybody(path, below: root)
                return isTold ? .file(file) : .changed(path)
            }
            guard file.device == device, file.inode == inode, file.changed == changed else { return .changed(path) }
            // Who can move a folder away can have another file run, and put this one back before anybody looks.
            if let place = ExecutableFile.placeOpenToOthers(path, than: user, below: root) {
                return .open(path, toOthersAt: place)
            }
            return .file(file)
        case .absent: return .changed(path)
        case .hidden: return .hidden(path)
        }
    }

    /// The state of a script's file.
    public enum Script: Hashable, Sendable {
        /// It is the file that the scope was made for.
        case file(ExecutableFile)
        /// The file was changed, replaced or removed.
        case changed(String)
        /// A folder in its path cannot be searched.
        case hidden(String)
        /// Other users can put another file there, because they can change the named place.
        case open(String, toOthersAt: String)
    }
}
