import CaptureCore
import CaptureSystem
import MediaLibrary

/// What a program was handed.
enum PickedContent: Sendable {
    /// An asset of the library, as it was.
    case asset(AssetContent)
    /// Something that the person took for it.
    case taken(TakenContent)
}

/// What persons picked and took for programs: of each connection the latest, until it leaves the bus.
actor PickedContents {
    private var picked: [String: (request: UInt32, contents: [PickedContent])] = [:]

    /// Keeps what was picked for a connection, in the place of what was before.
    func keep(_ contents: [PickedContent], of request: UInt32, for connection: String) {
        picked[connection] = (request, contents)
    }

    /// One of them.
    ///
    /// - Parameter index: From 0.
    /// - Throws: `.invalidArgument` for another request than the latest that came to something, and for no index of it.
    func content(_ index: Int64, of request: Int64, for connection: String) throws(CaptureError) -> PickedContent {
        guard let latest = picked[connection], Int64(latest.request) == request else {
            throw CaptureError(
                .invalidArgument,
                "nothing was picked by a request \(request) of this connection, or something else was picked since"
            )
        }
        guard index >= 0, index < latest.contents.count else {
            throw CaptureError(
                .invalidArgument,
                "there is no index \(index) in what was picked; it goes from 0 to \(latest.contents.count - 1)"
            )
        }
        return latest.contents[Int(index)]
    }

    func clientGone(_ connection: String) {
        picked[connection] = nil
    }
}
