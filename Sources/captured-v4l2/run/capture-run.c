/* capture-run: starts a program with libcaptured-v4l2.so in it. Says if the program cannot be reached this way. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define LIBRARY "libcaptured-v4l2.so"
#define LOCKDOWN "/etc/udev/rules.d/73-captured-lockdown.rules"
enum { usage_error = 64, no_library = 69, cannot_run = 126, not_found = 127, path_room = 4096 };

static const char help[] =
    "USAGE: capture-run [--] PROGRAM [ARGUMENT ...]\n"
    "\n"
    "Runs a V4L2 program with the cameras of captured. The person at the machine is\n"
    "asked when the program starts to stream. capturectl auth shows the answers.\n"
    "\n"
    "Static programs, programs in Go and setuid programs are not reached; it warns\n"
    "about them.\n"
    "\n"
    "OPTIONS:\n"
    "  --version  Show the version.\n"
    "  --help     Show this help.\n"
    "\n"
    "EXIT STATUS: that of the program; 64 for wrong arguments, 69 if the library is\n"
    "not installed, 74 if this help cannot be written, 126 if the program cannot be\n"
    "run, 127 if it is not found.\n";

static bool is_like_this(const char *path) {
    unsigned char own[20] = {0}, its[20] = {0};
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), other = open(path, O_RDONLY | O_CLOEXEC);
    bool is_like = file >= 0 && other >= 0 && read(file, own, sizeof own) == sizeof own &&
                   read(other, its, sizeof its) == sizeof its && own[EI_CLASS] == its[EI_CLASS] &&
                   !memcmp(own + offsetof(Elf64_Ehdr, e_machine), its + offsetof(Elf64_Ehdr, e_machine), 2);
    if (file >= 0) close(file);
    if (other >= 0) close(other);
    return is_like;
}

/* The library beside this program, or where it is installed: that of the same architecture. */
static bool find_library(char path[path_room]) {
    static const char *const places[] = {"/" LIBRARY, "/../lib/captured/" LIBRARY, "/../lib/*-linux-*/captured/" LIBRARY,
                                         "/../lib64/captured/" LIBRARY};
    char own[path_room];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length <= 0) return false;
    own[length] = 0;
    char *slash = strrchr(own, '/');
    if (slash) *slash = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char pattern[path_room + 64], *real = NULL;
        glob_t found = {0};
        snprintf(pattern, sizeof pattern, "%s%s", own, places[i]);
        if (glob(pattern, GLOB_NOSORT, NULL, &found)) found.gl_pathc = 0;
        for (size_t j = 0; j < found.gl_pathc && !real; j++)
            if (is_like_this(found.gl_pathv[j])) real = realpath(found.gl_pathv[j], NULL);
        globfree(&found);
        bool fits = real && strlen(real) < path_room && !strpbrk(real, ": ");
        if (fits) strcpy(path, real);
        free(real);
        if (fits) return true;
    }
    return false;
}

/* The file that a shell would run for a name. */
static bool find_program(const char *name, char path[path_room]) {
    if (strchr(name, '/')) return snprintf(path, path_room, "%s", name) < path_room;
    const char *list = getenv("PATH");
    if (!list) list = "/usr/local/bin:/usr/bin:/bin";
    while (true) {
        const char *end = strchrnul(list, ':');
        struct stat found;
        int length = snprintf(path, path_room, "%.*s%s%s", (int)(end - list), list, end > list ? "/" : "./", name);
        if (length < path_room && stat(path, &found) == 0 && S_ISREG(found.st_mode) && access(path, X_OK) == 0)
            return true;
        if (!*end) return false;
        list = end + 1;
    }
}

static bool is_note_of_go(int file, uint64_t offset, uint64_t size) {
    struct {
        Elf64_Nhdr head;
        char name[4];
    } note;
    return size >= sizeof note && pread(file, &note, sizeof note, (off_t)offset) == sizeof note &&
           note.head.n_namesz == 4 && !memcmp(note.name, "Go\0\0", 4);
}

/* What keeps the library out of a program, and the way that works. */
struct obstacle {
    const char *what, *instead;
};
static const struct obstacle is_static = {"is static", "use a build of it that loads libraries"},
                             is_go = {"is written in Go and makes system calls itself", "give it a file or stream"},
                             is_foreign = {"is of another architecture", "use a build of it for this one"},
                             is_setuid = {"is setuid or setgid", "use a copy of it without these bits"},
                             is_capable = {"has capabilities of its own", "use a copy of it without them"};

