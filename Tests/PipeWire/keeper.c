/* Keeps another program's pictures in ways that are hard to see. Prints `ready`, and stays until it is killed.

   keeper MEMORY ended          maps it, and ends its first thread
   keeper MEMORY many FOLDER    maps it beside so many others that nobody reads the list to its end */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { most = 60000 };

static void *stay(void *unused) {
    (void)unused;
    puts("ready");
    fflush(stdout);
    while (1) pause();
    return NULL;
}

static void map(int file) {
    if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0) == MAP_FAILED) exit(71);
}

int main(int count, char **words) {
    int file = count > 2 ? open(words[1], O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return 66;
    if (!strcmp(words[2], "ended")) {
        pthread_t thread;
        map(file);
        close(file);
        if (pthread_create(&thread, NULL, stay, NULL)) return 71;
        pthread_exit(NULL);
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/%0250d", count > 3 ? words[3] : ".", 0);
    int other = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (other < 0 || ftruncate(other, 4096)) return 73;
    /* The kernel lists them by address, and gives out lower ones later. */
    map(file);
    close(file);
    for (int i = 0; i < most; i++) map(other);
    unlink(path);
    stay(NULL);
}
