import CaptureCore
import Testing

@Suite("Access to the library")
struct LibraryAccessTests {
    @Test func `to save is decided in the order of the rule`() {
        #expect(SaveStep.next(add: .denied, readWrite: .authorized, asked: []) == .intoAlbum)
        #expect(SaveStep.next(add: .authorized, readWrite: .notDetermined, asked: []) == .ask(.readWrite))
        #expect(SaveStep.next(add: .authorized, readWrite: .denied, asked: []) == .intoLibrary)
        #expect(SaveStep.next(add: .limited, readWrite: .limited, asked: []) == .intoLibrary)
        #expect(SaveStep.next(add: .notDetermined, readWrite: .denied, asked: [.readWrite]) == .ask(.addOnly))
        #expect(SaveStep.next(add: .denied, readWrite: .denied, asked: []) == .refused)
        #expect(SaveStep.next(add: .restricted, readWrite: .restricted, asked: []) == .refused)
    }

    /// A person who closes every question is put each of them once.
    @Test func `asks each level at most once a save`() {
        var asked: Set<LibraryLevel> = []
        var order: [LibraryLevel] = []
        while case .ask(let level) = SaveStep.next(add: .notDetermined, readWrite: .notDetermined, asked: asked) {
            #expect(asked.insert(level).inserted)
            order.append(level)
        }
        #expect(order == [.readWrite, .addOnly])
        #expect(SaveStep.next(add: .notDetermined, readWrite: .notDetermined, asked: asked) == .refused)
    }
}
