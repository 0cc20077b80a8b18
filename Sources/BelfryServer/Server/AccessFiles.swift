import BelfryAccess
import BelfrySystem

/// The reason why a file of keys cannot be used; it names the option.
struct AccessFileFault: Error, Equatable {
    let sentence: String
}

/// Reads the files of keys, on a thread that may block.
enum AccessFiles {
    /// The largest file of keys, in bytes.
    static let byteLimit = 32 << 20

    static func read(
        _ access: AccessConfiguration, log: ServerLog
    ) throws(AccessFileFault) -> Keyring {
        guard access.hasFiles else { return Keyring() }
        let keys = try bytes(access.keysPath, "the file of --keys", log)
        let keySet = try bytes(access.keySetPath, "the file of --jwks", log)
        // One after the other, so that a fault says which file it is in.
        if let keys, keySet != nil {
            _ = try keyring(keys, nil, access.rules, "the file of --keys")
        }
        let name = keySet == nil ? "the file of --keys" : "the file of --jwks"
        let keyring = try keyring(keys, keySet, access.rules, name)
        log.write(
            .info, "keys", ("keys", keyring.keyCount),
            ("tokenKeys", keyring.tokenKeyCount))
        return keyring
    }

    private static func bytes(
        _ path: String?, _ name: String, _ log: ServerLog
    ) throws(AccessFileFault) -> [UInt8]? {
        guard let path else { return nil }
        do throws(SystemCallError) {
            let bytes = try WholeFile.read(path: path, byteLimit: byteLimit)
            if try WholeFile.isReadableByAll(path: path) {
                log.write(.warning, "others can read \(name): chmod 600 keeps it from them")
            }
            return bytes
        } catch {
            throw AccessFileFault(sentence: "\(name) cannot be read: \(error)")
        }
    }

    private static func keyring(
        _ keys: [UInt8]?, _ keySet: [UInt8]?, _ rules: TokenRules, _ name: String
    ) throws(AccessFileFault) -> Keyring {
        do throws(AccessError) {
            return try Keyring(keys: keys, keySet: keySet, rules: rules)
        } catch {
            throw AccessFileFault(sentence: "\(name): \(error.sentence)")
        }
    }
}
