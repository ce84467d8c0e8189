import CaptureKit

/// What is in the library already of what is to be imported: the same name and the same content, and the same date where an
/// export tells it. Each stands for one file, so that two equal ones stay two.
struct ImportTwins {
    private let library: MediaLibrary
    /// The assets of the names that are to be imported.
    private var present: [FileName: [MediaAsset]]

    /// Looks through the library once, as far as the program may read it.
    init(of plan: ImportPlan, in library: MediaLibrary) async throws(CaptureError) {
        self.library = library
        let names = Set(plan.items.map { FileName($0.facts.name ?? "") })
        var options = AssetFetchOptions()
        // A page does not move under the next one while others add to the library.
        options.order = .added
        options.isAscending = true
        options.pageSize = 1000
        var present: [FileName: [MediaAsset]] = [:]
        for try await page in library.pages(options) {
            for asset in page.assets where names.contains(FileName(asset.name)) {
                present[FileName(asset.name), default: []].append(asset)
            }
        }
        self.present = present
    }

    /// The asset that an item is already, which stands for no other one from now on; `nil` for none.
    ///
    /// - Parameters:
    ///   - first: The content that it was added with.
    ///   - current: As it is now, which is another where it was edited.
    mutating func take(
        _ item: ImportPlan.Item,
        first: Descriptor,
        current: Descriptor
    ) async throws(CaptureError) -> MediaAsset? {
        let name = FileName(item.facts.name ?? "")
        guard let those = present[name] else { return nil }
        let wanted = try FileCopy.copy(first, to: nil)
        for (index, asset) in those.enumerated() {
            if let created = item.facts.created, created != asset.created { continue }
            // One whose edit is still to come is the same, one that has another is not.
            if asset.isEdited {
                guard item.sidecar?.original != nil,
                    try await hash(of: asset, .current) == FileCopy.copy(current, to: nil)
                else { continue }
            }
            guard try await hash(of: asset, .original) == wanted else { continue }
            present[name]?.remove(at: index)
            return asset
        }
        return nil
    }

    /// The content's SHA-256; `nil` of one that went meanwhile, or is damaged.
    private func hash(
        of asset: MediaAsset,
        _ version: AssetVersion
    ) async throws(CaptureError) -> String? {
        do throws(CaptureError) {
            return try FileCopy.copy(try await library.contents(of: asset.id, version: version), to: nil)
        } catch {
            if MediaSourceFile.endsAll(error) { throw error }
            return nil
        }
    }
}
