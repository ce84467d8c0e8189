import CaptureCore
import PickerMessages
import Testing

struct PickerSelectionTests {
    private let free = ["a", "b", "c"].map { PickerItem(id: $0, kind: .photo, name: "\($0).jpg") }
    private let chosen = PickerItem(id: "d", kind: .photo, name: "d.jpg", state: .chosen)
    private let own = PickerItem(id: "e", kind: .photo, name: "e.jpg", state: .own)

    @Test func `what is picked is so in the order of picking, until it is picked again`() {
        var selection = PickerSelection(.pick, limit: 3)
        for index in [2, 0, 1, 0] { #expect(selection.toggle(free[index]) == nil) }
        #expect(selection.picked == ["c", "b"] && selection.dropped.isEmpty && !selection.isEmpty)
        #expect(selection.mark(free[2]) == .picked && selection.mark(free[0]) == .none)
        #expect(selection.action == "Hand Over 2" && selection.count == "2 of at most 3 picked")
    }

    @Test func `no more than the limit are picked, and of one alone the latest`() {
        var selection = PickerSelection(.extend, limit: 2)
        _ = free.prefix(2).map { selection.toggle($0) }
        #expect(selection.toggle(free[2])?.contains("at most 2") == true && selection.picked == ["a", "b"])
        selection = PickerSelection(.pick, limit: 1)
        _ = free.map { selection.toggle($0) }
        #expect(selection.picked == ["c"] && selection.count == "1 picked")
    }

    @Test(arguments: [PickPurpose.pick, .extend, .offer])
    func `what may be read already is neither picked nor dropped`(purpose: PickPurpose) {
        var selection = PickerSelection(purpose, limit: 2)
        #expect(selection.toggle(chosen) != nil && selection.toggle(own) != nil && selection.isEmpty)
        #expect(selection.mark(chosen) == .readable && selection.mark(own) == .readable)
    }

    @Test func `in settings what is chosen can be taken away, and what the program made cannot`() {
        var selection = PickerSelection(.choose, limit: 1)
        #expect(selection.action == "Save" && selection.toggle(own)?.contains("always") == true)
        #expect(selection.toggle(chosen) == nil && selection.toggle(free[0]) == nil)
        #expect(selection.mark(chosen) == .dropped && selection.picked == ["a"] && selection.dropped == ["d"])
        #expect(selection.action == "Allow 1, Take Away 1")
        #expect(selection.toggle(PickerItem(id: "f", kind: .photo, name: "f", state: .chosen))?.contains("1") == true)
        #expect(selection.toggle(chosen) == nil && selection.mark(chosen) == .readable)
    }
}
