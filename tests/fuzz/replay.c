/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Runs a fuzz target over all files of the folders (or the files) that are named: the corpus and
 * inputs that once failed. A build with sanitizers turns every defect into a failure.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        return 1;
    }
    uint8_t *data = malloc(1 << 20);
    const size_t size = data ? fread(data, 1, 1 << 20, f) : 0;
    const int bad = !data || ferror(f);
    fclose(f);
    /* An allocation of the exact size, so that reading one byte beyond is seen. */
    uint8_t *exact = malloc(size ? size : 1);
    if (!bad && exact) {
        for (size_t i = 0; i < size; i++) {
            exact[i] = data[i];
        }
        LLVMFuzzerTestOneInput(exact, size);
    }
    free(exact);
    free(data);
    return bad;
}

int main(int argc, char **argv)
{
    int n = 0, failed = 0;
    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);
        if (!dir) {
            failed += run_file(argv[i]);
            n++;
            continue;
        }
        for (const struct dirent *e; (e = readdir(dir));) {
            char path[4096];
            struct stat st;
            snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
            if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
                failed += run_file(path);
                n++;
            }
        }
        closedir(dir);
    }
    printf("%d inputs replayed, %d unreadable\n", n, failed);
    return failed || n == 0;
}
