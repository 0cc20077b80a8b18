import BelfryCluster
import BelfrySystem
import BelfryTLS

// The broker's credentials for the engine, and the certificates that it trusts: reading the files
// may block.

extension ClusterConfiguration {
    /// Whether the broker speaks to the engine over TLS only.
    var wantsTLS: Bool {
        authoritiesPath != nil || certificatePath != nil || servers.contains { $0.isSecure }
    }

    /// The user or the token of the broker.
    func credentials() throws(StartError) -> NATSSettings.Credentials {
        if let tokenPath { return .token(try Self.firstLine(of: tokenPath, "--engine-token-file")) }
        guard let passwordPath else { return .none }
        return .user(
            user, password: try Self.firstLine(of: passwordPath, "--engine-password-file"))
    }

    /// The certificate of the broker, and those that it trusts.
    ///
    /// They are needed without TLS options too, as a server may insist on TLS.
    func certificates() throws(StartError) -> TLSContext {
        let authorities = try authoritiesPath.map { path throws(StartError) in
            TLSContext.Authorities.pem(try Self.read(path, "--engine-ca"))
        }
        var identity: (certificateChain: [UInt8], privateKey: [UInt8])?
        if let certificatePath, let keyPath {
            identity = (
                try Self.read(certificatePath, "--engine-cert"),
                try Self.read(keyPath, "--engine-key")
            )
        }
        do throws(TLSError) {
            return try TLSContext(
                authorities: authorities ?? .system, identity: identity, for: .unnamed)
        } catch {
            let option =
                switch error {
                case .noAuthorities: "--engine-ca"
                case .noPrivateKey, .encryptedPrivateKey: "--engine-key"
                default: "--engine-cert"
                }
            throw .configuration("\(option): \(error)")
        }
    }

    private static func firstLine(of path: String, _ option: String) throws(StartError) -> String {
        let line = try read(path, option).prefix {
            $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r")
        }
        return String(decoding: line, as: UTF8.self)
    }

    private static func read(_ path: String, _ option: String) throws(StartError) -> [UInt8] {
        do throws(SystemCallError) {
            return try WholeFile.read(path: path, byteLimit: fileByteLimit)
        } catch {
            throw .configuration("The file of \(option) cannot be read: \(error)")
        }
    }

    /// The largest of these files, in bytes.
    private static let fileByteLimit = 1 << 20
}
