#!/usr/bin/env python3
"""Makes tokens.json and vectors.json with new keys: python make.py (pip install PyJWT jwcrypto cryptography).

tokens.json   for each algorithm a token by PyJWT and one by jwcrypto, which Belfry must take.
vectors.json  tokens and keys, most of them wrong, in the manner of Project Wycheproof: each with the
              fault that Belfry must find, or null.
"""
import base64
import hashlib
import hmac
import json
import secrets
from importlib.metadata import version
from pathlib import Path

import jwt
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, padding, rsa, utils, x25519
from jwcrypto import jwk, jws

FOLDER = Path(__file__).parent
CLAIMS = {"sub": "till", "exp": 2_000_000_000, "belfry": {"grants": [{"verbs": ["post"]}]}}
HASHES = {"256": hashes.SHA256(), "384": hashes.SHA384(), "512": hashes.SHA512()}
CURVES = {
    "ES256": ("P-256", ec.SECP256R1(), 32),
    "ES384": ("P-384", ec.SECP384R1(), 48),
    "ES512": ("P-521", ec.SECP521R1(), 66),
}
ORDERS = {
    "ES256": 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
    "ES384": int("F" * 48 + "C7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973", 16),
    "ES512": int("01" + "F" * 64 + "FA51868783BF2F966B7FCC0148F709A5D03BB5C9B8899C47AEBB6FB71E91386409", 16),
}
ED25519_ORDER = 2**252 + 27742317777372353535851937790883648493


