@testable import Authorization
import CaptureCore
import Foundation
import GRDB
import TestSupport
import Testing

@Suite struct `A store of version 1` {
    let folder: TemporaryFolder
    var file: String { folder.path + "/" + AuthorizationStore.fileName }

    /// As captured 1.0 made it.
    private static let tables = """
        CREATE TABLE answer(
            user INTEGER NOT NULL CHECK(user BETWEEN 0 AND 4294967295),
            program TEXT NOT NULL CHECK(length(program) > 0),
            service TEXT NOT NULL,
            executable TEXT NOT NULL,
            tier TEXT NOT NULL,
            status INTEGER NOT NULL CHECK(status IN (2, 3, 4)),
            reason TEXT NOT NULL,
            wall INTEGER NOT NULL,
            sinceBoot INTEGER NOT NULL,
            boot TEXT NOT NULL,
            path TEXT,
            device INTEGER,
            inode INTEGER,
            protected INTEGER,
            detail TEXT NOT NULL,
            CHECK((path IS NULL) = (device IS NULL) AND (path IS NULL) = (inode IS NULL)
                AND (path IS NULL) = (protected IS NULL)),
            PRIMARY KEY(user, program, service, executable)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE meta(key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
        INSERT INTO meta VALUES('lastProbe', '1700000000000');
        INSERT INTO answer VALUES(1000, 'exe:/usr/bin/cheese', 'camera', '', 'claimed', 3, 'answer', 1699999999000, 5, 'b',
            '/usr/bin/cheese', -1, -2, 1, 'the session 3');
        INSERT INTO answer VALUES(1000, 'exe:/home/a/tool', 'camera', '', 'claimed', 3, 'answer', 1699999999000, 5, 'b',
            '/home/a/tool', 1, 7, 0, 'the session 3');
        INSERT INTO answer VALUES(1000, 'exe:/home/a/tool', 'microphone', '', 'claimed', 2, 'answer', 1699999999000, 5, 'b',
            '/home/a/tool', 1, 7, 0, 'the session 3');
        INSERT INTO answer VALUES(0, 'unit:a.service', 'microphone', '', 'service', 2, 'settings', 1699999999001, 6, 'b',
            NULL, NULL, NULL, NULL, 'set by id');
        PRAGMA application_id = 1128353876;
        PRAGMA user_version = 1;
        """

    /// What 1.1 made of that.
    private static let secondTables = """
        ALTER TABLE answer ADD COLUMN until INTEGER CHECK(until IS NULL OR status = 3);
        ALTER TABLE answer ADD COLUMN usedWall INTEGER;
        ALTER TABLE answer ADD COLUMN usedSinceBoot INTEGER;
        ALTER TABLE answer ADD COLUMN usedBoot TEXT;
        CREATE INDEX answerUntil ON answer(until) WHERE until IS NOT NULL;
        UPDATE answer SET until = 2000000000000, usedWall = 3, usedSinceBoot = 4, usedBoot = 'c'
            WHERE program = 'exe:/usr/bin/cheese';
        PRAGMA user_version = 2;
        """

    /// What 1.2 made of that.
    private static let thirdTables = """
        ALTER TABLE answer ADD COLUMN changed INTEGER CHECK(changed IS NULL OR path IS NOT NULL);
        UPDATE answer SET changed = 9 WHERE program = 'exe:/home/a/tool';
        PRAGMA user_version = 3;
        """

