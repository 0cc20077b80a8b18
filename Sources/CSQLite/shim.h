#ifndef C_SQLITE_SHIM_H
#define C_SQLITE_SHIM_H

#include <sqlite3.h>

// What Swift cannot import: macros that are casts, and functions with a variable number of arguments.

/// Binds a copy of some bytes; no bytes are an empty blob and not NULL.
static inline int belfry_bind_bytes(
    sqlite3_stmt *statement, int column, const void *bytes, int count) {
    if (count == 0) return sqlite3_bind_zeroblob(statement, column, 0);
    return sqlite3_bind_blob(statement, column, bytes, count, SQLITE_TRANSIENT);
}

/// Binds a copy of a text that ends in a zero byte.
static inline int belfry_bind_text(sqlite3_stmt *statement, int column, const char *text) {
    return sqlite3_bind_text(statement, column, text, -1, SQLITE_TRANSIENT);
}

/// Says whether closing the connection may move the write-ahead log into the main file.
static inline int belfry_set_checkpoint_on_close(sqlite3 *connection, int checkpoints) {
    int is_off;
    return sqlite3_db_config(
        connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !checkpoints, &is_off);
}

#endif
