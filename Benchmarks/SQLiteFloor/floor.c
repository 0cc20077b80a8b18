// The least that SQLite can do with the rows of held or kept notifications, or of values: no HTTP, no JSON, no threads.
//
//     floor STORE TARGET ROWS-A-COMMIT full|normal LOG-PAGES held|values|kept
//
// Reads the tables `notification` and `held` of a store, or `value`, or `kept`, into memory, makes them again in a new file
// with the same schema and settings, and inserts all rows with so many notifications or values a transaction.
// Prints the seconds that the insertions took, and the processor time among them.
//
// The settings are those of `StoreOpening`, the log is moved into the main file when it has so many
// pages (0 is SQLite's own limit, 1,000), and no more is locked than the store locks.
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void die(sqlite3 *db, const char *what) {
    fprintf(stderr, "%s: %s\n", what, db ? sqlite3_errmsg(db) : "no memory");
    exit(1);
}

static double seconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void run(sqlite3 *db, const char *sql) {
    if (sqlite3_exec(db, sql, 0, 0, 0) != SQLITE_OK) die(db, sql);
}

struct table {
    const char *name, *order;
    int columns, rows, room;
    sqlite3_value **cells;
};

static void load(sqlite3 *db, struct table *table) {
    char sql[200];
    snprintf(sql, sizeof sql, "SELECT * FROM %s ORDER BY center, %s", table->name, table->order);
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, 0) != SQLITE_OK) die(db, sql);
    table->columns = sqlite3_column_count(statement);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        if (table->rows == table->room) {
            table->room = table->room ? table->room * 2 : 1024;
            table->cells = realloc(
                table->cells, sizeof(sqlite3_value *) * table->room * table->columns);
            if (!table->cells) die(0, "cells");
        }
        for (int i = 0; i < table->columns; i++)
            table->cells[table->rows * table->columns + i] =
                sqlite3_value_dup(sqlite3_column_value(statement, i));
        table->rows++;
    }
    sqlite3_finalize(statement);
}

static void copy_schema(sqlite3 *from, sqlite3 *to) {
    sqlite3_stmt *statement;
    const char *sql =
        "SELECT sql FROM sqlite_master WHERE type = 'table' "
        "AND name IN ('notification', 'held', 'value', 'kept')";
    if (sqlite3_prepare_v2(from, sql, -1, &statement, 0) != SQLITE_OK) die(from, sql);
    while (sqlite3_step(statement) == SQLITE_ROW)
        run(to, (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
}

static sqlite3_stmt *prepare(sqlite3 *db, struct table *table) {
    char sql[400];
    int length = snprintf(sql, sizeof sql, "INSERT INTO %s VALUES (?", table->name);
    for (int i = 1; i < table->columns; i++)
        length += snprintf(sql + length, sizeof sql - length, ", ?");
    snprintf(sql + length, sizeof sql - length, ")");
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, 0) != SQLITE_OK) die(db, sql);
    return statement;
}

static void insert(sqlite3 *db, sqlite3_stmt *statement, struct table *table, int row) {
    for (int i = 0; i < table->columns; i++)
        sqlite3_bind_value(statement, i + 1, table->cells[row * table->columns + i]);
    if (sqlite3_step(statement) != SQLITE_DONE) die(db, "insert");
    sqlite3_reset(statement);
}

int main(int count, char **arguments) {
    if (count != 7) {
        fprintf(
            stderr, "usage: floor STORE TARGET ROWS-A-COMMIT full|normal LOG-PAGES held|values|kept\n");
        return 2;
    }
    sqlite3 *from, *to;
    if (sqlite3_open_v2(arguments[1], &from, SQLITE_OPEN_READWRITE, 0) != SQLITE_OK)
        die(from, "open the store");
    struct table tables[] = {{"notification", "sequence"}, {"value", "object"}, {"kept", "sequence"}};
    struct table *table = &tables[0];
    if (!strcmp(arguments[6], "values")) table = &tables[1];
    if (!strcmp(arguments[6], "kept")) table = &tables[2];
    // Nothing of the others is held.
    struct table held = {"held", "sequence"};
    load(from, table);
    load(from, &held);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(arguments[2], &to, flags, 0) != SQLITE_OK) die(to, "open the target");
    const char *settings[] = {
        "page_size = 4096", "auto_vacuum = INCREMENTAL", "locking_mode = EXCLUSIVE",
        "journal_mode = WAL", "cache_spill = OFF", "foreign_keys = OFF",
        "temp_store = MEMORY", "trusted_schema = OFF",
        "cell_size_check = ON", "cache_size = -16384", "journal_size_limit = 2097152",
        "secure_delete = FAST",
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        char sql[80];
        snprintf(sql, sizeof sql, "PRAGMA %s", settings[i]);
        run(to, sql);
    }
    int log_pages = atoi(arguments[5]);
    sqlite3_wal_autocheckpoint(to, log_pages > 0 ? log_pages : 1000);
    run(to, strcmp(arguments[4], "full") ? "PRAGMA synchronous = NORMAL"
                                         : "PRAGMA synchronous = FULL");
    copy_schema(from, to);
    sqlite3_close(from);
    sqlite3_stmt *insert_row = prepare(to, table);
    sqlite3_stmt *insert_held = prepare(to, &held);
    int rows_a_commit = atoi(arguments[3]);
    if (rows_a_commit < 1) rows_a_commit = 1;
    double start = seconds(CLOCK_MONOTONIC), own = seconds(CLOCK_PROCESS_CPUTIME_ID);
    int next_held = 0;
    for (int row = 0; row < table->rows; row++) {
        if (row % rows_a_commit == 0) run(to, "BEGIN");
        insert(to, insert_row, table, row);
        sqlite3_int64 sequence = sqlite3_value_int64(table->cells[row * table->columns + 1]);
        while (next_held < held.rows
               && sqlite3_value_int64(held.cells[next_held * held.columns + 1]) <= sequence)
            insert(to, insert_held, &held, next_held++);
        if (row % rows_a_commit == rows_a_commit - 1 || row == table->rows - 1)
            run(to, "COMMIT");
    }
    printf("%d %.6f %.6f\n", table->rows, seconds(CLOCK_MONOTONIC) - start,
           seconds(CLOCK_PROCESS_CPUTIME_ID) - own);
    return 0;
}