    init() throws {
        folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: file)
        try queue.write { try $0.execute(sql: Self.tables) }
        try queue.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    }

    @Test func `is taken over with every answer, which all hold for always`() throws {
        let store = AuthorizationStore(directory: folder.path)
        #expect(store.state == .usable)
        let answers = try store.allAnswers()
        #expect(
            answers.map(\.program) == [
                "unit:a.service", "exe:/home/a/tool", "exe:/home/a/tool", "exe:/usr/bin/cheese",
            ]
        )
        #expect(answers.map(\.status) == [.denied, .authorized, .denied, .authorized])
        #expect(answers.map(\.reason) == [.settings, .answer, .answer, .answer])
        #expect(answers.allSatisfy { $0.lifetime == .always && $0.lastUsed == nil })
        #expect(answers.last?.executable?.inode == UInt64.max - 1)
        #expect(try store.pragma("user_version") == "5")
        #expect(try store.pragma("synchronous") == "2")
    }

    @Test(arguments: [1, 2])
    func `has no yes for a file of which nobody knows whether it is still that`(version: Int) async throws {
        if version == 2 {
            let queue = try DatabaseQueue(path: file)
            try await queue.write { try $0.execute(sql: Self.secondTables) }
            try queue.close()
        }
        let store = AuthorizationStore(directory: folder.path)
        let gate = AuthorizationGate(store: store, prompter: Person())
        let tool = ClientIdentity.program("/home/a/tool", inode: 7, isProtected: false)
        #expect(try await gate.status(.camera, for: tool) == .notDetermined)
        #expect(try await gate.status(.microphone, for: tool) == .denied)
        #expect(try await gate.status(.camera, for: .program()) == .authorized)
        let kept = try #require(try store.allAnswers().last)
        #expect(kept.program == "exe:/usr/bin/cheese")
        #expect(kept.lifetime == (version == 2 ? .until(2_000_000_000_000) : .always))
        #expect(kept.lastUsed?.sinceBoot == (version == 2 ? 4 : nil) || kept.lastUsed != nil && version == 1)
        #expect(try store.pragma("user_version") == "5")
    }

    @Test func `takes a yes for chosen assets with an end, which version 3 had no room for`() async throws {
        let queue = try DatabaseQueue(path: file)
        try await queue.write { try $0.execute(sql: Self.secondTables + Self.thirdTables) }
        try queue.close()
        let store = AuthorizationStore(directory: folder.path)
        var row = try #require(try store.allAnswers().last)
        #expect(row.lifetime == .until(2_000_000_000_000) && row.lastUsed?.boot == "c")
        #expect(try store.allAnswers()[1].executable?.changed == 9)
        (row.service, row.status) = (.libraryReadWrite, .limited)
        try store.put([row])
        #expect(try AuthorizationStore(directory: folder.path).allAnswers().last == row)
        #expect(try store.endingAnswers(withoutDate: false).count == 2)
        // Nothing else takes such an answer, by whatever way it comes.
        let other = try DatabaseQueue(path: file)
        await #expect(throws: DatabaseError.self) {
            try await other.write { try $0.execute(sql: "UPDATE answer SET status = 4 WHERE service = 'camera'") }
        }
        try other.close()
    }

    @Test func `takes what the present version writes, and is opened again with it`() throws {
        var row = try #require(try AuthorizationStore(directory: folder.path).allAnswers().last)
        row.lifetime = .until(row.time.wall + 5)
        row.lastUsed = AnswerTime(wall: 1, sinceBoot: 2, boot: "c")
        try AuthorizationStore(directory: folder.path).put([row])
        #expect(try AuthorizationStore(directory: folder.path).allAnswers().last == row)
    }

    @Test func `of version 4 has no word of any program yet, and every answer`() throws {
        let before = try AuthorizationStore(directory: folder.path).allAnswers()
        let queue = try DatabaseQueue(path: file)
        try queue.write { try $0.execute(sql: "ALTER TABLE answer DROP COLUMN usage; PRAGMA user_version = 4") }
        try queue.close()
        let store = AuthorizationStore(directory: folder.path)
        #expect(try store.allAnswers() == before)
        var row = try #require(before.last)
        row.usage = "to see you"
        try store.put([row])
        #expect(try AuthorizationStore(directory: folder.path).allAnswers().last == row)
        #expect(try store.pragma("user_version") == "5")
    }

    @Test func `is left as it was when it is damaged`() throws {
        let handle = try #require(FileHandle(forUpdatingAtPath: file))
        try handle.seek(toOffset: 4096)
        try handle.write(contentsOf: Data(repeating: 0xff, count: 2048))
        try handle.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: file))
        let store = AuthorizationStore(directory: folder.path)
        #expect(throws: CaptureError.self) { try store.allAnswers() }
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
    }

    @Test func `remembers how late it was`() throws {
        let queue = try DatabaseQueue(path: file)
        let future = AnswerTime.now.wall + 1_000_000
        try queue.write { try $0.execute(sql: "UPDATE meta SET value = ?", arguments: ["\(future)"]) }
        try queue.close()
        #expect(AuthorizationStore(directory: folder.path).latestTime == future)
    }
}
