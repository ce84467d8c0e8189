/* libav comes with 140 libraries, whose loading takes ten times as long as the rest of a recorder's start; photos, frames,
   WAV files and copies need none of them. So the programs here are not linked with libav: each function below is a jump
   through a slot, which is empty until the libraries are loaded. */
#include "CLibAV.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#if LIBAVFORMAT_VERSION_MAJOR >= 61
#define MOVED(X) X(av_packet_side_data_get) X(av_packet_side_data_add)
#else
#define MOVED(X) X(av_stream_get_side_data) X(av_stream_add_side_data)
#endif
/* What is called anywhere here; the linker names one that is missing. */
#define FUNCTIONS(X) \
    X(av_audio_fifo_alloc) X(av_audio_fifo_free) X(av_audio_fifo_read) X(av_audio_fifo_size) X(av_audio_fifo_write) \
    X(av_buffer_create) X(av_buffer_ref) X(av_buffer_unref) X(av_channel_layout_copy) X(av_channel_layout_default) \
    X(av_crc) X(av_crc_get_table) X(av_dict_free) X(av_dict_get) X(av_dict_set) X(av_display_matrix_flip) \
    X(av_display_rotation_get) X(av_find_input_format) X(av_frame_alloc) X(av_frame_copy_props) X(av_frame_free) \
    X(av_frame_get_buffer) X(av_frame_unref) X(av_free) X(av_get_packed_sample_fmt) X(av_guess_sample_aspect_ratio) \
    X(av_hwdevice_ctx_create) X(av_hwframe_ctx_alloc) X(av_hwframe_ctx_init) X(av_hwframe_get_buffer) \
    X(av_hwframe_transfer_data) X(av_image_check_size) X(av_image_get_linesize) X(av_log_set_level) X(av_malloc) \
    X(av_mallocz) X(av_new_packet) X(av_opt_set_int) X(av_packet_alloc) X(av_packet_free) X(av_packet_unref) \
    X(av_realloc_array) \
    X(av_read_frame) X(av_rescale) X(av_rescale_q) X(av_rescale_q_rnd) X(av_sample_fmt_is_planar) X(av_seek_frame) \
    X(av_spherical_alloc) \
    X(av_strerror) X(av_write_frame) X(av_write_trailer) X(avcodec_alloc_context3) X(avcodec_default_get_buffer2) \
    X(avcodec_find_decoder) X(avcodec_find_encoder) X(avcodec_find_encoder_by_name) X(avcodec_flush_buffers) \
    X(avcodec_free_context) X(avcodec_get_name) X(avcodec_open2) X(avcodec_parameters_from_context) \
    X(avcodec_parameters_to_context) X(avcodec_receive_frame) X(avcodec_receive_packet) X(avcodec_send_frame) \
    X(avcodec_send_packet) X(avformat_alloc_context) X(avformat_alloc_output_context2) X(avformat_close_input) \
    X(avformat_find_stream_info) X(avformat_free_context) X(avformat_index_get_entries_count) \
    X(avformat_index_get_entry) X(avformat_new_stream) X(avformat_open_input) X(avformat_write_header) \
    X(avio_alloc_context) X(avio_context_free) X(avio_flush) X(swr_alloc_set_opts2) X(swr_convert) X(swr_free) \
    X(swr_get_delay) X(swr_get_out_samples) X(swr_init) X(swr_set_compensation) X(swr_set_matrix) \
    X(sws_freeContext) X(sws_getCoefficients) X(sws_getContext) X(sws_isSupportedInput) X(sws_scale) X(sws_scale_frame) \
    X(sws_setColorspaceDetails) \
    MOVED(X)

/* With an empty slot, a call goes to cav_first, which keeps the arguments, loads, and comes back to the call. */
#if defined(__x86_64__)
#define JUMP(name) \
    "movq cav_" #name "(%rip), %r11\n" \
    "testq %r11, %r11\n" \
    "jnz 1f\n" \
    "leaq " #name "(%rip), %r11\n" \
    "jmp cav_first\n" \
    "1: jmpq *%r11\n"
__asm__(".text\n"
        "cav_first:\n"
        "pushq %r11\n pushq %rdi\n pushq %rsi\n pushq %rdx\n pushq %rcx\n pushq %r8\n pushq %r9\n"
        "call cav_need\n"
        "popq %r9\n popq %r8\n popq %rcx\n popq %rdx\n popq %rsi\n popq %rdi\n"
        "ret\n");
#elif defined(__aarch64__)
#define JUMP(name) \
    "adrp x16, cav_" #name "\n" \
    "ldr x16, [x16, :lo12:cav_" #name "]\n" \
    "cbz x16, 1f\n" \
    "br x16\n" \
    "1: adr x16, " #name "\n" \
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
#define FUNCTION(name) \
    void *cav_##name __attribute__((visibility("hidden"))); \
    __asm__(".globl " #name "\n.hidden " #name "\n.type " #name ", @function\n.balign 16\n" #name ":\n" JUMP(name));
FUNCTIONS(FUNCTION)

#define NAME(library, major) "lib" #library ".so." AV_STRINGIFY(major)
static const char *const libraries[] = {
    NAME(avutil, LIBAVUTIL_VERSION_MAJOR),         NAME(swresample, LIBSWRESAMPLE_VERSION_MAJOR),
    NAME(avcodec, LIBAVCODEC_VERSION_MAJOR),       NAME(avformat, LIBAVFORMAT_VERSION_MAJOR),
    NAME(swscale, LIBSWSCALE_VERSION_MAJOR),
};
#define LIBRARIES (sizeof libraries / sizeof *libraries)

static char failure[512];

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
#define ENTRY(name) {#name, &cav_##name},
        FUNCTIONS(ENTRY)
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
    av_log_set_level(AV_LOG_ERROR);
}

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
