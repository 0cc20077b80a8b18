#!/usr/bin/env python3
"""SIGHUP changes the certificate of a running broker, and no connection is dropped (stdlib only).

Usage:
  tls_reload.py HOST:PORT --pid PID --folder FOLDER --log FILE [--connections 1000]

FOLDER holds ca.pem, what the broker was started with (cert.pem, key.pem), and another certificate of
the same authority (next-cert.pem, next-key.pem). The broker's head and idle timeouts must be longer
than this takes. Exit 0 when everything held; it prints what an idle connection costs.
"""
import argparse
import os
import resource
import shutil
import signal
import socket
import ssl
import sys
import time

REQUEST = b'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n'


def connect(options, context):
    raw = socket.create_connection(options.address, timeout=20)
    return context.wrap_socket(raw, server_hostname='localhost')


def ask(connection):
    connection.sendall(REQUEST)
    answer = b''
    while not answer.endswith(b'\r\n\r\nok\n'):
        part = connection.recv(65536)
        if not part:
            raise OSError('the broker has closed a connection')
        answer += part
    assert answer.startswith(b'HTTP/1.1 200 '), answer


def resident(pid):
    with open(f'/proc/{pid}/statm') as file:
        return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


def served(options, context):
    """The certificate that a new connection gets."""
    with connect(options, context) as connection:
        ask(connection)
        return connection.getpeercert(binary_form=True)


def certificate(path):
    with open(path) as file:
        return ssl.PEM_cert_to_DER_cert(file.read())


def install(options, cert, key):
    for source, target in ((cert, 'cert.pem'), (key, 'key.pem')):
        temporary = os.path.join(options.folder, target + '.new')
        shutil.copyfile(os.path.join(options.folder, source), temporary)
        os.replace(temporary, os.path.join(options.folder, target))


def logged(options, words, count):
    """Waits until the log has so many lines with these words."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with open(options.log) as file:
            if sum(words in line for line in file) >= count:
                return
        time.sleep(0.02)
    sys.exit(f'error: the log does not say "{words}"')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('address')
    parser.add_argument('--pid', type=int, required=True)
    parser.add_argument('--folder', required=True)
    parser.add_argument('--log', required=True)
    parser.add_argument('--connections', type=int, default=1000)
    options = parser.parse_args()
    host, _, port = options.address.rpartition(':')
    options.address = (host, int(port))
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

    context = ssl.create_default_context(cafile=os.path.join(options.folder, 'ca.pem'))
    old = certificate(os.path.join(options.folder, 'cert.pem'))
    new = certificate(os.path.join(options.folder, 'next-cert.pem'))
    for _ in range(50):
        assert served(options, context) == old
    before = resident(options.pid)
    started = time.monotonic()
    connections = [connect(options, context) for _ in range(options.connections)]
    for connection in connections:
        ask(connection)
    each = (resident(options.pid) - before) / len(connections)
    print(f'{len(connections)} connections after {time.monotonic() - started:.1f} s,'
          f' {each / 1024:.1f} KiB of the broker for each')

    install(options, 'next-cert.pem', 'next-key.pem')
    os.kill(options.pid, signal.SIGHUP)
    logged(options, 'configuration reloaded', 1)
    logged(options, 'the certificate is in use', 2)
    deadline = time.monotonic() + 5
    while served(options, context) != new:
        if time.monotonic() > deadline:
            sys.exit('error: new connections get the old certificate')
    for connection in connections:
        ask(connection)
    print(f'{len(connections)} connections go on after the certificate was changed')

    with open(os.path.join(options.folder, 'cert.pem'), 'w') as file:
        file.write('no certificate at all\n')
    os.kill(options.pid, signal.SIGHUP)
    logged(options, 'the new certificate is refused, and the old one stays', 1)
    assert served(options, context) == new, 'a broken certificate is served'
    for connection in connections:
        ask(connection)
    # A key that does not belong to it.
    shutil.copyfile(os.path.join(options.folder, 'ca.pem'), os.path.join(options.folder, 'cert.pem'))
    os.kill(options.pid, signal.SIGHUP)
    logged(options, 'the new certificate is refused, and the old one stays', 2)
    assert served(options, context) == new, 'a wrong certificate is served'
    for connection in connections:
        ask(connection)
        connection.close()
    print(f'{len(connections)} connections go on after two certificates were refused')


if __name__ == '__main__':
    main()
