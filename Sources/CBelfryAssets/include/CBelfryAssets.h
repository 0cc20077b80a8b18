#ifndef C_BELFRY_ASSETS_H
#define C_BELFRY_ASSETS_H

#include <stddef.h>
#include <stdint.h>

/// The files that the broker serves and that are built into it, in the order of `Asset`.
enum belfry_asset {
    belfry_asset_console,
    belfry_asset_console_js,
    belfry_asset_belfry_js,
    belfry_asset_belfry_d_ts,
    belfry_asset_openapi,
    belfry_asset_openapi_json,
    belfry_asset_asyncapi,
};

/// The size of a file in bytes.
size_t belfry_asset_byte_count(enum belfry_asset asset);

/// One byte of a file; 0 past its end. Swift reads it without a pointer.
uint8_t belfry_asset_byte(enum belfry_asset asset, size_t index);

#endif
