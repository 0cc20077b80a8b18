"""Certificates of all kinds of key, for brokers that speak TLS."""

import os
import subprocess
import tempfile

KINDS = {
    "ECDSA P-256": ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"],
    "ECDSA P-384": ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"],
    "Ed25519": ["ed25519"],
    "RSA 2048": ["rsa:2048"],
    "RSA 4096": ["rsa:4096"],
}


class TLSOptions:
    """A certificate for 127.0.0.1 and the options to serve it; none where the broker has no TLS."""

    def __init__(self, path, kind="ECDSA P-256"):
        self.folder = tempfile.TemporaryDirectory(prefix="belfry-abuse-")
        self.options = []
        help_ = subprocess.run([path, "serve", "--help"], capture_output=True, text=True).stdout
        if "--tls-listen" not in help_:
            return
        key, certificate = (os.path.join(self.folder.name, name) for name in ("key", "cert"))
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", *KINDS[kind], "-nodes", "-days", "2", "-subj",
             "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
            check=True, capture_output=True)
        self.options = ["--tls-listen", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key", key]


class TLS_OFF:
    options = []