/* What keeps the library out of a program in ELF, or NULL. */
static const struct obstacle *obstacle_in_elf(int file, const unsigned char *start) {
    bool has_interpreter = false, has_note = false;
    if (start[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)) return &is_foreign;
#if __SIZEOF_POINTER__ == 8
    Elf64_Ehdr head;
    Elf64_Phdr part;
#else
    Elf32_Ehdr head;
    Elf32_Phdr part;
#endif
    if (pread(file, &head, sizeof head, 0) != sizeof head || head.e_phentsize != sizeof part) return NULL;
    for (unsigned i = 0; i < head.e_phnum; i++) {
        if (pread(file, &part, sizeof part, (off_t)(head.e_phoff + i * sizeof part)) != sizeof part) return NULL;
        has_interpreter |= part.p_type == PT_INTERP;
        has_note |= part.p_type == PT_NOTE && is_note_of_go(file, part.p_offset, part.p_filesz);
    }
    if (has_note) return &is_go;
    return has_interpreter ? NULL : &is_static;
}

/* What keeps the library out of a program, or NULL. `depth`: scripts name another program. */
static const struct obstacle *obstacle(const char *path, int depth) {
    char start[256] = {0};
    const struct obstacle *found = NULL;
    struct stat state;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return NULL;
    if (fstat(file, &state) == 0 && (state.st_mode & (S_ISUID | S_ISGID))) found = &is_setuid;
    else if (fgetxattr(file, "security.capability", NULL, 0) > 0) found = &is_capable;
    ssize_t length = pread(file, start, sizeof start - 1, 0);
    if (!found && length >= EI_NIDENT && !memcmp(start, ELFMAG, SELFMAG))
        found = obstacle_in_elf(file, (const unsigned char *)start);
    close(file);
    if (found || depth || length < 3 || memcmp(start, "#!", 2)) return found;
    char *interpreter = start + 2 + strspn(start + 2, " \t");
    interpreter[strcspn(interpreter, " \t\n")] = 0;
    return obstacle(interpreter, 1);
}

static int preload(const char *library) {
    const char *before = getenv("LD_PRELOAD");
    char *value;
    if (!before || !*before) return setenv("LD_PRELOAD", library, 1);
    if (strstr(before, library)) return 0;
    if (asprintf(&value, "%s:%s", library, before) < 0) return -1;
    int result = setenv("LD_PRELOAD", value, 1);
    free(value);
    return result;
}

int main(int count, char **arguments) {
    char library[path_room], program[path_room];
    int first = 1;
    if (count > 1 && !strcmp(arguments[1], "--help")) return fputs(help, stdout) < 0 || fflush(stdout) ? 74 : 0;
    if (count > 1 && !strcmp(arguments[1], "--version"))
        return puts("capture-run " CAPTURE_VERSION) < 0 || fflush(stdout) ? 74 : 0;
    if (count > 1 && !strcmp(arguments[1], "--")) first++;
    else if (count > 1 && arguments[1][0] == '-') {
        fprintf(stderr, "capture-run: there is no option %s; see capture-run --help\n", arguments[1]);
        return usage_error;
    }
    if (first >= count) {
        fputs("capture-run: name a program to run; see capture-run --help\n", stderr);
        return usage_error;
    }
    const char *name = arguments[first];
    if (!find_library(library)) {
        fputs("capture-run: cannot find " LIBRARY "; install captured again\n", stderr);
        return no_library;
    }
    if (!find_program(name, program)) {
        fprintf(stderr, "capture-run: cannot find %s; is it installed?\n", name);
        return not_found;
    }
    const struct obstacle *why = obstacle(program, 0);
    if (why)
        fprintf(stderr, "capture-run: %s %s, so captured does not reach it: %s; %s, or record with: capturectl record\n",
                name, why->what,
                access(LOCKDOWN, F_OK) == 0 ? "the lockdown keeps cameras from it" : "it opens cameras without asking",
                why->instead);
    if (preload(library) < 0) {
        fprintf(stderr, "capture-run: cannot set LD_PRELOAD: %s\n", strerror(errno));
        return cannot_run;
    }
    execv(program, arguments + first);
    int error = errno;
    if (error == ENOEXEC) {
        /* A script without a first line of its own, as shells run it. */
        execvp(program, arguments + first);
    }
    fprintf(stderr, "capture-run: cannot run %s: %s\n", name, strerror(error));
    return error == ENOENT || error == ENOTDIR ? not_found : cannot_run;
}
