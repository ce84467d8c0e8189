import BusSupport
import CaptureBus
import CaptureKit
import CaptureSystem
import Testing

@Suite(.timeLimit(.minutes(10)))
struct LibraryReadingTests {
    @Test func `every fact of an asset arrives`() async throws {
        let fake = FakeLibrary()
        let id = fake.put(
            "a.jpg",
            "PHOTO 1",
            [
                "created": .int64(-5), "device": .string("A Camera"), "favourite": .bool(true),
                "place": .structure([.double(52.5), .double(13.25)]), "program": .string("exe:/other"),
            ]
        )
        let (daemon, library) = try await fake.open()
        let asset = try await library.asset(id)
        #expect(asset.id == id && asset.kind == .photo && asset.name == "a.jpg")
        #expect(asset.mediaType == "image/jpeg" && asset.codec == "mjpeg" && asset.size == 7)
        #expect(asset.created == -5 && asset.modified == 1_700_000_000_000 && asset.added == 1_700_000_100_001)
        #expect(asset.width == 640 && asset.height == 480 && asset.duration == 0)
        #expect(asset.device == "A Camera" && asset.place == MediaPlace(latitude: 52.5, longitude: 13.25))
        #expect(asset.isFavourite && !asset.isEdited && asset.binned == nil && asset.program == "exe:/other")
        withExtendedLifetime(daemon) {}
    }

    @Test func `pages follow each other to the end, and no asset comes twice`() async throws {
        let fake = FakeLibrary()
        let ids = (0..<25).map { fake.put("\($0).jpg", "PHOTO \($0)") }
        let (daemon, library) = try await fake.open()
        var options = AssetFetchOptions()
        options.isAscending = true
        options.pageSize = 10
        var pages: [[MediaAsset.ID]] = []
        for try await page in library.pages(options) { pages.append(page.assets.map(\.id)) }
        #expect(pages.map(\.count) == [10, 10, 5])
        #expect(pages.flatMap { $0 } == ids)
        #expect(try await library.count(options) == 25)
        withExtendedLifetime(daemon) {}
    }

