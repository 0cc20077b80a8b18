#ifndef CBELFRYASSETS_H
#define CBELFRYASSETS_H

#include <stddef.h>

#pragma clang assume_nonnull begin

/// The files that the broker serves from its own binary, as the bytes that were built in.
///
/// Each function stores the number of bytes in `count` and gives a pointer to the first one.
/// The bytes are constant, live as long as the process and do not end with a NUL.

/// The console page: `/`, `text/html; charset=utf-8`.
const unsigned char *belfry_asset_console(size_t *count);

/// The script of the console page: `/console.js`, `text/javascript; charset=utf-8`.
const unsigned char *belfry_asset_console_js(size_t *count);

/// The notification center for browsers: `/belfry.js`, `text/javascript; charset=utf-8`.
const unsigned char *belfry_asset_belfry_js(size_t *count);

/// The description of the HTTP API: `/openapi.yaml`, `application/yaml` (RFC 9512).
const unsigned char *belfry_asset_openapi(size_t *count);

/// The description of WebSocket and event streams: `/asyncapi.yaml`, `application/yaml`.
const unsigned char *belfry_asset_asyncapi(size_t *count);

#pragma clang assume_nonnull end

#endif
