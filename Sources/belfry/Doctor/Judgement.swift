import BelfryServer
import BelfrySystem

/// Judges facts; it collects none itself.
enum Judgement {
    // MARK: The machine

    /// How many files and connections the process may have.
    static func descriptors(hard: Int) -> Finding {
        let subject = "descriptors"
        let text = "limit of open files: \(hard)"
        guard hard < 4_096 else { return .ok(subject, text) }
        return .warning(
            subject, text,
            """
            raise the limit: ulimit -n 1048576, LimitNOFILE= of systemd, or --ulimit nofile= of a \
            container.
            """
        )
    }

    /// The memory that a control group leaves to the process, and what `fitted` had to lower.
    static func memory(byteLimit: Int?, lowered: [String]) -> Finding {
        let subject = "memory"
        guard let byteLimit else { return .ok(subject, "no control group limits it") }
        let text = "a control group limits it to \(byteLimit >> 20) MiB"
        guard !lowered.isEmpty else { return .ok(subject, text) }
        return .warning(
            subject, "\(text), and so these limits are lower: \(lowered.joined(separator: ", "))",
            """
            give the process more memory, or set these options yourself; `belfry check-config` \
            prints them.
            """
        )
    }

    /// How many connections may wait to be accepted.
    static func waitingConnections(limit: Int?) -> Finding {
        let subject = "backlog"
        guard let limit else { return .ok(subject, "the system does not report its limit") }
        let text = "\(limit) connections may wait to be accepted (net.core.somaxconn)"
        guard limit < 1_024 else { return .ok(subject, text) }
        return .warning(
            subject, text,
            "sysctl net.core.somaxconn=4096, for when many clients come back at once.")
    }

    /// The clock of the machine.
    static func clock(milliseconds: Int64, isSynchronized: Bool?) -> Finding {
        let subject = "clock"
        // The year 2025: no broker is older.
        guard milliseconds > 1_735_689_600_000 else {
            return .fault(
                subject, "it is before 2025",
                """
                set it: tokens and certificates are not valid yet, and leases expire at once when \
                it is corrected.
                """
            )
        }
        switch isSynchronized {
        case true?: return .ok(subject, "the clock is synchronized")
        case nil: return .ok(subject, "the system does not say whether the clock is synchronized")
        case false?:
            return .warning(
                subject, "the clock is not synchronized",
                """
                run chrony, ntpd or systemd-timesyncd: tokens expire, and posts with `at` are due, \
                by this clock.
                """
            )
        }
    }

    // MARK: The data directory

    /// Where the data lie.
    static func place(_ directory: String, _ fileSystem: FileSystem) -> Finding {
        let subject = "file system"
        switch fileSystem.kind {
        case .disk: return .ok(subject, "\(directory) is on a disk of this machine")
        case .network:
            return .warning(
                subject, "\(directory) is on a network file system, or on one of a program",
                "put --data on a local disk: locks and writes elsewhere cannot be relied on.")
        case .memory:
            return .warning(
                subject, "\(directory) is in memory",
                """
                put --data on a disk, or use --in-memory: a restart of the machine loses everything.
                """
            )
        case .overlay:
            return .warning(
                subject, "\(directory) is in the container's own layer",
                "mount a volume there: the layer goes with the container.")
        }
    }

    /// Judges the space that is left for the data.
    static func space(freeByteCount: Int) -> Finding {
        let subject = "free space"
        let text = "\(freeByteCount >> 20) MiB are free for the data"
        if freeByteCount >= 1 << 30 { return .ok(subject, text) }
        let advice =
            "free some space: on a full disk the broker refuses everything that must be stored."
        return freeByteCount < 64 << 20
            ? .fault(subject, text, advice) : .warning(subject, text, advice)
    }

    /// How long the disk takes until it has a small file.
    static func writing(_ duration: Duration) -> Finding {
        let subject = "disk"
        let text = "a small file was written and synced in \(duration / .milliseconds(1)) ms"
        guard duration > .milliseconds(50) else { return .ok(subject, text) }
        return .warning(
            subject, text,
            """
            use a faster disk if posts that must last are to be answered sooner: each waits for \
            one such write.
            """
        )
    }

    // MARK: Who may come

    /// The certificate, by its times in seconds since 1970.
    static func certificate(end: Int64, start: Int64, now: Int64) -> Finding {
        let subject = "certificate"
        let days = (end - now) / 86_400
        if now >= end {
            return .fault(
                subject, "it has expired", "get a new one, and send SIGHUP to the broker.")
        }
        if now < start {
            return .fault(subject, "it is not valid yet", "wait, or check the clock.")
        }
        if days < 14 {
            return .warning(
                subject, "valid for \(days) more days",
                "renew it; SIGHUP makes the broker read it again, and no connection is lost.")
        }
        return .ok(subject, "valid for \(days) more days")
    }

    /// The finding about callers without credentials where only this machine reaches the broker.
    ///
    /// - Parameters:
    ///   - grantsAll: whether `--anonymous-grants` gives something; nil where it is not given.
    ///   - means: how the system says whose a connection is.
    static func callers(grantsAll: Bool?, means: SocketOwners.Means) -> Finding {
        let subject = "callers"
        switch grantsAll {
        case true?:
            return .ok(
                subject,
                "everybody who reaches the port, also through a proxy on this machine, has "
                    + "--anonymous-grants")
        case false?: return .ok(subject, "everybody needs credentials")
        case nil where means == .none:
            return .warning(
                subject,
                "the system does not say which user has a connection: without credentials programs "
                    + "of all users of this machine may do all but admin and forever",
                "make keys with `belfry gen-token`, name their file with --keys, and give "
                    + "--anonymous-grants ''.")
        case nil:
            return .ok(
                subject,
                "without credentials programs of user \(SocketOwner.ownUser) and of root on this "
                    + "machine may do all but admin and forever, and all others nothing")
        }
    }

    /// Judges the access of callers from other machines.
    static func exposure(isPlain: Bool, allowsAnonymous: Bool, hasKeys: Bool) -> [Finding] {
        var findings: [Finding] = []
        if isPlain {
            findings.append(
                .warning(
                    "callers", "other machines connect without TLS",
                    """
                    use --tls-listen with --tls-cert and --tls-key, or a proxy that has a \
                    certificate: tokens can be read on the way.
                    """
                ))
        }
        if allowsAnonymous, !hasKeys {
            findings.append(
                .warning(
                    "callers", "other machines need no credentials",
                    """
                    make keys with `belfry gen-token`, name their file with --keys, and leave out \
                    --allow-anonymous.
                    """
                ))
        }
        guard findings.isEmpty else { return findings }
        let credentials = allowsAnonymous ? "with or without credentials" : "with credentials"
        return [.ok("callers", "other machines connect over TLS, \(credentials)")]
    }

    /// A file with secrets that others can read.
    static func secrecy(_ option: String, isReadableByAll: Bool) -> Finding? {
        guard isReadableByAll else { return nil }
        return .warning("secrets", "others can read the file of --\(option)", "chmod 600 it.")
    }

    // MARK: The ports

    /// A port that cannot be listened at.
    static func port(_ address: SocketAddress, _ error: SystemCallError, isBroker: Bool) -> Finding
    {
        let subject = "port"
        if isBroker { return .ok(subject, "a broker is ready at \(address)") }
        // EACCES of errno(3).
        let advice =
            error.errno == 13
            ? "use a port above 1023, or let the program have it (CAP_NET_BIND_SERVICE)."
            : "stop what listens there (ss -ltnp shows it), or use another port."
        return .fault(subject, "\(address): \(error)", advice)
    }
}
