import Authorization
import CaptureBus
import CaptureCore

/// What the journal is told of the media library, with the fields that decisions have.
enum LibraryJournal {
    /// A program deleted something, as the person confirmed.
    static func deleted(_ count: Int, by client: ClientIdentity) {
        let what = count == 1 ? "an item" : "\(count) items"
        send("\(client.program) put \(what) of the media library into the bin, which the person confirmed", client)
    }

    /// A program added something.
    static func added(_ bytes: Int64, by client: ClientIdentity) {
        send("\(client.program) added a file of \(bytes) bytes to the media library", client)
    }

    /// The person picked something for a program.
    static func picked(_ count: Int, for client: ClientIdentity) {
        let what = count == 1 ? "an item" : "\(count) items"
        send("\(client.program) was handed \(what) of the media library, which the person picked", client)
    }

    /// The person was asked what a limited program may read, and chose nothing.
    static func nothingChosen(for client: ClientIdentity, _ error: CaptureError) {
        send("nothing more of the media library was chosen for \(client.program): \(error.message)", client)
    }

    private static func send(_ sentence: String, _ client: ClientIdentity) {
        Journal.send(
            DisplayText.neutralized(sentence, limit: 2000),
            priority: .info,
            fields: ["CAPTURE_PROGRAM": client.program, "CAPTURE_USER": "\(client.user)"]
        )
    }
}
