/* peak PROGRAM [ARGUMENT…]: runs the program and prints the most memory it held, in KiB.
 *
 * The kernel counts the memory that a process had before it became another program, too. This one is
 * small for that reason: a parent of the size of an interpreter would be measured instead. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **words) {
  struct rusage usage;
  int status;
  pid_t child;

  if (count < 2) return 2;
  child = fork();
  if (child < 0) return 1;
  if (child == 0) {
    dup2(2, 1);
    execv(words[1], words + 1);
    _exit(127);
  }
  if (wait4(child, &status, 0, &usage) != child) return 1;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return 1;
  printf("%ld\n", usage.ru_maxrss);
  return 0;
}
