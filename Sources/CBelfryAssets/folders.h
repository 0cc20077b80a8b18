#ifndef BELFRY_FOLDERS_H
#define BELFRY_FOLDERS_H

#include <stddef.h>

/// A file of a folder of `Web`.
struct folder_file {
    const char *name;
    const unsigned char *bytes;
    size_t byte_count;
};

extern const struct folder_file belfry_console_files[];
extern const size_t belfry_console_file_count;

extern const struct folder_file belfry_desk_files[];
extern const size_t belfry_desk_file_count;

#endif
