import CaptureBus
public import CaptureCore
import CaptureMessages
public import CaptureSystem
public import CaptureKit

/// An asset that may be picked.
public struct PickableAsset: Hashable, Sendable, Identifiable {
    /// What is known of it.
    public var asset: MediaAsset
    /// Whether the program may read it already.
    public var isChosen: Bool

    /// Its id.
    public var id: MediaAsset.ID { asset.id }
}

/// Some of what may be picked.
public struct PickPage: Hashable, Sendable {
    /// In the order that was asked for.
    public var assets: [PickableAsset]
    /// What `PickBrowser.page(_:page:)` takes for those that follow; `nil` at the end.
    public var next: String?
}

/// The library of the person who picks, as an agent sees it while the question stands: all of it, whatever the program may
/// read. Thread-safe.
///
/// Every call throws `notPermitted` once the question was answered or withdrawn.
public struct PickBrowser: Sendable {
    /// Whose question it is.
    public let daemon: CaptureDaemon
    let cookie: String

    /// A page of what may be picked.
    ///
    /// - Parameters:
    ///   - options: Which, and in what order; the bin is not shown.
    ///   - cursor: What the page before said of the next one; `nil` for the first.
    public func page(
        _ options: AssetFetchOptions = AssetFetchOptions(),
        page cursor: String? = nil
    ) async throws(CaptureError) -> PickPage {
        let answer = try await daemon.consult("BrowseFor", [.string(cookie), options.from(cursor).busValue])
        guard answer.count == 2, let rows = answer[0].elements, let next = answer[1].text else {
            throw CaptureDaemon.malformed("BrowseFor")
        }
        let assets = try rows.map { row throws(CaptureError) in
            let asset = try CaptureDaemon.understood(MediaAsset(row), "BrowseFor")
            return PickableAsset(asset: asset, isChosen: row.properties?["chosen"]?.boolean ?? false)
        }
        return PickPage(assets: assets, next: next.isEmpty || next == cursor ? nil : next)
    }

    /// A JPEG picture of an asset, open for reading from its beginning.
    ///
    /// - Throws: `noSuchAsset`; `badData` where there is nothing to see.
    public func thumbnail(
        of id: MediaAsset.ID,
        size: ThumbnailSize = .small
    ) async throws(CaptureError) -> Descriptor {
        let answer = try await daemon.consult("ThumbnailFor", [.string(cookie), .string(id), .string(size.rawValue)])
        return try CaptureDaemon.understood(answer.first?.file, "ThumbnailFor")
    }

    /// The same picture's bytes.
    ///
    /// - Throws: `noSuchAsset`; `badData` where there is nothing to see; `inputOutput` where it cannot be read.
    public func jpeg(of id: MediaAsset.ID, size: ThumbnailSize = .small) async throws(CaptureError) -> [UInt8] {
        let file = try await thumbnail(of: id, size: size)
        return try await WorkerThread.run("picture") { () throws(CaptureError) in
            return try CaptureError.wrap(.inputOutput, try file.readAll() ?? [])
        }
    }

}