    @Test func `conditions travel as they were given`() async throws {
        let fake = FakeLibrary()
        let (daemon, library) = try await fake.open()
        var options = AssetFetchOptions()
        options.kinds = [.photo, .movie]
        options.from = 1
        options.until = 2
        options.program = "exe:/a"
        options.isFavourite = false
        options.isBinned = true
        options.order = .name
        options.pageSize = 7
        _ = try await library.fetch(options, page: "p0")
        #expect(
            daemon.calls("Fetch").first?.arguments[0].properties == [
                "kinds": .strings(["movie", "photo"]), "from": .int64(1), "until": .int64(2),
                "program": .string("exe:/a"), "favourite": .bool(false), "binned": .bool(true),
                "order": .string("name"), "ascending": .bool(false), "limit": .uint32(7), "page": .string("p0"),
            ]
        )
    }

    @Test func `a page that leads to itself is no answer, and not fetched for ever`() async throws {
        let answer: FakeDaemon.Answer = { _, _ in [.propertyList([]), .string("again"), .uint32(3)] }
        let daemon = try await FakeDaemon(["Fetch": answer])
        let library = MediaLibrary(on: try await daemon.client())
        #expect(await code { for try await _ in library.pages() {} } == .badData)
        #expect(daemon.calls("Fetch").count == 2)
    }

    @Test func `who was refused finds nothing, and the status says why`() async throws {
        let fake = FakeLibrary([.readWrite: .denied])
        let id = fake.put("a.jpg", "PHOTO")
        let (daemon, library) = try await fake.open()
        let page = try await library.fetch()
        #expect(page.assets.isEmpty && page.next == nil && page.status == .denied)
        #expect(try await library.count() == 0)
        #expect(try await library.albums().isEmpty)
        #expect(await code { try await library.asset(id) } == .noSuchAsset)
        #expect(fake.asked.isEmpty)
        withExtendedLifetime(daemon) {}
    }

    @Test func `the first fetch asks, waits for the answer and goes on`() async throws {
        let fake = FakeLibrary([.readWrite: .notDetermined], answers: [.readWrite: .limited])
        fake.put("own.jpg", "PHOTO")
        fake.put("other.jpg", "PHOTO", ["program": .string("exe:/other")])
        let (daemon, library) = try await fake.open()
        let page = try await library.fetch()
        #expect(page.assets.map(\.name) == ["own.jpg"] && page.status == .limited)
        #expect(fake.asked == [.readWrite])
        #expect(daemon.calls("Fetch").count == 2)
    }

    @Test func `a no to the first call is an empty page, a status, and an error to what changes`() async throws {
        let fake = FakeLibrary([.readWrite: .notDetermined], answers: [.readWrite: .denied])
        let id = fake.put("a.jpg", "PHOTO")
        let (daemon, library) = try await fake.open()
        let page = try await library.fetch()
        #expect(page.assets.isEmpty && page.status == .denied)
        fake.setStatus(.readWrite, .notDetermined)
        #expect(try await library.requestAuthorization(for: .readWrite) == .denied)
        fake.setStatus(.readWrite, .notDetermined)
        #expect(await code { try await library.setFavourite(id, true) } == .denied)
        #expect(fake.asked == [.readWrite, .readWrite, .readWrite])
        withExtendedLifetime(daemon) {}
    }

    @Test func `a question that is closed is the call's end, and is put once`() async throws {
        let fake = FakeLibrary([.readWrite: .notDetermined])
        let (daemon, library) = try await fake.open()
        #expect(await code { try await library.fetch() } == .dismissed)
        #expect(daemon.calls("Fetch").count == 1)
    }

    @Test func `a daemon that stays undecided is asked once a level`() async throws {
        let undecided: FakeDaemon.Answer = { _, _ throws(CaptureError) in
            throw CaptureError(.undecided, "the person is being asked")
        }
        let fake = FakeLibrary(answers: [.readWrite: .authorized])
        let (daemon, library) = try await fake.open(replacing: ["Fetch": undecided])
        #expect(await code { try await library.fetch() } == .undecided)
        #expect(daemon.calls("Fetch").count == 2)
        #expect(fake.asked == [.readWrite])
    }

    @Test func `statuses are told by level and without one, and asked for where nothing was decided`() async throws {
        let fake = FakeLibrary([.addOnly: .limited, .readWrite: .limited], answers: [.readWrite: .limited])
        let (daemon, library) = try await fake.open()
        #expect(try await library.authorizationStatus(for: .addOnly) == .limited)
        #expect(try await library.authorizationStatus(for: .readWrite) == .limited)
        #expect(try await library.authorizationStatus() == .authorized)
        #expect(try await library.requestAuthorization(for: .addOnly) == .limited)
        #expect(try await library.requestAuthorization() == .authorized)
        #expect(fake.asked.isEmpty)
        fake.setStatus(.readWrite, .notDetermined)
        #expect(try await library.requestAuthorization() == .authorized)
        #expect(fake.asked == [.readWrite])
        withExtendedLifetime(daemon) {}
    }

    @Test func `contents and thumbnails are open at their beginning`() async throws {
        let fake = FakeLibrary()
        let id = fake.put("a.jpg", "PHOTO 1")
        let (daemon, library) = try await fake.open()
        #expect(try text(try await library.contents(of: id)) == "PHOTO 1")
        #expect(try text(try await library.thumbnail(of: id, size: .large)) == "JPEG large")
        #expect(daemon.calls("Open").first?.arguments[1].text == "current")
    }

    private func text(_ file: Descriptor) throws -> String {
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = unsafe try bytes.withUnsafeMutableBytes { unsafe try file.read(into: $0) }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
