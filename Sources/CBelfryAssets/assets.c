#include "CBelfryAssets.h"

// `#embed` is C23. The compiler knows it in every mode and writes the embedded files into the
// list of dependencies, so that a changed page is built in again; only its remark about the
// older mode is turned off here, because a package cannot choose C23 for one target alone.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char console_html[] = {
#embed "../../Web/console.html"
};

static const unsigned char console_js[] = {
#embed "../../Web/console.js"
};

static const unsigned char belfry_js[] = {
#embed "../../Web/belfry.js"
};

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

static struct file file(enum belfry_asset asset) {
    switch (asset) {
    case belfry_asset_console:
        return (struct file){console_html, sizeof console_html};
    case belfry_asset_console_js:
        return (struct file){console_js, sizeof console_js};
    case belfry_asset_belfry_js:
        return (struct file){belfry_js, sizeof belfry_js};
    case belfry_asset_openapi:
        return (struct file){openapi_yaml, sizeof openapi_yaml};
    case belfry_asset_openapi_json:
        return (struct file){openapi_json, sizeof openapi_json};
    case belfry_asset_asyncapi:
        return (struct file){asyncapi_yaml, sizeof asyncapi_yaml};
    }
    return (struct file){0, 0};
}

size_t belfry_asset_byte_count(enum belfry_asset asset) {
    return file(asset).byte_count;
}

uint8_t belfry_asset_byte(enum belfry_asset asset, size_t index) {
    struct file found = file(asset);
    return index < found.byte_count ? found.bytes[index] : 0;
}
