/* Atomic access to words in shared memory. Swift's Atomic owns its storage and cannot stand on a mapped address. */
#pragma once
#include <stdint.h>

static inline uint32_t clinux_load_acquire_u32(const void *word) {
    return __atomic_load_n((const uint32_t *)word, __ATOMIC_ACQUIRE);
}
static inline uint64_t clinux_load_acquire_u64(const void *word) {
    return __atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE);
}
static inline uint64_t clinux_load_relaxed_u64(const void *word) {
    return __atomic_load_n((const uint64_t *)word, __ATOMIC_RELAXED);
}
static inline uint32_t clinux_load_relaxed_u32(const void *word) {
    return __atomic_load_n((const uint32_t *)word, __ATOMIC_RELAXED);
}
static inline void clinux_store_release_u64(void *word, uint64_t value) {
    __atomic_store_n((uint64_t *)word, value, __ATOMIC_RELEASE);
}
static inline void clinux_store_relaxed_u64(void *word, uint64_t value) {
    __atomic_store_n((uint64_t *)word, value, __ATOMIC_RELAXED);
}
static inline void clinux_store_relaxed_u32(void *word, uint32_t value) {
    __atomic_store_n((uint32_t *)word, value, __ATOMIC_RELAXED);
}
static inline int clinux_replace_zero_u32(void *word, uint32_t value) {
    uint32_t zero = 0;
    return __atomic_compare_exchange_n((uint32_t *)word, &zero, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
static inline uint32_t clinux_add_u32(void *word, uint32_t value) {
    return __atomic_add_fetch((uint32_t *)word, value, __ATOMIC_ACQ_REL);
}
static inline uint64_t clinux_add_u64(void *word, uint64_t value) {
    return __atomic_add_fetch((uint64_t *)word, value, __ATOMIC_ACQ_REL);
}
/* The two fences of a sequence lock: data reads stay before the second look at the generation, and data writes after
   the generation went odd. */
static inline void clinux_fence_acquire(void) { __atomic_thread_fence(__ATOMIC_ACQUIRE); }
static inline void clinux_fence_full(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
