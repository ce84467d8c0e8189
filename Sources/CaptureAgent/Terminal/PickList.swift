import CaptureCore
import Glibc
import CaptureKit

/// The part of the library that a pick dialog shows: page by page, of some kinds, with a text in the name.
struct PickList {
    /// How many rows a page has.
    static let pageSize = 20
    /// How many assets to search for a text before asking the person whether to continue.
    static let mostSearched = 20_000

    let source: any PickSource
    private var options = AssetFetchOptions()
    private var text = ""
    private var pages: [[PickableAsset]] = []
    private var current = 0
    /// Assets that were fetched and not shown yet.
    private var buffer: ArraySlice<PickableAsset> = []
    private var cursor: String?
    private var isAtEnd = false
    private var searched = 0

    init(_ source: any PickSource) {
        self.source = source
    }

    /// The assets of the page.
    var rows: [PickableAsset] { pages.indices.contains(current) ? pages[current] : [] }

    /// Starts again with the newest.
    mutating func restart() throws(CaptureError) {
        (pages, current, buffer, cursor, isAtEnd, searched) = ([], 0, [], nil, false, 0)
        pages = [try assemble()]
    }

    /// Shows only these kinds; all if empty.
    mutating func show(_ kinds: Set<MediaAssetKind>) throws(CaptureError) {
        options.kinds = kinds
        try restart()
    }

    /// Shows only assets with a text in their names, ignoring case; all if the text is empty.
    mutating func search(_ text: String) throws(CaptureError) {
        self.text = text.lowercased()
        try restart()
    }

    /// Turns to the next page.
    ///
    /// - Returns: Whether there is one.
    mutating func turnOn() throws(CaptureError) -> Bool {
        if current + 1 == pages.count {
            guard hasMore else { return false }
            searched = 0
            let page = try assemble()
            guard !page.isEmpty || hasMore else { return false }
            pages.append(page)
        }
        current += 1
        return true
    }

    /// Turns to the page before.
    ///
    /// - Returns: Whether there is one.
    mutating func turnBack() -> Bool {
        guard current > 0 else { return false }
        current -= 1
        return true
    }

    /// The line below a page.
    var footer: String {
        let page = "page \(current + 1)"
        if current + 1 < pages.count || hasMore {
            let isSearching = rows.count < PickList.pageSize && !text.isEmpty
            return isSearching ? "\(page); n searches further\n" : "\(page); n shows more\n"
        }
        return rows.isEmpty ? "there is nothing to show\n" : "\(page), the last\n"
    }

    private var hasMore: Bool { !buffer.isEmpty || !isAtEnd }

    private mutating func assemble() throws(CaptureError) -> [PickableAsset] {
        var page: [PickableAsset] = []
        while page.count < PickList.pageSize {
            if let item = buffer.popFirst() {
                if text.isEmpty || item.asset.name.lowercased().contains(text) { page.append(item) }
                continue
            }
            guard !isAtEnd, searched < PickList.mostSearched else { break }
            options.pageSize = text.isEmpty ? PickList.pageSize : 1000
            let fetched = try source.page(options, cursor)
            searched += fetched.assets.count
            (buffer, cursor, isAtEnd) = (fetched.assets[...], fetched.next, fetched.next == nil)
        }
        return page
    }

    /// A row, as in ` 3 * photo  2026-05-01 14:03    640x480    2.0 MiB a.jpg`.
    static func line(
        _ number: Int,
        _ mark: Character,
        _ asset: MediaAsset,
        width: Int = ControllingTerminal.width
    ) -> String {
        let pixels = asset.kind == .sound ? "" : "\(asset.width)x\(asset.height)"
        let facts = [
            aligned("\(number)", 3), "\(mark)", asset.kind.rawValue.padding(to: 5), moment(asset.created),
            aligned(pixels, 11), aligned(size(asset.size), 10), "",
        ].joined(separator: " ")
        // A name that went on in the next row could pass for an asset there.
        let room = max(width - 1 - TextWidth.of(facts), 8)
        return facts + TextWidth.cut(Printable.text(asset.name, limit: 80), to: room, inMiddle: true)
    }

    private static func aligned(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    private static func size(_ bytes: UInt64) -> String {
        let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        var unit = 0
        var tenths = bytes * 10
        while tenths >= 10_240, unit + 1 < units.count {
            tenths /= 1024
            unit += 1
        }
        return unit == 0 ? "\(bytes) B" : "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    /// In the person's time zone.
    private static func moment(_ milliseconds: Int64) -> String {
        var time = time_t(milliseconds / 1000)
        var parts = unsafe tm()
        unsafe localtime_r(&time, &parts)
        let day = unsafe [parts.tm_mon + 1, parts.tm_mday].map { "-" + String($0, digits: 2) }.joined()
        let clock = unsafe [parts.tm_hour, parts.tm_min].map { String($0, digits: 2) }.joined(separator: ":")
        return unsafe "\(parts.tm_year + 1900)\(day) \(clock)"
    }
}
