@testable import Authorization
import CaptureCore
import Foundation
import GRDB
import TestSupport
import Testing

@Suite(.serialized) struct `How long a remembered decision takes` {
    /// A gate over a store on disk with that many answers, of which the last is the program's own.
    private static func gate(_ rows: Int, in folder: TemporaryFolder) throws -> AuthorizationGate {
        let store = AuthorizationStore(directory: folder.path + "/\(rows)")
        var own = StoredAnswer(
            user: 1000,
            program: "exe:/usr/bin/cheese",
            service: .camera,
            tier: .claimed,
            status: .authorized,
            reason: .answer,
            time: .now,
            executable: ClientIdentity.program().executable,
            detail: "the session 3"
        )
        // Else the first use would be written down, and be measured.
        own.lastUsed = .now
        try store.put([own])
        // Of the same user and others, before and after it in the order of the key.
        try store.file.access(.writing) { database in
            try database.execute(
                sql: """
                    WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)
                    INSERT INTO answer(user, program, service, executable, tier, status, reason, wall, sinceBoot, boot,
                        path, device, inode, protected, detail, until, usedWall, usedSinceBoot, usedBoot)
                    SELECT 999 + n % 3, 'exe:/usr/' || CASE n % 2 WHEN 0 THEN 'bin' ELSE 'lib' END || '/program-' || n,
                        service, executable, tier, status, reason, wall, sinceBoot, boot, path, device, inode, protected,
                        detail, until, usedWall, usedSinceBoot, usedBoot
                    FROM number, answer WHERE program = 'exe:/usr/bin/cheese'
                    """,
                arguments: [rows - 1]
            )
        }
        let count = try store.file.access(.reading) { try Int.fetchOne($0, sql: "SELECT count(*) FROM answer") }
        #expect(count == rows)
        return AuthorizationGate(store: store, prompter: Person())
    }

    /// How much longer something takes among 100,000 answers than among ten: medians of one run, measured in turns, so
    /// that whatever else the machine does falls on both.
    private static func ratio(_ body: (AuthorizationGate) async throws -> Void) async throws -> Double {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let gates = [try gate(10, in: folder), try gate(100_000, in: folder)]
        let rounds = 1000
        var taken: [[Duration]] = [[], []]
        for round in 0..<rounds {
            for index in round.isMultiple(of: 2) ? [0, 1] : [1, 0] {
                let began = ContinuousClock.now
                try await body(gates[index])
                taken[index].append(.now - began)
            }
        }
        let medians = taken.map { $0.sorted()[rounds / 2] }
        return medians[1] / medians[0]
    }

    @Test func `is the same among 100,000 answers as among ten`() async throws {
        let ratio = try await Self.ratio { gate in
            let given = try await gate.request([.camera])
            #expect(given[.camera]?.isLive == true)
        }
        #expect(ratio <= 1.5)
    }

    @Test func `is the same for a status that is only looked at`() async throws {
        let ratio = try await Self.ratio { gate in
            let status = try await gate.status(.camera, for: .program())
            #expect(status == .authorized)
        }
        #expect(ratio <= 1.5)
    }
}
