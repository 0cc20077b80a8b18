#include "CBelfryAssets.h"
#include "folders.h"

static const struct folder_file *file_at(enum belfry_folder folder, size_t file) {
    return (folder == belfry_folder_desk ? belfry_desk_files : belfry_console_files) + file;
}

size_t belfry_folder_file_count(enum belfry_folder folder) {
    return folder == belfry_folder_desk ? belfry_desk_file_count : belfry_console_file_count;
}

uint8_t belfry_folder_file_name(enum belfry_folder folder, size_t file, size_t index) {
    return (uint8_t)file_at(folder, file)->name[index];
}

size_t belfry_folder_file_byte_count(enum belfry_folder folder, size_t file) {
    return file_at(folder, file)->byte_count;
}

uint8_t belfry_folder_file_byte(enum belfry_folder folder, size_t file, size_t index) {
    const struct folder_file *found = file_at(folder, file);
    return index < found->byte_count ? found->bytes[index] : 0;
}
