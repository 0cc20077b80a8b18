extension ServerConfiguration {
    /// The most descriptors that the broker needs besides those of connections.
    ///
    /// Each loop has two, each listener one. The other 24 are for the streams, the signals, the
    /// store, and the files that a reload reads.
    var ownDescriptorCount: Int {
        24 + 2 * loopCount + listenAddresses.count + tlsListenAddresses.count
    }

    /// The most connections where the process may have `descriptorCount` descriptors.
    ///
    /// - Throws: `.configuration` when the option asks for more than there is room for.
    func connectionLimit(descriptorCount: Int) throws(StartError) -> Int {
        guard let connectionLimit else { return max(1, descriptorCount * 9 / 10 - 16) }
        let room = max(0, descriptorCount - ownDescriptorCount)
        guard connectionLimit <= room else {
            throw .configuration(
                """
                --max-connections \(connectionLimit) needs \(connectionLimit + ownDescriptorCount) \
                descriptors, and this process may have \(descriptorCount): say at most \(room), or \
                let it have more (ulimit -n, LimitNOFILE= of systemd, --ulimit nofile= of a \
                container).
                """)
        }
        return connectionLimit
    }
}
