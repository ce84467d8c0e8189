import Testing

@testable import CaptureAgent
@testable import CaptureCore
@testable import CaptureKit

/// A library of numbered assets: photos, and every tenth a sound.
private struct Shelf: PickSource {
    var assets: [PickableAsset]
    var fault: CaptureError?
    var drawn: String?

    init(_ count: Int, chosen: Set<Int> = [], program: String = "exe:/usr/bin/other") {
        assets = (0..<count).map { number in
            let asset = MediaAsset(
                id: "id\(number)",
                kind: number % 10 == 9 ? .sound : .photo,
                name: "a\(number).jpg",
                mediaType: "image/jpeg",
                codec: "mjpeg",
                created: 1_700_000_000_000,
                modified: 0,
                added: 0,
                duration: 0,
                width: 640,
                height: 480,
                size: 2_100_000,
                device: "",
                place: nil,
                isFavourite: false,
                program: program,
                isEdited: false,
                binned: nil,
                sha256: ""
            )
            return PickableAsset(asset: asset, isChosen: chosen.contains(number))
        }
    }

    func page(_ options: AssetFetchOptions, _ cursor: String?) throws(CaptureError) -> PickPage {
        if let fault { throw fault }
        let wanted = assets.filter { options.kinds.isEmpty || options.kinds.contains($0.asset.kind) }
        let begin = cursor.flatMap { Int($0) } ?? 0
        let end = min(begin + options.pageSize, wanted.count)
        return PickPage(assets: Array(wanted[begin..<end]), next: end < wanted.count ? "\(end)" : nil)
    }

    func picture(of id: MediaAsset.ID, _ size: ThumbnailSize) throws(CaptureError) -> String? {
        drawn.map { "\($0) \(id) \(size.rawValue)" }
    }
}

struct PickDialogTests {
    private static func request(_ purpose: PickPurpose = .pick, limit: Int = 3) -> PickRequest {
        PickRequest(
            Question(
                cookie: "secret",
                program: "exe:/usr/bin/tool",
                tier: "claimed",
                name: "To\u{1B}[31mol",
                processID: 42,
                secondsLeft: 1200
            ),
            purpose: purpose,
            subject: purpose == .choose ? "exe:/usr/bin/album" : nil,
            limit: limit
        )
    }

    /// What is shown last, and the answer, after some lines.
    private func talk(
        _ lines: [String?],
        _ request: PickRequest = request(),
        _ shelf: Shelf = Shelf(45)
    ) -> (shown: String, answer: PromptAnswer?) {
        var dialog = PickDialog(request, shelf)
        var step = dialog.begin()
        for line in lines { if case .next = step { step = dialog.take(line) } }
        switch step {
        case .next(let text): return (text, nil)
        case .done(let answer, let text): return (text, answer)
        }
    }

    @Test func `the opening says who asks and what becomes of it, harmless`() {
        let opening = PickDialog(Self.request(), Shelf(0)).opening
        for part in [
            "“To?[31mol” asks for up to 3 of your items", "Not verified: another program", "only this time", "20 min",
        ] {
            #expect(opening.contains(part), "\(part)")
        }
        var one = Self.request(limit: 1)
        one.kinds = [.photo, .movie]
        #expect(PickDialog(one, Shelf(0)).opening.contains("asks for one of your photos, movies"))
        #expect(PickDialog(Self.request(.choose), Shelf(0)).opening.contains("what exe:/usr/bin/album may read"))
    }

    @Test func `numbers and ranges pick, in the order of picking, and take it back`() {
        #expect(talk(["3", "1-2", "d"]).answer == .picked(PickedAssets(["id2", "id0", "id1"])))
        #expect(talk(["1, 3", "1", "d"]).answer == .picked(PickedAssets(["id2"])))
        #expect(talk(["1-3"]).shown.hasPrefix("picked 3: a0.jpg, a1.jpg, a2.jpg\n"))
    }

    @Test(arguments: ["0", "21", "3-1", "1-21", "x", "1-2-3", "-", "1 x", "99999999999999999999"])
    func `what names no row picks nothing`(line: String) {
        #expect(talk([line]).shown.contains("not a number in the list"))
        #expect(talk([line, "d"]).answer == nil)
    }

    @Test func `no more than may be is picked, and of one the last`() {
        let (shown, _) = talk(["1-4"])
        #expect(shown.contains("a3.jpg was not picked: 3 is the most\n") && shown.contains("picked 3:"))
        #expect(talk(["1", "2", "d"], Self.request(limit: 1)).answer == .picked(PickedAssets(["id1"])))
    }

