#include "CBelfryAssets.h"

// `#embed` is C23. The compiler knows it in every mode and writes the embedded files into the
// list of dependencies, so that a changed page is built in again; only its remark about the
// older mode is turned off here, because a package cannot choose C23 for one target alone.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char console_html[] = {
#embed "../../Web/console.html"
};

static const unsigned char desk_html[] = {
#embed "../../Web/desk.html"
};

static const unsigned char desk_worker_js[] = {
#embed "../../Web/desk-worker.js"
};

// Scripts/library makes these two of the file below.
static const unsigned char belfry_js[] = {
#embed "../../Web/belfry.min.js"
};

static const unsigned char belfry_js_gzip[] = {
#embed "../../Web/belfry.min.js.gz"
};

static const unsigned char belfry_debug_js[] = {
#embed "../../Web/belfry.js"
};

#if __has_embed("../../Web/belfry.d.ts")
static const unsigned char belfry_d_ts[] = {
#embed "../../Web/belfry.d.ts"
};
#endif

// The contract stands at the top of the repository, where people look for it; so does `Web`.
static const unsigned char openapi_yaml[] = {
#embed "../../openapi.yaml"
};

static const unsigned char openapi_json[] = {
#embed "../../openapi.json"
};

static const unsigned char asyncapi_yaml[] = {
#embed "../../asyncapi.yaml"
};

struct file {
    const unsigned char *bytes;
    size_t byte_count;
};

// What stands for a file without bytes is a file that is not there.
static const struct file files[] = {
    [belfry_asset_console] = {console_html, sizeof console_html},
    [belfry_asset_desk] = {desk_html, sizeof desk_html},
    [belfry_asset_desk_worker] = {desk_worker_js, sizeof desk_worker_js},
    [belfry_asset_belfry_js] = {belfry_js, sizeof belfry_js},
    [belfry_asset_belfry_js_gzip] = {belfry_js_gzip, sizeof belfry_js_gzip},
    [belfry_asset_belfry_debug_js] = {belfry_debug_js, sizeof belfry_debug_js},
#if __has_embed("../../Web/belfry.d.ts")
    [belfry_asset_belfry_d_ts] = {belfry_d_ts, sizeof belfry_d_ts},
#endif
    [belfry_asset_openapi] = {openapi_yaml, sizeof openapi_yaml},
    [belfry_asset_openapi_json] = {openapi_json, sizeof openapi_json},
    [belfry_asset_asyncapi] = {asyncapi_yaml, sizeof asyncapi_yaml},
};

size_t belfry_asset_byte_count(enum belfry_asset asset) {
    return files[asset].byte_count;
}

uint8_t belfry_asset_byte(enum belfry_asset asset, size_t index) {
    return index < files[asset].byte_count ? files[asset].bytes[index] : 0;
}
