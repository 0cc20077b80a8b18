import BelfryLoop
import BelfrySystem
import BelfryTLS
import BelfryWire
import Synchronization

// The certificate is read when the broker starts, and again when SIGHUP asks for it.

extension Server {
    /// The reason why the broker cannot serve with the certificate of a configuration.
    ///
    /// It reads files, so it may block.
    ///
    /// - Returns: a sentence for the person who wrote it; nil when all is well, or nothing is
    ///   configured.
    public static func certificateFault(of configuration: ServerConfiguration) -> String? {
        do throws(CertificateFault) {
            _ = try loadCertificate(of: configuration)
            return nil
        } catch {
            return error.sentence
        }
    }

    /// The validity of a configuration's certificate, in seconds since 1970; nil if it is unusable.
    ///
    /// It reads files, so it may block.
    public static func certificateTimes(
        of configuration: ServerConfiguration
    ) -> (start: Int64, end: Int64)? {
        let context = (try? loadCertificate(of: configuration)) ?? nil
        return context?.validity.map { ($0.start, $0.end) }
    }

    /// Reads certificate and key; nil when there are none.
    static func loadCertificate(
        of configuration: ServerConfiguration
    ) throws(CertificateFault) -> TLSContext? {
        guard let certificatePath = configuration.tlsCertificatePath,
            let keyPath = configuration.tlsKeyPath
        else { return nil }
        let chain = try read(certificatePath, "tls-cert")
        let key = try read(keyPath, "tls-key")
        do throws(TLSError) {
            return try TLSContext(certificateChain: chain, privateKey: key)
        } catch {
            switch error {
            case .noPrivateKey, .encryptedPrivateKey:
                throw CertificateFault(sentence: "tls-key: \(error)")
            default:
                throw CertificateFault(sentence: "tls-cert: \(error)")
            }
        }
    }

    private static func read(
        _ path: String, _ option: String
    ) throws(CertificateFault) -> [UInt8] {
        do throws(SystemCallError) {
            return try WholeFile.read(path: path, byteLimit: 1 << 20)
        } catch {
            throw CertificateFault(sentence: "\(option) cannot be read: \(error)")
        }
    }
}

/// The reason why there is no certificate; the sentence names the option and not the path.
struct CertificateFault: Error {
    let sentence: String
}

extension SharedState {
    /// Records the end of a certificate for the metrics, and warns when it is not valid now.
    func note(_ context: TLSContext, in log: ServerLog) {
        guard let validity = context.validity else { return }
        figures.certificateEnd.store(validity.end, ordering: .relaxed)
        let second = WallTime.now().milliseconds / 1_000
        let end = Self.text(second: validity.end)
        if validity.hasEnded(atSecond: second) {
            log.write(.warning, "the certificate has expired", ("validUntil", end))
        } else if validity.isInFuture(atSecond: second) {
            let start = Self.text(second: validity.start)
            log.write(.warning, "the certificate is not valid yet", ("validFrom", start))
        } else {
            log.write(.info, "the certificate is in use", ("validUntil", end))
        }
    }

    /// Reads the certificate again; an unusable one changes nothing.
    func renewCertificate(of configuration: ServerConfiguration, log: ServerLog) {
        do throws(CertificateFault) {
            guard let context = try Server.loadCertificate(of: configuration) else { return }
            for mailbox in mailboxes { _ = mailbox.post(.renew(context)) }
            note(context, in: log)
        } catch {
            log.write(
                .error, "the new certificate is refused, and the old one stays",
                ("reason", error.sentence))
        }
    }

    /// Reads the certificates for the engine of a cluster again; unusable ones change nothing.
    func renewEngineCertificates(of configuration: ServerConfiguration, log: ServerLog) {
        guard let cluster = configuration.cluster else { return }
        do throws(StartError) {
            let context = try cluster.certificates()
            for mailbox in mailboxes { _ = mailbox.post(.renewEngine(context)) }
        } catch {
            log.write(
                .error, "the new certificates for the engine are refused, and the old ones stay",
                ("reason", "\(error)"))
        }
    }

    private static func text(second: Int64) -> String {
        var bytes: [UInt8] = []
        TimeText.append(milliseconds: second * 1_000, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