    @Test func `pages turn on and back, and what is picked stays`() {
        #expect(talk([]).shown.contains("  1   photo") && talk([]).shown.contains("page 1; n shows more"))
        #expect(talk(["n"]).shown.contains("a20.jpg"))
        let last = talk(["n", "n"]).shown
        #expect(last.contains("a44.jpg") && last.contains("page 3, the last"))
        #expect(talk(["n", "n", "n"]).shown.contains("there are no more pages"))
        #expect(talk(["b"]).shown.contains("there are no more pages"))
        #expect(talk(["1", "n", "1", "b", "d"]).answer == .picked(PickedAssets(["id0", "id20"])))
        #expect(talk(["1", "n", "b"]).shown.contains("  1 * photo"))
    }

    @Test func `kinds and texts narrow the list down`() {
        let sounds = talk(["k sound"]).shown
        #expect(sounds.contains("a9.jpg") && sounds.contains("a39.jpg") && !sounds.contains("a8.jpg"))
        #expect(talk(["k sound", "k"]).shown.contains("a0.jpg"))
        #expect(talk(["k text"]).shown.contains("'text' is not a kind; give photo, movie or sound"))
        #expect(talk(["/A4", "2", "d"]).answer == .picked(PickedAssets(["id40"])))
        #expect(talk(["/nothing"]).shown.contains("there is nothing to show"))
        #expect(talk(["/a4", "/"]).shown.contains("a0.jpg"))
        #expect(talk(["/a", "n", "1", "d"]).answer == .picked(PickedAssets(["id20"])))
    }

    @Test func `a text is looked for in a part of a large library at a time`() {
        let shelf = Shelf(PickList.mostSearched + 5)
        let name = "/a\(PickList.mostSearched + 1)"
        #expect(talk([name], Self.request(), shelf).shown.contains("n searches further"))
        #expect(talk([name, "n", "1", "d"], Self.request(), shelf).answer != nil)
    }

    @Test func `what is done without anything picked is an answer to a choice alone`() {
        #expect(talk(["d"]).shown.contains("nothing is picked yet"))
        #expect(talk(["d"], Self.request(.extend)).answer == .picked(PickedAssets()))
        #expect(talk(["q"]).answer == .dismissed)
        #expect(talk([nil]).answer == .dismissed)
        #expect(talk(["?"]).shown.contains("1 3-5"))
        #expect(talk(["2", "s"]).shown.hasPrefix("picked 1: a1.jpg\n"))
    }

    @Test func `an offer asks first whether at all`() {
        let offer = Self.request(.offer)
        #expect(talk([], offer).shown.contains("[y/n]"))
        #expect(talk(["1"], offer).shown.contains("[y/n]"))
        #expect(talk(["n"], offer).answer == .picked(PickedAssets()))
        #expect(talk([nil], offer).answer == .dismissed)
        #expect(talk(["y", "2", "d"], offer).answer == .picked(PickedAssets(["id1"])))
    }

    @Test func `what may be read already is no choice, and in settings can be taken away`() {
        let shelf = Shelf(5, chosen: [0, 1])
        #expect(talk([], Self.request(.extend), shelf).shown.contains("  1 + photo"))
        #expect(talk(["1"], Self.request(.extend), shelf).shown.contains("may already read a0.jpg"))
        let choose = Self.request(.choose)
        #expect(talk(["1 3", "d"], choose, shelf).answer == .picked(PickedAssets(["id2"], dropped: ["id0"])))
        #expect(talk(["1", "1", "d"], choose, shelf).answer == .picked(PickedAssets()))
        let own = Shelf(5, chosen: [0], program: "exe:/usr/bin/album")
        #expect(talk(["1"], choose, own).shown.contains("always"))
    }

    @Test func `a question that is over ends it, and any other fault is told`() {
        var shelf = Shelf(5)
        shelf.fault = CaptureError(.notPermitted, "there is no such question")
        #expect(talk([], Self.request(), shelf).answer == .withdrawn)
        shelf.fault = CaptureError(.inputOutput, "the disk is gone")
        #expect(talk([], Self.request(), shelf).shown.contains("cannot show that: the disk is gone"))
    }

    @Test func `pictures stand above their rows, and larger ones are shown by number`() {
        var shelf = Shelf(3)
        shelf.drawn = "PICTURE"
        #expect(talk([], Self.request(), shelf).shown.hasPrefix("PICTURE id0 small\n  1   photo"))
        #expect(talk(["v 2"], Self.request(), shelf).shown.hasPrefix("PICTURE id1 medium\n"))
        #expect(talk(["v 2"]).shown.contains("shows no pictures"))
        #expect(talk(["v 1-2"], Self.request(), shelf).shown.contains("give 'v' one number"))
    }
}
