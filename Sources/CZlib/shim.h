#ifndef C_ZLIB_SHIM_H
#define C_ZLIB_SHIM_H

#include <stddef.h>
#include <stdlib.h>
#include <zlib.h>

// What Swift cannot import: the functions that begin a stream are macros. zlib keeps the address of
// a stream, so streams live where they were made.

/// Makes a stream that deflates; NULL when there is no memory or zlib has no such window.
///
/// The window is 9 to 15 bits: negative for bare deflate, and 16 more for gzip.
static inline z_stream *belfry_deflate_make(int level, int window_bits, int memory_level) {
    z_stream *stream = (z_stream *)calloc(1, sizeof(z_stream));
    if (stream == NULL) return NULL;
    if (deflateInit2(stream, level, Z_DEFLATED, window_bits, memory_level, Z_DEFAULT_STRATEGY) ==
        Z_OK)
        return stream;
    free(stream);
    return NULL;
}

/// Makes a stream that inflates bare deflate of any window; NULL when there is no memory.
static inline z_stream *belfry_inflate_make(void) {
    z_stream *stream = (z_stream *)calloc(1, sizeof(z_stream));
    if (stream == NULL) return NULL;
    if (inflateInit2(stream, -MAX_WBITS) == Z_OK) return stream;
    free(stream);
    return NULL;
}

/// Ends a stream that deflates.
static inline void belfry_deflate_free(z_stream *stream) {
    deflateEnd(stream);
    free(stream);
}

/// Ends a stream that inflates.
static inline void belfry_inflate_free(z_stream *stream) {
    inflateEnd(stream);
    free(stream);
}

/// What one step took, made and found.
typedef struct {
    size_t input_count;
    size_t output_count;
    int status;
} belfry_zlib_step;

typedef int (*belfry_zlib_function)(z_stream *, int);

static inline belfry_zlib_step belfry_zlib_run(
    belfry_zlib_function function, z_stream *stream, int flush, const unsigned char *input,
    size_t input_count, unsigned char *output, size_t output_count) {
    // zlib counts in unsigned int; whoever has more takes several steps.
    const size_t limit = 1u << 30;
    const uInt input_limit = (uInt)(input_count < limit ? input_count : limit);
    const uInt output_limit = (uInt)(output_count < limit ? output_count : limit);
    stream->next_in = (Bytef *)input;
    stream->avail_in = input_limit;
    stream->next_out = output;
    stream->avail_out = output_limit;
    belfry_zlib_step step;
    step.status = function(stream, flush);
    step.input_count = input_limit - stream->avail_in;
    step.output_count = output_limit - stream->avail_out;
    // The bytes belong to the caller, and only for this step.
    stream->next_in = NULL;
    stream->avail_in = 0;
    stream->next_out = NULL;
    stream->avail_out = 0;
    return step;
}

/// Deflates some bytes as far as there is room.
static inline belfry_zlib_step belfry_deflate(
    z_stream *stream, int flush, const unsigned char *input, size_t input_count,
    unsigned char *output, size_t output_count) {
    return belfry_zlib_run(deflate, stream, flush, input, input_count, output, output_count);
}

/// Inflates some bytes as far as there is room.
static inline belfry_zlib_step belfry_inflate(
    z_stream *stream, const unsigned char *input, size_t input_count, unsigned char *output,
    size_t output_count) {
    return belfry_zlib_run(
        inflate, stream, Z_SYNC_FLUSH, input, input_count, output, output_count);
}

/// Whether what was inflated ends right behind a block.
static inline int belfry_inflate_is_between_blocks(const z_stream *stream) {
    return (stream->data_type & 128) != 0;
}

#endif
