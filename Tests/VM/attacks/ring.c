/* Has the memory of a camera's frames, and runs a command with it: ring COMMAND..., in which the word FD becomes the number
   of its descriptor. Prints `ring`. Ends with the command. */
#include "attack.h"
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **words) {
    char number[16];
    int status;
    if (count < 2) return not_tried;
    int file = capture_memory(connect_bus());
    if (file < 0) return refused;
    snprintf(number, sizeof number, "%d", file);
    for (int place = 1; place < count; place++)
        if (!strcmp(words[place], "FD")) words[place] = number;
    puts("ring");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) become(words + 1);
    if (child < 0 || waitpid(child, &status, 0) < 0) give_up(words[1]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : not_tried;
}
