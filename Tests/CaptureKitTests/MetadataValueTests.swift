import CaptureCore
import Testing

@testable import CaptureKit

struct `What a program notes` {
    @Test func `is JSON, with what a player of subtitles would obey as numbers`() throws {
        let note = try TimedMetadata([
            "a": "{\\b1}<i>\n\"q\"", "b": .number(.nan), "c": .list([1, 2.5, true]), "d": .fields(["<k>": "é"]),
            "e": .number(.infinity),
        ])
        #expect(
            note.text == #"{"a":"\u007b\u005cb1\u007d\u003ci\u003e\u000a\u0022q\u0022","#
                + #""c":[1,2.5,true],"d":{"\u003ck\u003e":"é"}}"#
        )
        #expect(try TimedMetadata([:]).text == "{}")
        #expect(throws: CaptureError.self) { try TimedMetadata(["a": .text(String(repeating: "x", count: 4090))]) }
    }

    @Test func `has a position on Earth`() throws {
        let place = try MetadataValue.position(latitude: 48.5, longitude: -11, altitude: 5)
        #expect(place.json == #"{"altitude":5.0,"latitude":48.5,"longitude":-11.0}"#)
        for (latitude, longitude, altitude) in [(91.0, 0.0, 0.0), (0, 181, 0), (.nan, 0, 0), (0, 0, .infinity)] {
            let error = #expect(throws: CaptureError.self) {
                try MetadataValue.position(latitude: latitude, longitude: longitude, altitude: altitude)
            }
            #expect(error?.code == .usage)
        }
    }

    @Test func `goes over in calls that the daemon takes`() throws {
        let small = try (0..<150).map { try TimedMetadata(["n": .integer($0)]) }
        let large = try (0..<20).map { _ in try TimedMetadata(["x": .text(String(repeating: "x", count: 4000))]) }
        let parts = TimedMetadata.parts(of: small + large)
        #expect(parts.flatMap(\.self) == small + large)
        for part in parts { try TimedMetadata.check(part) }
        #expect(parts.count == 5 && TimedMetadata.parts(of: []).isEmpty)
    }
}
