/// Programs that run other programs' words, so that their file says nothing about who asks.
enum Interpreters {
    /// Whether a file of this path runs code that it is handed.
    ///
    /// A name with a version counts like the name: `python3.11`, `lua5.4`, `ruby-3.1`.
    static func contains(_ path: String) -> Bool {
        let name = path.split(separator: "/").last.map { $0.lowercased() } ?? ""
        if name.hasPrefix("ld-linux") || name.hasPrefix("ld-musl") || name.hasPrefix("ld.so") { return true }
        if name.hasPrefix("ld-"), name.contains(".so") { return true }
        if name.hasPrefix("qemu-"), !name.hasPrefix("qemu-system-") { return true }
        if known.contains(name) { return true }
        let stem = name.prefix { !("0"..."9").contains($0) }
        guard isVersion(name.dropFirst(stem.count)) else { return false }
        return known.contains(String(stem.hasSuffix("-") ? stem.dropLast() : stem))
    }

    /// As in `3`, `3.11`, `5.36.0`, `3.13t`, `3.11-dbg`.
    private static func isVersion(_ text: Substring) -> Bool {
        var text = text
        if text.hasSuffix("-dbg") { text = text.dropLast(4) }
        let rest = text.drop { ("0"..."9").contains($0) || $0 == "." }
        return rest.count < text.count && rest.count <= 1
    }

    private static let known: Set<String> = [
        // shells
        "sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "mksh", "lksh", "pdksh", "fish", "csh", "tcsh", "busybox",
        "toybox", "nu", "elvish", "xonsh", "pwsh", "rc", "es",
        // languages
        "python", "pypy", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "luajit", "tclsh", "wish",
        "expect", "guile", "racket", "gjs", "gjs-console", "js", "qjs", "seed", "r", "rscript", "julia", "octave",
        "awk",
        "gawk", "mawk", "nawk", "java", "kotlin", "scala", "clojure", "mono", "mono-sgen", "dotnet", "erl", "beam.smp",
        "elixir", "ocaml", "ocamlrun", "sbcl", "clisp", "swipl", "ghci", "runghc", "electron", "emacs", "vim", "nvim",
        // what runs a program of the caller's choice in its own place or under its control
        "env", "gdb", "lldb", "strace", "ltrace", "valgrind", "rr", "proot", "bwrap", "wine", "wine64",
        "wine-preloader",
        "wine64-preloader", "fakeroot", "unshare", "nsenter",
    ]
}
