#include "CBelfryAssets.h"

// `#embed` is C23. The compiler knows it in every mode and writes the embedded files into the
// list of dependencies, so that a changed page is built in again; only its remark about the
// older mode is turned off here, because a package cannot choose C23 for one target alone.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char console_html[] = {
#embed "console.html"
};

static const unsigned char console_js[] = {
#embed "console.js"
};

static const unsigned char belfry_js[] = {
#embed "belfry.js"
};

// The contract stands at the top of the repository, where people look for it.
static const unsigned char openapi_yaml[] = {
#embed "../../openapi.yaml"
};

static const unsigned char asyncapi_yaml[] = {
#embed "../../asyncapi.yaml"
};

const unsigned char *belfry_asset_console(size_t *count) {
    *count = sizeof console_html;
    return console_html;
}

const unsigned char *belfry_asset_console_js(size_t *count) {
    *count = sizeof console_js;
    return console_js;
}

const unsigned char *belfry_asset_belfry_js(size_t *count) {
    *count = sizeof belfry_js;
    return belfry_js;
}

const unsigned char *belfry_asset_openapi(size_t *count) {
    *count = sizeof openapi_yaml;
    return openapi_yaml;
}

const unsigned char *belfry_asset_asyncapi(size_t *count) {
    *count = sizeof asyncapi_yaml;
    return asyncapi_yaml;
}
