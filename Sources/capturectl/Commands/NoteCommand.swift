import ArgumentParser
import CaptureKit
import CaptureSystem
import FoundationEssentials
import Glibc

struct NoteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "note",
        abstract: "Put values into a recording: a speed, a place, what a sensor says.",
        discussion: """
            The movie was started with --metadata, and has a track for them, which 'ffprobe' and 'ffmpeg -map 0:s' read. \
            A note has the time at which it comes. A value is a number, true, false, or JSON in brackets or quotes; \
            everything else is text. With '-' each line of standard input is a note: KEY=VALUE words without spaces, or a \
            JSON object.
            """
    )

    @OptionGroup var bus: BusOptions

    @Argument(help: .session, completion: .sessions())
    var id: UInt32

    @Argument(help: ArgumentHelp("As in speed=12.5, or - for lines of standard input.", valueName: "key=value"))
    var values: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Where it was, as in 48.137,11.575 or 48.137,11.575,519.", valueName: "lat,long,altitude")
    )
    var position: String?

    @Option(help: "The output, as 'status' names it, instead of all movies that have metadata.")
    var output: String?

    func run() async throws {
        let isStream = values == ["-"]
        if values.contains("-"), !isStream {
            throw CaptureError(.usage, "'-' stands alone: each line of standard input is a note then")
        }
        let given = isStream ? [:] : try NoteText.fields(values, position: position)
        if isStream, position != nil {
            throw CaptureError(
                .usage,
                "--position does not go with lines of standard input; a line may have a position"
            )
        }
        if !isStream, given.isEmpty {
            throw CaptureError(.usage, "nothing to note; give values, as in: capturectl note \(id) speed=12.5")
        }
        let daemon = try await bus.connect()
        let session = try await CaptureSession.session(id, on: daemon)
        let what = "movie with metadata; give --metadata to record"
        let outputs = try await session.outputs(output, of: what, on: daemon, where: \.hasMetadata)
        guard isStream else {
            for output in outputs {
                try await session.append([try TimedMetadata(given)], to: output)
                Output.note("session \(id): noted in \(Printable.text(output))")
            }
            return
        }
        let events = try await session.events()
        let end = Task { await Self.exit(afterEndIn: events, of: id) }
        defer { end.cancel() }
        var number = 0
        while let line = try await Self.nextLine() {
            number += 1
            if line.allSatisfy(\.isWhitespace) { continue }
            let note: TimedMetadata
            do throws(CaptureError) {
                note = try TimedMetadata(NoteText.fields(ofLine: line))
            } catch {
                throw CaptureError(.badData, "line \(number): \(error.message)")
            }
            for output in outputs { try await Self.append(note, to: output, of: session) }
        }
    }

    /// Tells a note, again and again while the recorder is behind.
    private static func append(_ note: TimedMetadata, to output: String, of session: CaptureSession)
        async throws(CaptureError)
    {
        while true {
            do throws(CaptureError) {
                return try await session.append([note], to: output)
            } catch {
                guard error.code == .busy else { throw error }
            }
            do {
                try await Task.sleep(for: .milliseconds(20))
            } catch {
                throw CaptureError(.dismissed, "interrupted")
            }
        }
    }

    /// Ends the program when the session ends, since the next line may never come.
    private static func exit(afterEndIn events: AsyncStream<SessionEvent>, of id: UInt32) async {
        for await case .changed(let status) in events where status.state.isFinal {
            Output.message("session \(id) has ended, and takes no more notes")
            Glibc.exit(CaptureError.Code.wrongState.exitCode)
        }
    }

    /// The next line of standard input, which may take any time; `nil` at its end.
    private static func nextLine() async throws(CaptureError) -> String? {
        try await WorkerThread.run("line") { readLine() }
    }
}

/// Reads the values of a note from its words.
enum NoteText {
    /// The values of words.
    ///
    /// - Throws: `usage` for a word without a key, a key that is there twice, and a position that cannot be read.
    static func fields(_ words: [String], position: String? = nil) throws(CaptureError) -> [String: MetadataValue] {
        var fields: [String: MetadataValue] = [:]
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw CaptureError(.usage, "'\(Printable.text(word))' is no KEY=VALUE, such as speed=12.5")
            }
            guard fields.updateValue(try value(String(parts[1])), forKey: String(parts[0])) == nil else {
                throw CaptureError(.usage, "the key '\(Printable.text(String(parts[0])))' is there twice")
            }
        }
        if let position {
            guard fields.updateValue(try place(position), forKey: "position") == nil else {
                throw CaptureError(.usage, "the key 'position' is there twice")
            }
        }
        return fields
    }

    /// The values of a line: words, or a JSON object.
    static func fields(ofLine line: String) throws(CaptureError) -> [String: MetadataValue] {
        let words = line.split { $0.isWhitespace }.map(String.init)
        guard words.first?.hasPrefix("{") ?? false else { return try fields(words) }
        guard case .fields(let fields) = try json(line) else {
            throw CaptureError(.usage, "a line is no JSON object")
        }
        return fields
    }

    private static func value(_ text: String) throws(CaptureError) -> MetadataValue {
        if let number = Int64(text) { return .integer(number) }
        if let number = Double(text), number.isFinite { return .number(number) }
        switch text {
        case "true": return .flag(true)
        case "false": return .flag(false)
        default: break
        }
        guard let first = text.first, "{[\"".contains(first) else { return .text(text) }
        return try json(text)
    }

    private static func place(_ text: String) throws(CaptureError) -> MetadataValue {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { part -> Double? in
            let words = part.split(separator: " ")
            return words.count == 1 ? Double(words[0]) : nil
        }
        guard (2...3).contains(numbers.count), let latitude = numbers[0], let longitude = numbers[1],
            numbers.count == 2 || numbers[2] != nil
        else {
            throw CaptureError(
                .usage,
                "--position: '\(Printable.text(text))' is no place; give degrees, as in 48.137,11.575"
            )
        }
        return try .position(latitude: latitude, longitude: longitude, altitude: numbers.count == 3 ? numbers[2] : nil)
    }

    private static func json(_ text: String) throws(CaptureError) -> MetadataValue {
        do {
            return try JSONDecoder().decode(Decoded.self, from: Data(text.utf8)).value
        } catch {
            throw CaptureError(.usage, "'\(Printable.text(text))' is no JSON, or has null in it")
        }
    }

    private struct Decoded: Decodable {
        let value: MetadataValue

        init(from decoder: any Decoder) throws {
            let one = try decoder.singleValueContainer()
            if let flag = try? one.decode(Bool.self) {
                value = .flag(flag)
            } else if let number = try? one.decode(Int64.self) {
                value = .integer(number)
            } else if let number = try? one.decode(Double.self) {
                value = .number(number)
            } else if let text = try? one.decode(String.self) {
                value = .text(text)
            } else if let list = try? one.decode([Decoded].self) {
                value = .list(list.map(\.value))
            } else {
                value = .fields(try one.decode([String: Decoded].self).mapValues(\.value))
            }
        }
    }
}
