import CaptureSystem
import Testing

@testable import CaptureSystem

@Suite struct `An access list` {
    private func list(_ entries: (UInt8, UInt8, UInt8)...) -> [UInt8] {
        [2, 0, 0, 0] + entries.flatMap { [$0.0, 0, $0.1, 0, $0.2, 0, 0, 0] }
    }

    @Test func `names who may, as far as its mask lets them`() throws {
        let entries: [(UInt8, UInt8, UInt8)] = [(1, 6, 0), (2, 6, 10), (2, 0, 11), (4, 6, 0), (8, 4, 12), (32, 0, 0)]
        func bytes(mask: UInt8) -> [UInt8] { entries.reduce(list((16, mask, 0))) { $0 + list($1).dropFirst(4) } }
        let open = try #require(AccessList(bytes(mask: 6)))
        #expect(open.users == [10])
        #expect(open.groups == [12])
        #expect(open.ownGroup)
        let closed = try #require(AccessList(bytes(mask: 0)))
        #expect(closed.users.isEmpty && closed.groups.isEmpty && !closed.ownGroup)
        #expect(AccessList(bytes(mask: 2))?.groups == [])
    }

    @Test func `of another form is none`() {
        #expect(AccessList([]) == nil)
        #expect(AccessList([3, 0, 0, 0]) == nil)
        #expect(AccessList(list((2, 6, 10)).dropLast()) == nil)
    }

    @Test func `that is not there is removed without a complaint, of a file that is not there with one`() throws {
        #expect(AccessList(of: "/dev/null") == nil)
        try AccessList.remove(from: "/tmp")
        let error = #expect(throws: SystemError.self) { try AccessList.remove(from: "/nowhere/at/all") }
        #expect(error?.description.contains("/nowhere/at/all") == true)
    }
}
