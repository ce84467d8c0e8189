import ArgumentParser

/// The script that completes command lines in bash.
enum CompletionScript {
    /// - Returns: `nil` for arguments that ask for something else.
    static func requested(by arguments: [String]) -> String? {
        let request = "--generate-completion-script"
        guard arguments == [request, "bash"] || arguments == [request + "=bash"] else { return nil }
        return Capturectl.completionScript(for: .bash) + "\n" + colons
    }

    /// Bash ends words at colons, but ids contain colons.
    private static let colons = #"""
        # Ids and formats have colons and an @, at which bash ends words: they are put together again.
        _capturectl_whole() {
            local -a words=()
            local -i index cword=0
            local word blanks rest="${COMP_LINE}"
            for index in "${!COMP_WORDS[@]}"; do
                word="${COMP_WORDS[index]}"
                blanks="${rest%%[![:space:]]*}"
                rest="${rest#"${blanks}"}"
                rest="${rest#"${word}"}"
                if [[ -n ${words[*]} && -z ${blanks} && (${word} == [:@]* || ${words[${#words[@]} - 1]} == *[:@]) ]]; then
                    words[${#words[@]} - 1]+="${word}"
                else
                    words+=("${word}")
                fi
                ((index == COMP_CWORD)) && cword=$((${#words[@]} - 1))
            done
            COMP_WORDS=("${words[@]}")
            COMP_CWORD=${cword}
            local cur="${words[cword]}"
            _capturectl "${1}" "${cur}" "${words[cword > 0 ? cword - 1 : 0]}"
            # What stands before the last of them is there already.
            if [[ ${cur} == *[:@]* && ${COMP_WORDBREAKS} == *[:@]* ]]; then
                COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*[:@]}"}"}")
            fi
            # An id is no file's name, though it may have a slash; one with a space is quoted as those are.
            for word in "${COMPREPLY[@]}"; do
                [[ ${word} == *' '* || -e ${word} ]] && return
            done
            compopt +o filenames
        }

        complete -o filenames -F _capturectl_whole capturectl
        """#
}
