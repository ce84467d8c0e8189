public import Authorization
import Foundation

extension Policy {
    /// What a file of rules says: `policy.d/a.conf` in a folder, which is gone afterwards.
    public init(rules: String, in folder: String? = nil) throws {
        let folder = folder ?? NSTemporaryDirectory() + "policy-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder + "/policy.d", withIntermediateDirectories: true)
        try Data(rules.utf8).write(to: URL(fileURLWithPath: folder + "/policy.d/a.conf"))
        self.init(directories: [folder], ownedBy: nil, accounts: .unknown)
    }
}
