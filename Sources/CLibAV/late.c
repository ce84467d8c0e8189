/* libav comes with 140 libraries, whose loading takes ten times as long as the rest of a recorder's start; photos, frames,
   WAV files and copies need none of them. So the programs here are not linked with libav: each function that they call is
   a jump through a slot, which is empty until the libraries are loaded. */
#include "CLibAV.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* The name of our own. */
#define TEXT(name) #name
#define OWN(name) TEXT(name)

/* With an empty slot, a call goes to cav_first, which keeps the arguments, loads, and comes back to the call. */
#if defined(__x86_64__)
#define JUMP(name, own) \
    "movq cav_slot_" name "(%rip), %r11\n" \
    "testq %r11, %r11\n" \
    "jnz 1f\n" \
    "leaq " own "(%rip), %r11\n" \
    "jmp cav_first\n" \
    "1: jmpq *%r11\n"
__asm__(".text\n"
        "cav_first:\n"
        "pushq %r11\n pushq %rdi\n pushq %rsi\n pushq %rdx\n pushq %rcx\n pushq %r8\n pushq %r9\n"
        "call cav_need\n"
        "popq %r9\n popq %r8\n popq %rcx\n popq %rdx\n popq %rsi\n popq %rdi\n"
        "ret\n");
#elif defined(__aarch64__)
#define JUMP(name, own) \
    "adrp x16, cav_slot_" name "\n" \
    "ldr x16, [x16, :lo12:cav_slot_" name "]\n" \
    "cbz x16, 1f\n" \
    "br x16\n" \
    "1: adr x16, " own "\n" \
    "b cav_first\n"
__asm__(".text\n"
        "cav_first:\n"
        "stp x29, x30, [sp, #-96]!\n stp x0, x1, [sp, #16]\n stp x2, x3, [sp, #32]\n"
        "stp x4, x5, [sp, #48]\n stp x6, x7, [sp, #64]\n stp x8, x16, [sp, #80]\n"
        "bl cav_need\n"
        "ldp x8, x16, [sp, #80]\n ldp x6, x7, [sp, #64]\n ldp x4, x5, [sp, #48]\n"
        "ldp x2, x3, [sp, #32]\n ldp x0, x1, [sp, #16]\n ldp x29, x30, [sp], #96\n"
        "br x16\n");
#else
#error "write a jump through a slot for this processor"
#endif

/* No function here takes a floating-point number, whose registers cav_first does not keep. */
#define FUNCTION(name, count) \
    _Static_assert(sizeof OWN(name) == sizeof "c" #name, "name " #name " in CLibAVNames.h"); \
    void *cav_slot_##name __attribute__((visibility("hidden"))); \
    __asm__(".globl " OWN(name) "\n.hidden " OWN(name) "\n.type " OWN(name) ", @function\n.balign 16\n" OWN(name) ":\n" \
            JUMP(#name, OWN(name)));
CAV_FUNCTIONS(FUNCTION)

#define NAME(library, major) "lib" #library ".so." AV_STRINGIFY(major)
static const char *const libraries[] = {
    NAME(avutil, LIBAVUTIL_VERSION_MAJOR),         NAME(swresample, LIBSWRESAMPLE_VERSION_MAJOR),
    NAME(avcodec, LIBAVCODEC_VERSION_MAJOR),       NAME(avformat, LIBAVFORMAT_VERSION_MAJOR),
    NAME(swscale, LIBSWSCALE_VERSION_MAJOR),
};
#define LIBRARIES (sizeof libraries / sizeof *libraries)

static char failure[512];
static int logs_errors_only;

static void load(void) {
    void *handles[LIBRARIES];
    for (size_t i = 0; i < LIBRARIES; i++) {
        handles[i] = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
        if (!handles[i]) {
            snprintf(failure, sizeof failure, "%s", dlerror());
            return;
        }
    }
    static const struct {
        const char *name;
        void **slot;
    } functions[] = {
#define ENTRY(name, count) {#name, &cav_slot_##name},
        CAV_FUNCTIONS(ENTRY)
    };
    for (size_t n = 0; n < sizeof functions / sizeof *functions; n++) {
        void *found = NULL;
        for (size_t i = 0; i < LIBRARIES && !found; i++) found = dlsym(handles[i], functions[n].name);
        if (!found) {
            snprintf(failure, sizeof failure, "libav has no function %s", functions[n].name);
            return;
        }
        __atomic_store_n(functions[n].slot, found, __ATOMIC_RELEASE);
    }
    if (logs_errors_only) av_log_set_level(AV_LOG_ERROR);
}

void cav_log_errors_only(void) { logs_errors_only = 1; }

const char *cav_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return *failure ? failure : NULL;
}

__attribute__((used, visibility("hidden"))) void cav_need(void) {
    const char *why = cav_load();
    if (!why) return;
    fprintf(stderr, "libav cannot be loaded: %s\n", why);
    _exit(70);
}
