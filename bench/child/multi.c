/* What the faces are measured with: the same work as noop, echo, cat and sleep, in one small program,
 * since a pack has one bin. */
#include <fcntl.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>

static char buffer[1 << 16];

int main(int argc, char **argv) {
  if (argc < 2 || !strcmp(argv[1], "noop")) return 0;
  if (argc < 3) return 2;
  if (!strcmp(argv[1], "echo")) {
    size_t length = strlen(argv[2]);
    return write(1, argv[2], length) != (ssize_t)length || write(1, "\n", 1) != 1;
  }
  if (!strcmp(argv[1], "sleep")) {
    sleep((unsigned)atoi(argv[2]));
    return 0;
  }
  int file = open(argv[2], O_RDONLY);
  ssize_t count;
  while ((count = read(file, buffer, sizeof buffer)) > 0)
    for (ssize_t done = 0, part; done < count; done += part)
      if ((part = write(1, buffer + done, (size_t)(count - done))) <= 0) return 1;
  return count < 0;
}
