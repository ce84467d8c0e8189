import CaptureKit
import Glibc

/// Where an asset lies in an export: names in a folder that belong together.
struct ExportPlace {
    /// The folder, by year and month in UTC.
    var folder: String
    /// The name of what is current.
    var file: String
    /// The name of the original, where there is an edit.
    var original: String
    /// The names of what a photo may have inside.
    private let inner: [InnerPart: String]

    /// The name of what a photo has inside.
    func name(of part: InnerPart) -> String { inner[part] ?? file + part.ending }

    /// The name of the facts.
    var sidecar: String { file + ".json" }

    /// The place of the given name in this folder.
    func path(_ name: String) -> String { folder + "/" + name }

    /// Places for an asset, from its own name on, one after the other with numbers behind it.
    ///
    /// - Parameter attempt: 1 for the first.
    init(of asset: MediaAsset, in root: String, attempt: Int) {
        var time = time_t(asset.created / 1000)
        var parts = unsafe tm()
        unsafe gmtime_r(&time, &parts)
        let year = unsafe String(parts.tm_year + 1900)
        let month = unsafe parts.tm_mon + 1
        folder = "\(root)/\(year)/\(String(month, digits: 2))"
        let name = ExportPlace.harmless(asset)
        let suffix = attempt == 1 ? "" : " (\(attempt))"
        let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 } ?? name.endIndex
        let ending = String(name[dot...])
        // With all that is put behind it a name is to have at most 255 bytes.
        var stem = String(name[..<dot])
        while stem.utf8.count + suffix.utf8.count + ending.utf8.count > 235, !stem.isEmpty { stem.removeLast() }
        file = stem + suffix + ending
        original = stem + suffix + ".original" + ending
        inner = Dictionary(
            uniqueKeysWithValues: InnerPart.allCases.map { part in
                (part, stem + suffix + (ending.lowercased() == part.ending ? ".inside" : "") + part.ending)
            }
        )
    }

    /// The asset's name as one that a file can have in any folder.
    private static func harmless(_ asset: MediaAsset) -> String {
        let scalars = asset.name.unicodeScalars.map { $0 == "/" || $0.value == 0 ? "_" : $0 }
        let name = String(String.UnicodeScalarView(scalars))
        guard !name.isEmpty, name != ".", name != "..", ending(of: name) <= 100 else { return asset.id }
        // What ends so are the facts of another file, and never a content. The facts have the name as it is.
        return name.lowercased().utf8.suffix(5).elementsEqual(".json".utf8) ? name + "_" : name
    }

    private static func ending(of name: String) -> Int {
        name.lastIndex(of: ".").map { name[$0...].utf8.count } ?? 0
    }
}
