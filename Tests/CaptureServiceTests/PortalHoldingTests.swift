import CaptureCore
import Testing

@testable import CaptureService

@Suite struct `Who has what the camera portal connected` {
    private let portal: Int32 = 1

    /// A program's process, by its number, with the sockets that it has. Its file has the number of its first digit.
    private func holder(_ process: Int32, _ own: Set<UInt32>, all: Set<UInt32>? = nil) -> PortalHolding.Holder {
        PortalHolding.Holder(
            process: process,
            startTime: UInt64(process),
            file: file(process),
            own: own,
            all: all ?? own
        )
    }

    private func file(_ process: Int32) -> FileIdentity {
        FileIdentity(device: 1, inode: UInt64(process < 10 ? process : process / 10))
    }

    /// The processes that have it, or why nobody can tell. The portal made two connections and has one, but for what is
    /// given.
    private func found(
        _ holders: [PortalHolding.Holder],
        made: [Int32: Int] = [:],
        sockets: Set<UInt32>? = nil,
        ended: Set<Int32> = [],
        said: Int32 = 0
    ) -> (processes: [Int32], refusal: String) {
        let made = made.merging([portal: 2]) { given, _ in given }
        let all = [holder(portal, [100])] + holders
        let makers = made.keys.filter { !ended.contains($0) }.map { ($0, file($0)) }
        let holding = PortalHolding(
            sockets: sockets ?? Set(all.flatMap(\.all)),
            holders: all,
            makers: Dictionary(uniqueKeysWithValues: makers)
        )
        do throws(CaptureError) {
            return (try PortalHolding.said(said, of: holding.holders(of: portal, made)).map(\.process), "")
        } catch {
            return ([], error.message)
        }
    }

    @Test func `is the program that has more than it made`() {
        #expect(found([holder(20, [101]), holder(30, [102, 103])], made: [30: 2]).processes == [20])
    }

    @Test func `may have connections of its own`() {
        #expect(found([holder(20, [101, 102])], made: [20: 1]).processes == [20])
    }

    @Test func `may share it among processes of its own file, of which the oldest comes first`() {
        #expect(found([holder(21, [101]), holder(20, [101])]).processes == [20, 21])
    }

    @Test func `is nobody if two programs have more than they made, and the client names neither`() {
        let refusal = found([holder(20, [101]), holder(30, [102])], made: [portal: 3]).refusal
        #expect(refusal.contains("several programs have connections that they did not make"))
    }

    @Test func `is nobody if two programs have the same connection`() {
        let refusal = found([holder(20, [101]), holder(30, [], all: [101])]).refusal
        #expect(refusal.contains("two programs have the same connection"))
        #expect(found([holder(portal, [101]), holder(20, [101])]).refusal.contains("the same connection"))
    }

    @Test func `is nobody while a connection is in no process, or was left to one`() {
        let inFlight = found([holder(20, [101])], sockets: [100, 101, 102])
        #expect(inFlight.refusal.contains("a program hides a connection"))
        // 20 has the portal's, and left one that it made to 30, which then runs an allowed program.
        let left = found([holder(20, [101]), holder(30, [], all: [102])], made: [20: 1])
        #expect(left.refusal.contains("a program hides a connection"))
    }

    @Test func `is nobody if the numbers do not go together`() {
        #expect(found([holder(20, [101])], made: [portal: 3]).refusal.contains("are not those that they made"))
        #expect(found([holder(20, [101, 102])]).refusal.contains("are not those that they made"))
        #expect(found([holder(20, [101])], made: [20: 1]).refusal.contains("are not those that they made"))
    }

    @Test func `is not told by a portal that has ended`() {
        #expect(found([holder(20, [101])], ended: [portal]).refusal.contains("it has ended"))
    }

    @Test func `may be told beside programs that made connections where sockets are not listed`() {
        // In a network namespace of its own, as a Flatpak without the network has.
        #expect(found([holder(20, [101])], made: [40: 1]).processes == [20])
    }
}
