/// Programs that run other programs' words, so that their file says nothing about who asks.
package enum Interpreters {
    /// Whether a file of this path runs code that it is handed.
    ///
    /// A name with a version or a kind of build counts like the name: `python3.11-dbg`, `ruby-3.1`, `vim.basic`,
    /// `emacs-gtk`.
    package static func contains(_ path: String) -> Bool {
        let name = path.split(separator: "/").last.map { $0.lowercased() } ?? ""
        if name.hasPrefix("ld-linux") || name.hasPrefix("ld-musl") || name.hasPrefix("ld.so") { return true }
        if name.hasPrefix("ld-"), name.contains(".so") { return true }
        if name.hasPrefix("qemu-"), !name.hasPrefix("qemu-system-") { return true }
        return known.contains(name) || stem(of: name).map(known.contains) == true
    }

    /// A name without what tells builds of one program apart: after a point whatever there is, after a hyphen what is known
    /// to, and numbers. `nil` where something else follows a hyphen, since that makes another program.
    private static func stem(of name: String) -> String? {
        var rest = name[...]
        // As in `perl5.36-x86_64-linux-gnu`.
        if let system = rest.firstRange(of: "-linux-"), let machine = rest[..<system.lowerBound].lastIndex(of: "-") {
            rest = rest[..<machine]
        }
        let parts = rest.split(separator: "-", omittingEmptySubsequences: false)
        guard let first = parts.first, parts.dropFirst().allSatisfy({ isNumber($0) || builds.contains(plain($0)) })
        else {
            return nil
        }
        return plain(first)
    }

    /// What stands before a point, without numbers at its end.
    private static func plain(_ part: Substring) -> String {
        var part = part.prefix { $0 != "." }
        while let last = part.last, ("0"..."9").contains(last) { part.removeLast() }
        return String(part)
    }

    private static func isNumber(_ part: Substring) -> Bool { part.first.map { ("0"..."9").contains($0) } ?? false }

    private static let builds: Set<String> = [
        "basic", "beta", "bin", "cgi", "cli", "dbg", "debug", "development", "distrib", "gtk", "headless", "jit",
        "lucid",
        "minimal", "multiarch", "nox", "pgtk", "real", "rc", "small", "snapshot", "stable", "static", "tiny", "x",
    ]

    private static let known: Set<String> = [
        // shells
        "sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "mksh", "lksh", "pdksh", "fish", "csh", "tcsh", "busybox",
        "toybox", "posh", "yash", "sash", "bsd-csh", "nu", "elvish", "xonsh", "pwsh", "rc", "es",
        // languages
        "python", "pypy", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "luajit", "tclsh", "wish",
        "expect", "guile", "racket", "gjs", "gjs-console", "js", "qjs", "seed", "r", "rscript", "julia", "octave",
        "awk", "gawk", "mawk", "nawk", "original-awk", "java", "kotlin", "scala", "clojure", "mono", "mono-sgen",
        "dotnet", "erl", "beam", "elixir", "ocaml", "ocamlrun", "sbcl", "clisp", "swipl", "ghci", "runghc", "electron",
        "emacs", "vim", "nvim",
        // what runs a program of the caller's choice in its own place or under its control
        "env", "gdb", "lldb", "strace", "ltrace", "valgrind", "rr", "proot", "bwrap", "wine", "wine64",
        "wine-preloader",
        "wine64-preloader", "fakeroot", "unshare", "nsenter",
    ]
}
