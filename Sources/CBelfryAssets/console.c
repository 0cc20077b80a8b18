#include "folders.h"

// The modules and the styles of the console page, each a file of `Web/console` and a row of the table.
// See assets.c for `#embed`.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char archives_js[] = {
#embed "../../Web/console/archives.js"
};
static const unsigned char asking_js[] = {
#embed "../../Web/console/asking.js"
};
static const unsigned char broker_js[] = {
#embed "../../Web/console/broker.js"
};
static const unsigned char caller_js[] = {
#embed "../../Web/console/caller.js"
};
static const unsigned char channels_js[] = {
#embed "../../Web/console/channels.js"
};
static const unsigned char charts_js[] = {
#embed "../../Web/console/charts.js"
};
static const unsigned char clients_js[] = {
#embed "../../Web/console/clients.js"
};
static const unsigned char confirm_js[] = {
#embed "../../Web/console/confirm.js"
};
static const unsigned char console_css[] = {
#embed "../../Web/console/console.css"
};
static const unsigned char copy_js[] = {
#embed "../../Web/console/copy.js"
};
static const unsigned char door_js[] = {
#embed "../../Web/console/door.js"
};
static const unsigned char draft_js[] = {
#embed "../../Web/console/draft.js"
};
static const unsigned char explain_js[] = {
#embed "../../Web/console/explain.js"
};
static const unsigned char feed_js[] = {
#embed "../../Web/console/feed.js"
};
static const unsigned char figures_js[] = {
#embed "../../Web/console/figures.js"
};
static const unsigned char first_js[] = {
#embed "../../Web/console/first.js"
};
static const unsigned char frame_js[] = {
#embed "../../Web/console/frame.js"
};
static const unsigned char help_js[] = {
#embed "../../Web/console/help.js"
};
static const unsigned char history_js[] = {
#embed "../../Web/console/history.js"
};
static const unsigned char keys_js[] = {
#embed "../../Web/console/keys.js"
};
static const unsigned char limits_js[] = {
#embed "../../Web/console/limits.js"
};
static const unsigned char list_js[] = {
#embed "../../Web/console/list.js"
};
static const unsigned char looks_js[] = {
#embed "../../Web/console/looks.js"
};
static const unsigned char main_js[] = {
#embed "../../Web/console/main.js"
};
static const unsigned char observer_js[] = {
#embed "../../Web/console/observer.js"
};
static const unsigned char observers_js[] = {
#embed "../../Web/console/observers.js"
};
static const unsigned char overview_js[] = {
#embed "../../Web/console/overview.js"
};
static const unsigned char own_js[] = {
#embed "../../Web/console/own.js"
};
static const unsigned char palette_css[] = {
#embed "../../Web/console/palette.css"
};
static const unsigned char parts_js[] = {
#embed "../../Web/console/parts.js"
};
static const unsigned char post_js[] = {
#embed "../../Web/console/post.js"
};
static const unsigned char queue_js[] = {
#embed "../../Web/console/queue.js"
};
static const unsigned char readings_js[] = {
#embed "../../Web/console/readings.js"
};
static const unsigned char receipt_js[] = {
#embed "../../Web/console/receipt.js"
};
static const unsigned char reports_js[] = {
#embed "../../Web/console/reports.js"
};
static const unsigned char responders_js[] = {
#embed "../../Web/console/responders.js"
};
static const unsigned char route_js[] = {
#embed "../../Web/console/route.js"
};
static const unsigned char search_js[] = {
#embed "../../Web/console/search.js"
};
static const unsigned char selectors_js[] = {
#embed "../../Web/console/selectors.js"
};
static const unsigned char snippets_js[] = {
#embed "../../Web/console/snippets.js"
};
static const unsigned char tail_js[] = {
#embed "../../Web/console/tail.js"
};
static const unsigned char tailview_js[] = {
#embed "../../Web/console/tailview.js"
};
static const unsigned char timers_js[] = {
#embed "../../Web/console/timers.js"
};
static const unsigned char tree_js[] = {
#embed "../../Web/console/tree.js"
};
static const unsigned char unheard_js[] = {
#embed "../../Web/console/unheard.js"
};
static const unsigned char values_js[] = {
#embed "../../Web/console/values.js"
};
static const unsigned char views_js[] = {
#embed "../../Web/console/views.js"
};
static const unsigned char waits_js[] = {
#embed "../../Web/console/waits.js"
};
static const unsigned char words_js[] = {
#embed "../../Web/console/words.js"
};

const struct folder_file belfry_console_files[] = {
    {"archives.js", archives_js, sizeof archives_js},
    {"asking.js", asking_js, sizeof asking_js},
    {"broker.js", broker_js, sizeof broker_js},
    {"caller.js", caller_js, sizeof caller_js},
    {"channels.js", channels_js, sizeof channels_js},
    {"charts.js", charts_js, sizeof charts_js},
    {"clients.js", clients_js, sizeof clients_js},
    {"confirm.js", confirm_js, sizeof confirm_js},
    {"console.css", console_css, sizeof console_css},
    {"copy.js", copy_js, sizeof copy_js},
    {"door.js", door_js, sizeof door_js},
    {"draft.js", draft_js, sizeof draft_js},
    {"explain.js", explain_js, sizeof explain_js},
    {"feed.js", feed_js, sizeof feed_js},
    {"figures.js", figures_js, sizeof figures_js},
    {"first.js", first_js, sizeof first_js},
    {"frame.js", frame_js, sizeof frame_js},
    {"help.js", help_js, sizeof help_js},
    {"history.js", history_js, sizeof history_js},
    {"keys.js", keys_js, sizeof keys_js},
    {"limits.js", limits_js, sizeof limits_js},
    {"list.js", list_js, sizeof list_js},
    {"looks.js", looks_js, sizeof looks_js},
    {"main.js", main_js, sizeof main_js},
    {"observer.js", observer_js, sizeof observer_js},
    {"observers.js", observers_js, sizeof observers_js},
    {"overview.js", overview_js, sizeof overview_js},
    {"own.js", own_js, sizeof own_js},
    {"palette.css", palette_css, sizeof palette_css},
    {"parts.js", parts_js, sizeof parts_js},
    {"post.js", post_js, sizeof post_js},
    {"queue.js", queue_js, sizeof queue_js},
    {"readings.js", readings_js, sizeof readings_js},
    {"receipt.js", receipt_js, sizeof receipt_js},
    {"reports.js", reports_js, sizeof reports_js},
    {"responders.js", responders_js, sizeof responders_js},
    {"route.js", route_js, sizeof route_js},
    {"search.js", search_js, sizeof search_js},
    {"selectors.js", selectors_js, sizeof selectors_js},
    {"snippets.js", snippets_js, sizeof snippets_js},
    {"tail.js", tail_js, sizeof tail_js},
    {"tailview.js", tailview_js, sizeof tailview_js},
    {"timers.js", timers_js, sizeof timers_js},
    {"tree.js", tree_js, sizeof tree_js},
    {"unheard.js", unheard_js, sizeof unheard_js},
    {"values.js", values_js, sizeof values_js},
    {"views.js", views_js, sizeof views_js},
    {"waits.js", waits_js, sizeof waits_js},
    {"words.js", words_js, sizeof words_js},
};

const size_t belfry_console_file_count = sizeof belfry_console_files / sizeof belfry_console_files[0];
