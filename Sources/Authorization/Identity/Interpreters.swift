/// Programs that run other programs' words, so that their file says nothing about who asks.
enum Interpreters {
    /// Whether a file of this path runs code that it is handed.
    ///
    /// A name with a version counts like the name: `python3.11`, `lua5.4`, `ruby-3.1`.
    static func contains(_ path: String) -> Bool {
        let name = path.split(separator: "/").last.map { $0.lowercased() } ?? ""
        if name.hasPrefix("ld-linux") || name.hasPrefix("ld-musl") || name.hasPrefix("ld.so") { return true }
        if name.hasPrefix("ld-"), name.contains(".so") { return true }
        if name.hasPrefix("qemu-") || name.hasPrefix("wine") { return true }
        if known.contains(name) { return true }
        let stem = name.prefix { !("0"..."9").contains($0) }
        let trimmed = stem.hasSuffix("-") ? stem.dropLast() : stem
        return known.contains(String(trimmed))
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
        "env", "gdb", "lldb", "strace", "ltrace", "valgrind", "rr", "proot", "bwrap", "fakeroot", "unshare", "nsenter",
    ]
}
