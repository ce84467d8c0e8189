import Authorization
import CaptureBus
import CaptureCore
import MediaLibrary

/// What answers that people change come to in the media library.
struct LibrarySettings: Sendable {
    let libraries: LibraryCatalog
    let watchers: LibraryWatchers

    /// A program is about to be limited that is not: nothing is chosen for it yet, whatever was once. An answer may have run
    /// out since, or been for another file at the same place.
    ///
    /// - Throws: `.inputOutput`; it must not be limited then.
    func forgetChosen(_ user: UInt32, _ program: String) async throws(CaptureError) {
        guard try await libraries.hasLibrary(of: user) else { return }
        try await libraries.use(user) { library throws(CaptureError) in try library.choices.forgetChosen(program) }
    }

    /// Called when an answer was set or forgotten. Forgets the chosen assets of a program that is not limited any more,
    /// so that they are chosen anew if it is limited again.
    func changed(_ service: Service, to status: AuthorizationStatus, of program: String, user: UInt32) async {
        guard service == .libraryReadWrite else { return }
        // Of one that is to be asked anew the person would be asked at once, and not when it looks.
        if status != .notDetermined { await watchers.sees(program, of: user) }
        guard status != .limited else { return }
        do throws(CaptureError) {
            try await forgetChosen(user, program)
        } catch {
            Journal.send(
                "what was chosen from the media library for \(program) was not forgotten: \(error)",
                priority: .warning
            )
        }
    }
}
