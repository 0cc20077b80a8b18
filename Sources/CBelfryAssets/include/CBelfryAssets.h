#ifndef C_BELFRY_ASSETS_H
#define C_BELFRY_ASSETS_H

#include <stddef.h>
#include <stdint.h>

/// The files that the broker serves and that are built into it, in the order of `Asset`.
///
/// Behind them are files that were compressed with gzip in advance.
enum belfry_asset {
    belfry_asset_console,
    belfry_asset_desk,
    belfry_asset_desk_worker,
    belfry_asset_belfry_js,
    belfry_asset_belfry_debug_js,
    belfry_asset_belfry_d_ts,
    belfry_asset_openapi,
    belfry_asset_openapi_json,
    belfry_asset_asyncapi,
    belfry_asset_belfry_js_gzip,
};

/// The size of a file in bytes.
size_t belfry_asset_byte_count(enum belfry_asset asset);

/// One byte of a file; 0 past its end. Swift reads it without a pointer.
uint8_t belfry_asset_byte(enum belfry_asset asset, size_t index);

/// A folder of files that belong to a page, in the order of `AssetFolder`.
enum belfry_folder {
    belfry_folder_console,
    belfry_folder_desk,
};

/// How many files a folder has.
size_t belfry_folder_file_count(enum belfry_folder folder);

/// One byte of the name of such a file; 0 at its end, behind which nothing is asked for.
uint8_t belfry_folder_file_name(enum belfry_folder folder, size_t file, size_t index);

/// The size of such a file in bytes.
size_t belfry_folder_file_byte_count(enum belfry_folder folder, size_t file);

/// One byte of such a file; 0 past its end.
uint8_t belfry_folder_file_byte(enum belfry_folder folder, size_t file, size_t index);

#endif
