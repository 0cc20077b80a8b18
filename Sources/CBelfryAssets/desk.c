#include "folders.h"

// The modules, the style, the icons and the manifest of the desk, each a file of `Web/desk`.
// See assets.c for `#embed`.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char alerts_js[] = {
#embed "../../Web/desk/alerts.js"
};
static const unsigned char answers_js[] = {
#embed "../../Web/desk/answers.js"
};
static const unsigned char desk_css[] = {
#embed "../../Web/desk/desk.css"
};
static const unsigned char desk_js[] = {
#embed "../../Web/desk/desk.js"
};
static const unsigned char door_js[] = {
#embed "../../Web/desk/door.js"
};
static const unsigned char icon_png[] = {
#embed "../../Web/desk/icon.png"
};
static const unsigned char icon_svg[] = {
#embed "../../Web/desk/icon.svg"
};
static const unsigned char main_js[] = {
#embed "../../Web/desk/main.js"
};
static const unsigned char manifest_webmanifest[] = {
#embed "../../Web/desk/manifest.webmanifest"
};
static const unsigned char settings_js[] = {
#embed "../../Web/desk/settings.js"
};
static const unsigned char view_js[] = {
#embed "../../Web/desk/view.js"
};

const struct folder_file belfry_desk_files[] = {
    {"alerts.js", alerts_js, sizeof alerts_js},
    {"answers.js", answers_js, sizeof answers_js},
    {"desk.css", desk_css, sizeof desk_css},
    {"desk.js", desk_js, sizeof desk_js},
    {"door.js", door_js, sizeof door_js},
    {"icon.png", icon_png, sizeof icon_png},
    {"icon.svg", icon_svg, sizeof icon_svg},
    {"main.js", main_js, sizeof main_js},
    {"manifest.webmanifest", manifest_webmanifest, sizeof manifest_webmanifest},
    {"settings.js", settings_js, sizeof settings_js},
    {"view.js", view_js, sizeof view_js},
};

const size_t belfry_desk_file_count = sizeof belfry_desk_files / sizeof belfry_desk_files[0];
