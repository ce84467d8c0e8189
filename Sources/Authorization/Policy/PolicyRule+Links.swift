import Glibc

extension PolicyRule {
    /// Adds the paths that links lead to, as `/bin/tool` to `/usr/bin/tool`: a process's file is known by its path without
    /// links, which a rule for another would miss. As the links are now; only to be stricter.
    mutating func followLinks() {
        guard decision != .allow else { return }
        for pattern in programs.map(\.text) where pattern.hasPrefix("exe:/") {
            let path = pattern.dropFirst("exe:".count)
            // Whole names alone: of what a pattern stands for nothing is known.
            let open = path.firstIndex { $0 == "*" || $0 == "?" }
            var end = open.flatMap { path[..<$0].lastIndex(of: "/") } ?? path.endIndex
            // The longest part that is there; the rest may be installed later.
            while end > path.startIndex {
                if let real = PolicyRule.resolved(String(path[..<end])) {
                    if real != path[..<end] { programs.append(Glob(text: "exe:\(real)\(path[end...])")) }
                    break
                }
                guard let slash = path[..<end].lastIndex(of: "/") else { break }
                end = slash
            }
        }
    }

    private static func resolved(_ path: String) -> String? {
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }
}
