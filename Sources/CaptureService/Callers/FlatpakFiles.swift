import Authorization
import CaptureBus
import CaptureCore
import CaptureSystem

/// Reads files of Flatpaks: on the sandbox's own root or, where the proxy speaks for the application on the bus and has
/// no `/app`, in the folder that Flatpak mounts there.
struct FlatpakFiles: SandboxFiles {
    /// Where programs' files are looked for.
    let root: SystemRoot
    /// The most bytes of a file: translated desktop entries are long.
    private static let limit = 512 * 1024

    func read(_ path: String, of client: ClientIdentity) -> SandboxFile {
        let inside: ForeignFile
        do throws(CaptureError) {
            inside = try ProgramRoot.visit(client.pid, startedAt: client.parts.startTime) { root in
                root.isShared ? .absent : root.read("app/" + path, limit: Self.limit)
            }
        } catch {
            return .unusable("cannot be looked for: \(error.message)")
        }
        if inside != .absent { return judge(inside, of: client, place: "/app/\(path)") }
        let folder = client.parts.sandboxFolder
        guard !folder.isEmpty else { return .absent }
        let place = "\(folder)/\(path)"
        do throws(SystemError) {
            let system = try ProgramRoot(folder: root.prefix + "/")
            // The folder is named by the sandbox, which its user can forge: no link leads from there to files of others.
            let found = system.read(String(place.drop { $0 == "/" }), followsLinks: false, limit: Self.limit)
            return judge(found, of: client, place: place)
        } catch {
            return .unusable("cannot be looked for: \(error)")
        }
    }

    private func judge(_ file: ForeignFile, of client: ClientIdentity, place: String) -> SandboxFile {
        switch file {
        case .absent: return .absent
        case .unusable(let why): return .unusable("(\(place)) \(why)")
        case .file(let file):
            guard file.owner == 0 || file.owner == client.user else {
                return .unusable("(\(place)) belongs to uid \(file.owner), which is not trusted here")
            }
            guard !file.isOpenToOthers else {
                return .unusable("(\(place)) can be written by others than its owner")
            }
            return .text(file.text, place: place)
        }
    }
}
