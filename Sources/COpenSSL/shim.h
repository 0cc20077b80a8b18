#ifndef C_OPENSSL_SHIM_H
#define C_OPENSSL_SHIM_H

#include <stdint.h>

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/obj_mac.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// What libssl has as macros with arguments or casts, which Swift cannot see.

static inline void belfry_free(void *memory) { OPENSSL_free(memory); }

static const int belfry_public_key = EVP_PKEY_PUBLIC_KEY;

// The builder keeps the addresses of these names, so they must be constants of C.
static inline int belfry_push_rsa(OSSL_PARAM_BLD *builder, BIGNUM *modulus, BIGNUM *exponent) {
    return OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, modulus) &&
           OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, exponent);
}

static inline int belfry_push_point(
    OSSL_PARAM_BLD *builder, const char *group, const void *point, size_t count) {
    return OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, group, 0) &&
           OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, count);
}

static inline long belfry_ctx_set_versions(SSL_CTX *context, int lowest, int highest) {
    return SSL_CTX_set_min_proto_version(context, lowest) &&
           SSL_CTX_set_max_proto_version(context, highest);
}

static inline long belfry_ctx_set_groups(SSL_CTX *context, const char *list) {
    return SSL_CTX_set1_groups_list(context, list);
}

static inline void belfry_ctx_set_modes(SSL_CTX *context) {
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                     SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
}

static inline long belfry_ctx_add_chain(SSL_CTX *context, X509 *certificate) {
    return SSL_CTX_add0_chain_cert(context, certificate);
}

static inline long belfry_ssl_set_server_name(SSL *ssl, const char *name) {
    return SSL_set_tlsext_host_name(ssl, name);
}

static inline long belfry_bio_bytes(BIO *bio, const unsigned char **bytes) {
    return BIO_get_mem_data(bio, bytes);
}

/// A SHA-256 as four words, its first byte highest.
struct belfry_digest {
    uint64_t first, second, third, fourth;
};

// By the functions of one algorithm, which are deprecated in favour of EVP: there the search for the
// algorithm and its context cost twice what the digest of a secret does.
static inline void belfry_sha256(
    const unsigned char *bytes, size_t count, struct belfry_digest *out) {
    SHA256_CTX context;
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256_Init(&context);
    SHA256_Update(&context, bytes, count);
    SHA256_Final(digest, &context);
    uint64_t words[4];
    for (int i = 0; i < 4; i++) {
        const unsigned char *eight = digest + 8 * i;
        words[i] = (uint64_t)eight[0] << 56 | (uint64_t)eight[1] << 48 | (uint64_t)eight[2] << 40 |
                   (uint64_t)eight[3] << 32 | (uint64_t)eight[4] << 24 | (uint64_t)eight[5] << 16 |
                   (uint64_t)eight[6] << 8 | (uint64_t)eight[7];
    }
    *out = (struct belfry_digest){words[0], words[1], words[2], words[3]};
}

#endif
