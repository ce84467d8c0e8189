import Authorization
import CaptureBus
import CaptureCore

/// What the journal is told of the media library, with the fields that decisions have.
enum LibraryJournal {
    /// A program added something.
    static func added(_ bytes: UInt64, by client: ClientIdentity) {
        send("\(client.program) added a file of \(bytes) bytes to the media library", client)
    }

    /// A recording was not saved and is kept for the person.
    static func kept(_ error: CaptureError, by client: ClientIdentity) {
        send("a recording of \(client.program) is kept because it was not saved: \(error.message)", client)
    }

    /// There are recordings that wait for the person, as after a daemon that was killed.
    static func waiting(_ count: Int, of user: UInt32) {
        let what = count == 1 ? "a recording waits" : "\(count) recordings wait"
        Journal.send(
            "\(what) to be saved into the media library of \(Users.name(of: user)) or discarded: capturectl library kept",
            priority: .notice,
            fields: ["CAPTURE_USER": "\(user)"]
        )
    }

    /// What the person chose for a limited program came to nothing.
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
