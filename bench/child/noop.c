/* The program that every contender starts: as little as a process can be, so that what is measured
 * is what stands around it. */
int main(void) { return 0; }