def b64(data):
    if isinstance(data, int):
        data = data.to_bytes(max(1, (data.bit_length() + 7) // 8), "big")
    if isinstance(data, str):
        data = data.encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def public_pem(key):
    return key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    ).decode()


def private_pem(key):
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


class Key:
    """A key for one algorithm, with its JWK."""

    def __init__(self, algorithm, curve=None, key=None):
        self.algorithm, self.family, self.bits = algorithm, algorithm[:2], algorithm[2:]
        self.name = curve or algorithm
        if self.family == "HS":
            self.key = key or secrets.token_bytes(int(self.bits) // 8)
            self.jwk = {"kty": "oct", "k": b64(self.key)}
            return
        if self.family in ("RS", "PS"):
            self.key = key or rsa.generate_private_key(65537, 2048)
        elif self.family == "ES":
            self.key = ec.generate_private_key(CURVES[algorithm][1])
        else:
            kinds = {"Ed25519": ed25519.Ed25519PrivateKey, "Ed448": ed448.Ed448PrivateKey}
            self.key = kinds[curve].generate()
        self.jwk = json.loads(jwk.JWK.from_pem(public_pem(self.key).encode()).export_public())
        self.jwk.pop("kid", None)

    def row(self, **more):
        return dict(self.jwk, kid="k", alg=self.algorithm, **more)

    def sign(self, data, **how):
        """Signs with the algorithm of the key, or as `how` says."""
        digest = how.get("digest", HASHES.get(self.bits))
        if self.family == "HS":
            return hmac.new(self.key, data, digest.name.replace("-", "")).digest()
        if self.family == "RS":
            return self.key.sign(data, padding.PKCS1v15(), digest)
        if self.family == "PS":
            mask = padding.MGF1(how.get("mask", digest))
            return self.key.sign(data, padding.PSS(mask, how.get("salt", digest.digest_size)), digest)
        if self.family == "ES":
            r, s = utils.decode_dss_signature(self.key.sign(data, ec.ECDSA(digest)))
            return self.numbers(r, s)
        return self.key.sign(data)

    def numbers(self, r, s):
        size = CURVES[self.algorithm][2]
        return r.to_bytes(size, "big") + s.to_bytes(size, "big")

    def raw_rsa(self, message):
        numbers = self.key.private_numbers()
        n = numbers.public_numbers.n
        size = (n.bit_length() + 7) // 8
        return pow(int.from_bytes(message, "big"), numbers.d, n).to_bytes(size, "big")

    def header(self, **more):
        return dict({"alg": self.algorithm, "kid": "k"}, **more)

    def token(self, header=None, claims=None, signature=None, **how):
        signed = b64(json.dumps(header or self.header())) + "." + b64(json.dumps(claims or CLAIMS))
        if signature is None:
            signature = self.sign(signed.encode(), **how)
        return signed + "." + b64(signature)


ALGORITHMS = [f"{family}{bits}" for family in ("HS", "RS", "PS", "ES") for bits in HASHES]
KEYS = [Key(algorithm) for algorithm in ALGORITHMS] + [Key("EdDSA", "Ed25519"), Key("EdDSA", "Ed448")]


def tokens():
    rows = []
    for key in KEYS:
        secret = key.key if key.family == "HS" else private_pem(key.key)
        made = {
            "PyJWT": jwt.encode(CLAIMS, secret, key.algorithm, {"kid": "k"}),
            "jwcrypto": with_jwcrypto(key, secret),
        }
        for library, token in made.items():
            rows.append({
                "library": f"{library} {version(library)}", "name": key.name,
                "algorithm": key.algorithm, "key": key.row(use="sig"),
                "pem": None if key.family == "HS" else public_pem(key.key), "token": token,
            })
    return rows


def with_jwcrypto(key, secret):
    own = jwk.JWK(**key.jwk) if key.family == "HS" else jwk.JWK.from_pem(secret)
    token = jws.JWS(json.dumps(CLAIMS).encode())
    token.add_signature(own, key.algorithm, json.dumps(key.header()))
    return token.serialize(compact=True)


def wrong_tokens(key):
    """Rows of comment, token and fault that hold for every algorithm."""
    good = key.token()
    head, body, signature = good.split(".")
    raw = unb64(signature)
    stranger = Key(key.algorithm, key.name if key.family == "Ed" else None)
    other = b64(json.dumps(dict(CLAIMS, sub="other")))
    last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    yield "valid", good, None
    yield "valid, unnamed key", key.token({"alg": key.algorithm}), None
    yield "modified signature", f"{head}.{body}.{b64(bytes([raw[0] ^ 1]) + raw[1:])}", "signature"
    yield "modified payload", f"{head}.{other}.{signature}", "signature"
    yield "modified header", f"{b64(json.dumps(key.header(x=1)))}.{body}.{signature}", "signature"
    yield "missing signature", f"{head}.{body}.", "signature"
    yield "missing signature and separator", f"{head}.{body}", "malformed"
    yield "missing payload", f"{head}..{signature}", "signature"
    yield "missing payload and separator", f"{head}.{signature}", "malformed"
    yield "missing header", f".{body}.{signature}", "malformed"
    yield "missing header and separator", f"{body}.{signature}", "malformed"
    yield "nothing but separators", "..", "malformed"
    yield "empty", "", "malformed"
    yield "extra empty part", good + ".", "malformed"
    yield "extra part", good + ".AA", "malformed"
    yield "shorter signature", f"{head}.{body}.{b64(raw[:-1])}", "signature"
    yield "longer signature", f"{head}.{body}.{b64(raw + bytes(1))}", "signature"
    yield "zero before the signature", f"{head}.{body}.{b64(bytes(1) + raw)}", "signature"
    yield "signature of zeros", f"{head}.{body}.{b64(bytes(len(raw)))}", "signature"
    yield "another key", stranger.token(), "signature"
    yield "embedded key", stranger.token(key.header(jwk=stranger.jwk)), "signature"
    yield "unknown key", key.token(key.header(kid="x")), "unknown key"
    twice = json.dumps(key.header())
    yield "two algorithms", f'{b64(twice[:-1] + ", " + twice[1:])}.{body}.{signature}', "malformed"
    yield "critical extension", key.token(key.header(crit=["exp"], exp=1)), "critical header parameters"
    yield "padding", good + "=", "malformed"
    yield "white space", good + "\n", "malformed"
    if len(raw) % 3:
        yield "bits left over", good[:-1] + last[last.index(good[-1]) + 1], "malformed"
    for name in ("none", "None", "NONE", "nOnE", "", "HS1", "RS1", key.algorithm.lower()):
        wanted = "algorithm"
        yield f"algorithm {name!r}", key.token({"alg": name, "kid": "k"}), wanted
        yield f"algorithm {name!r} unsigned", key.token({"alg": name, "kid": "k"}, signature=b""), wanted
    for name in ALGORITHMS + ["EdDSA"]:
        if name != key.algorithm:
            yield f"signed as {key.algorithm}, named {name}", key.token({"alg": name, "kid": "k"}), "algorithm"
    serialized = {"payload": body, "protected": head, "signature": signature}
    yield "JSON serialization", json.dumps(serialized), "malformed"
    if key.family != "HS":
        for what, secret in (("PEM", public_pem(key.key)), ("JWK", json.dumps(key.jwk))):
            for name in ("HS256", "HS384", "HS512"):
                forged = Key(name, key=secret.encode()).token({"alg": name, "kid": "k"})
                yield f"{name} with the public key as {what}", forged, "algorithm"


def wrong_signatures(key):
    """Rows that hold for one family of algorithms."""
    signed = key.token().rsplit(".", 1)[0]
    data = signed.encode()
    another = HASHES["256" if key.bits == "384" else "384"]

    def row(comment, signature, fault="signature"):
        return comment, f"{signed}.{b64(signature)}", fault

    if key.family == "HS":
        yield row("half a code", key.sign(data)[: int(key.bits) // 16])
        yield row("a plain hash", hashlib.new(f"sha{key.bits}", key.key + data).digest())
    if key.family in ("RS", "PS"):
        n = key.key.private_numbers().public_numbers.n
        number = int.from_bytes(key.sign(data), "big") + n
        yield row("modulus added", number.to_bytes((number.bit_length() + 7) // 8, "big"))
        yield row("one", (1).to_bytes(256, "big"))
        yield row("modulus minus one", (n - 1).to_bytes(256, "big"))
    if key.family == "RS":
        digest = hashlib.new(f"sha{key.bits}", data).digest()
        prefixes = {
            "256": "3031300d060960864801650304020105000420",
            "384": "3041300d060960864801650304020205000430",
            "512": "3051300d060960864801650304020305000440",
        }
        info = bytes.fromhex(prefixes[key.bits]) + digest
        no_parameters = bytearray(info)
        no_parameters[1] -= 2
        no_parameters[3] -= 2
        del no_parameters[15:17]

        def padded(info, fill=b"\xff", start=b"\x00\x01", end=b"\x00"):
            return start + fill * (256 - len(start) - len(end) - len(info)) + end + info

        garbage = 256 - 3 - 8 - len(info)
        yield row("padded by hand", key.raw_rsa(padded(info)), None)
        short = b"\x00\x01" + b"\xff" * 8 + b"\x00"
        yield row("short padding, garbage behind", key.raw_rsa(short + info + bytes(garbage)))
        yield row("short padding, garbage before", key.raw_rsa(short + bytes(garbage) + info))
        yield row("block type 2", key.raw_rsa(padded(info, start=b"\x00\x02")))
        yield row("block type 0", key.raw_rsa(padded(info, fill=b"\x00")))
        yield row("padding of other bytes", key.raw_rsa(padded(info, fill=b"\xfe")))
        yield row("no separator", key.raw_rsa(padded(info, end=b"\xff")))
        yield row("no parameters", key.raw_rsa(padded(bytes(no_parameters))))
        yield row("no algorithm", key.raw_rsa(padded(digest)))
        yield row("long form of a length", key.raw_rsa(padded(b"\x30\x81" + info[1:])))
        yield row("byte behind the hash", key.raw_rsa(padded(info + b"\x00")))
        yield row("another hash", key.sign(data, digest=another))
        yield row("PSS", Key("PS" + key.bits, key=key.key).sign(data))
    if key.family == "PS":
        size = int(key.bits) // 8
        for salt in (0, 20, size - 1, size + 1):
            yield row(f"salt of {salt} bytes", key.sign(data, salt=salt))
        yield row("mask by SHA-1", key.sign(data, mask=hashes.SHA1()))
        yield row("mask by another hash", key.sign(data, mask=another))
        yield row("another hash", key.sign(data, digest=another))
        yield row("PKCS #1", Key("RS" + key.bits, key=key.key).sign(data))
    if key.family == "ES":
        _, curve, size = CURVES[key.algorithm]
        order, raw = ORDERS[key.algorithm], key.sign(data)
        r, s = (int.from_bytes(raw[i : i + size], "big") for i in (0, size))
        yield row("DER", utils.encode_dss_signature(r, s))
        yield row("a byte more in each number", bytes(1) + raw[:size] + bytes(1) + raw[size:])
        yield row("numbers in the wrong order", raw[size:] + raw[:size])
        yield row("r is 0", key.numbers(0, s))
        yield row("s is 0", key.numbers(r, 0))
        yield row("r is the order", key.numbers(order, s))
        yield row("s is the order", key.numbers(r, order))
        yield row("both are 1", key.numbers(1, 1))
        yield row("r is the order, s is 0", key.numbers(order, 0))
        yield row("all bits", b"\xff" * (2 * size))
        if s + order < 256**size:
            yield row("order added to s", key.numbers(r, s + order))
        yield row("another hash", key.sign(data, digest=another))
    if key.name == "Ed25519":
        raw = key.sign(data)
        number = int.from_bytes(raw[32:], "little") + ED25519_ORDER
        yield row("order added to s", raw[:32] + number.to_bytes(32, "little"))
        yield row("identity and 0", bytes([1]) + bytes(63))
        yield row("all bits", b"\xff" * 64)
    if key.name == "Ed448":
        raw = key.sign(data)
        yield row("high bit of s", raw[:-1] + b"\x80")
        yield row("identity and 0", bytes([1]) + bytes(113))


def prime(bits):
    """A prime of exactly so many bits, out of a key that is made for it."""
    return rsa.generate_private_key(65537, 2 * bits).private_numbers().p


def wrong_keys():
    """Rows of comment, text of a JWK, and whether it is taken, passed by, or a fault."""
    rs, es, hs = Key("RS256"), Key("ES256"), Key("HS256")
    big, medium, small = Key("RS256", key=rsa.generate_private_key(65537, 8192)), prime(1024), prime(1023)
    n, e = rs.jwk["n"], rs.jwk["e"]
    number = int.from_bytes(unb64(n), "big")

    def rsa_row(n, e="AQAB"):
        return {"kty": "RSA", "n": n, "e": e}

    yield "RSA 2048", rsa_row(n), "taken"
    yield "RSA 8192", big.jwk, "taken"
    yield "RSA 8193", rsa_row(b64(int.from_bytes(unb64(big.jwk["n"]), "big") * 2 + 1)), "fault"
    yield "RSA 2047", rsa_row(b64(medium * small)), "fault"
    yield "RSA 1024", json.loads(jwk.JWK.generate(kty="RSA", size=1024).export_public()), "fault"
    yield "RSA 1024 in 256 bytes", rsa_row(b64(bytes(128) + medium.to_bytes(128, "big"))), "fault"
    yield "zero before the modulus", rsa_row(b64(bytes(1) + unb64(n))), "taken"
    yield "even modulus", rsa_row(b64(number - 1)), "fault"
    for exponent, result in ((1, "fault"), (2, "fault"), (3, "taken"), (65536, "fault"), (65537, "taken"),
                             (2**32 - 1, "taken"), (2**32 + 1, "fault"), (0, "fault")):
        yield f"exponent {exponent}", rsa_row(n, b64(exponent)), result
    yield "no modulus", {"kty": "RSA", "e": e}, "fault"
    yield "no exponent", {"kty": "RSA", "n": n}, "fault"
    yield "empty modulus", rsa_row(""), "fault"
    yield "modulus that is a number", rsa_row(5), "fault"
    yield "padding", rsa_row(n + "=="), "fault"
    yield "plain base 64", rsa_row(base64.b64encode(b"\xff" + unb64(n)[1:]).decode().rstrip("=")), "fault"
    yield "white space", rsa_row(n[:9] + "\n" + n[9:]), "fault"
    yield "with the private half", json.loads(jwk.JWK.from_pem(private_pem(rs.key)).export()), "taken"

    x, y = es.jwk["x"], es.jwk["y"]
    for algorithm in CURVES:
        yield f"{algorithm}", Key(algorithm).jwk, "taken"
    wrong = bytearray(unb64(y))
    wrong[-1] ^= 1
    prime_256 = 2**256 - 2**224 + 2**192 + 2**96 - 1
    yield "point beside the curve", dict(es.jwk, y=b64(bytes(wrong))), "fault"
    yield "coordinates of 0", dict(es.jwk, x=b64(bytes(32)), y=b64(bytes(32))), "fault"
    yield "coordinate that is the prime", dict(es.jwk, x=b64(prime_256)), "fault"
    yield "short coordinate", dict(es.jwk, x=b64(unb64(x)[1:])), "fault"
    yield "long coordinate", dict(es.jwk, x=b64(bytes(1) + unb64(x))), "fault"
    yield "uneven halves", dict(es.jwk, x=b64(unb64(x)[:-1]), y=b64(unb64(x)[-1:] + unb64(y))), "fault"
    yield "empty coordinate", dict(es.jwk, y=""), "fault"
    yield "no y", {"kty": "EC", "crv": "P-256", "x": x}, "fault"
    yield "point of another curve", dict(Key("ES384").jwk, crv="P-256"), "fault"
    yield "curve secp256k1", dict(es.jwk, crv="secp256k1"), "passed by"
    yield "no curve", {"kty": "EC", "x": x, "y": y}, "passed by"
    yield "P-256 for ES384", dict(es.jwk, alg="ES384"), "passed by"

    for curve, size in (("Ed25519", 32), ("Ed448", 57)):
        key = Key("EdDSA", curve).jwk
        yield curve, key, "taken"
        yield f"{curve} short", dict(key, x=b64(unb64(key["x"])[:-1])), "fault"
        yield f"{curve} long", dict(key, x=b64(unb64(key["x"]) + bytes(1))), "fault"
        yield f"{curve} without x", {"kty": "OKP", "crv": curve}, "fault"
    yield "Ed25519 named Ed448", dict(Key("EdDSA", "Ed25519").jwk, crv="Ed448"), "fault"
    agreement = x25519.X25519PrivateKey.generate().public_key().public_bytes_raw()
    yield "X25519", {"kty": "OKP", "crv": "X25519", "x": b64(agreement)}, "passed by"

    for algorithm in ("HS256", "HS384", "HS512"):
        size = int(algorithm[2:]) // 8
        yield f"{algorithm} {size} bytes", {"kty": "oct", "k": b64(bytes(size)), "alg": algorithm}, "taken"
        yield f"{algorithm} a byte too short", {"kty": "oct", "k": b64(bytes(size - 1)), "alg": algorithm}, "fault"
    yield "secret for no algorithm", hs.jwk, "taken"
    yield "short secret for no algorithm", {"kty": "oct", "k": b64(bytes(31))}, "fault"
    yield "no secret", {"kty": "oct"}, "fault"
    yield "secret with padding", {"kty": "oct", "k": hs.jwk["k"] + "="}, "fault"

    yield "for signatures", dict(es.jwk, use="sig"), "taken"
    yield "for encryption", dict(es.jwk, use="enc"), "passed by"
    yield "use that is a number", dict(es.jwk, use=1), "fault"
    yield "to verify", dict(es.jwk, key_ops=["verify"]), "taken"
    yield "to sign and to verify", dict(hs.jwk, key_ops=["sign", "verify"]), "taken"
    yield "to sign", dict(es.jwk, key_ops=["sign"]), "passed by"
    yield "to do nothing", dict(es.jwk, key_ops=[]), "passed by"
    yield "operations that are no array", dict(es.jwk, key_ops="verify"), "fault"
    yield "operation that is no text", dict(es.jwk, key_ops=["verify", 1]), "fault"
    yield "alg of its own kind", dict(rs.jwk, alg="PS512"), "taken"
    for key, name in ((rs, "HS256"), (rs, "ES256"), (rs, "RSA-OAEP"), (rs, "none"), (rs, "rs256"), (rs, ""),
                      (hs, "RS256"), (hs, "A128KW"), (es, "EdDSA"), (es, "ECDH-ES")):
        yield f"{key.jwk['kty']} for {name!r}", dict(key.jwk, alg=name), "passed by"
    yield "alg that is a number", dict(es.jwk, alg=256), "fault"
    yield "alg that is null", dict(es.jwk, alg=None), "fault"
    yield "kid that is a number", dict(es.jwk, kid=1), "fault"
    yield "no kind", {"x": x, "y": y, "crv": "P-256"}, "passed by"
    yield "kind in small letters", dict(rs.jwk, kty="rsa"), "passed by"
    yield "kind that is a number", dict(rs.jwk, kty=1), "fault"
    yield "RSA called EC", dict(rs.jwk, kty="EC"), "passed by"
    yield "new kind", {"kty": "AKP", "alg": "ML-DSA-44", "pub": "AA"}, "passed by"
    yield "unknown members", dict(es.jwk, x5c=["AA"], ext=True, x5t={"a": 1}), "taken"
    text = json.dumps(es.jwk)
    yield "x twice", text[:-1] + f', "x": "{x}"}}', "fault"
    yield "x twice, once in escapes", text[:-1] + f', "\\u0078": "{x}"}}', "fault"
    yield "alg twice", text[:-1] + ', "alg": "ES256", "alg": "none"}', "fault"


def vectors():
    groups = []
    for key in KEYS:
        rows = [*wrong_tokens(key), *wrong_signatures(key)]
        tests = [{"comment": comment, "token": token, "fault": fault} for comment, token, fault in rows]
        groups.append({"comment": key.name, "key": key.row(), "tests": tests})
    keys = []
    for comment, text, result in wrong_keys():
        text = text if isinstance(text, str) else json.dumps(text)
        keys.append({"comment": comment, "text": text, "result": result})
    return {"groups": groups, "keys": keys}


for name, value in (("tokens.json", tokens()), ("vectors.json", vectors())):
    (FOLDER / name).write_text(json.dumps(value, indent=1) + "\n")
