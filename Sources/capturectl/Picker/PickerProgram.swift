import CaptureKit
import CaptureSystem

/// Where the program lies that shows the picker's window.
enum PickerProgram {
    static let name = "captured-picker"

    /// Its path.
    ///
    /// - Parameter own: This program's path: the other lies beside it in a build folder, and in PREFIX/libexec for one in
    ///   PREFIX/bin.
    /// - Throws: `nobodyToAsk` when it is not installed.
    static func find(
        from own: String = Files.link(at: "/proc/self/exe") ?? "/usr/bin/capturectl",
        isProgram: (String) -> Bool = Files.isProgram
    ) throws(CaptureError) -> String {
        let folder = own.split(separator: "/").dropLast().map { "/" + $0 }
        var places = [folder.joined() + "/" + name]
        if folder.last == "/bin" { places.insert(folder.dropLast().joined() + "/libexec/" + name, at: 0) }
        if let place = places.first(where: isProgram) { return place }
        throw CaptureError(
            .nobodyToAsk,
            "the program that shows the media library is not installed: there is no \(places[0]); "
                + "'capturectl agent' in a terminal also shows it"
        )
    }
}
