import BelfryCenter

/// Writes commands as bytes, so that a second process can apply the same ones.
///
/// The format is no contract: whoever reads was built from the same sources as whoever wrote.
struct CommandWriter {
    var bytes: [UInt8] = []

    mutating func write(_ command: Command) {
        write(command.id)
        write(command.time.wallMilliseconds)
        write(command.time.monotonicNanoseconds)
        write(command.time.timerNanoseconds)
        write(command.action)
    }

    private mutating func write(_ id: CommandID) {
        write(UInt64(id.node))
        write(id.incarnation)
        write(id.counter)
    }

    mutating func write(_ word: UInt64) {
        for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift * 8))) }
    }

    mutating func write(_ number: Int64) { write(UInt64(bitPattern: number)) }
    mutating func write(_ number: Int) { write(Int64(number)) }
    mutating func write(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

    mutating func write(_ text: [UInt8]) {
        write(text.count)
        bytes += text
    }

    mutating func write(_ texts: [[UInt8]]) {
        write(texts.count)
        for text in texts { write(text) }
    }

    mutating func write<Value>(_ value: Value?, _ body: (inout CommandWriter, Value) -> Void) {
        write(value != nil)
        if let value { body(&self, value) }
    }

    mutating func write(_ text: [UInt8]?) { write(text) { $0.write($1) } }
    mutating func write(_ number: UInt64?) { write(number) { $0.write($1) } }
    mutating func write(_ number: Int64?) { write(number) { $0.write($1) } }

    mutating func write(_ id: NotificationID) {
        write(id.high)
        write(id.low)
    }

    mutating func write(_ hash: SecretHash) {
        write(hash.high)
        write(hash.low)
    }

    mutating func write(_ duration: Duration) {
        write(duration.components.seconds)
        write(duration.components.attoseconds)
    }

    mutating func write(_ name: ConnectionName) {
        write(UInt64(name.node))
        write(name.number)
    }

    mutating func write(_ remover: Remover) {
        switch remover {
        case .client(let id):
            bytes.append(0)
            write(id)
        case .principal(let principal):
            bytes.append(1)
            write(principal)
        case .broker: bytes.append(2)
        }
    }

    private mutating func write(_ action: Command.Action) {
        switch action {
        case .configure(let limits): write(kind: 0) { $0.write(limits) }
        case .connect(let client, let observers, let since):
            write(kind: 1) {
                $0.write(client)
                $0.write(observers.count)
                for observer in observers { $0.write(observer) }
                $0.write(since)
            }
        case .disconnect(let client, let connection, let isOrderly):
            write(kind: 2) {
                $0.write(client)
                $0.write(connection)
                $0.write(isOrderly)
            }
        case .resume(let resumption):
            write(kind: 3) {
                $0.write(resumption.newcomer)
                $0.write(resumption.client)
                $0.write(resumption.after)
            }
        case .setSuspended(let client, let flag):
            write(kind: 4) {
                $0.write(client)
                $0.write(flag)
            }
        case .becomeSlow(let client): write(kind: 5) { $0.write(client) }
        case .drain(let client): write(kind: 6) { $0.write(client) }
        case .post(let post, let terms):
            write(kind: 7) {
                $0.write(post)
                $0.write(terms)
            }
        case .postBatch(let posts, let terms):
            write(kind: 8) {
                $0.write(posts.count)
                for post in posts { $0.write(post) }
                $0.write(terms)
            }
        case .acknowledge(let client, let delivery, let response):
            write(kind: 9) {
                $0.write(client)
                $0.write(delivery.observer)
                $0.write(delivery.sequence)
                $0.write(delivery.row)
                $0.write(response)
            }
        case .ask(let ask, let terms):
            write(kind: 28) {
                $0.write(ask)
                $0.write(terms)
            }
        case .withdraw(let id): write(kind: 29) { $0.write(id) }
        case .leaveAsk(let id, let command):
            write(kind: 32) {
                $0.write(id)
                $0.write(command)
            }
        case .answer(let id, let observer, let response):
            write(kind: 30) {
                $0.write(id)
                $0.write(observer)
                $0.write(response)
            }
        case .setValue(let value, let document, let lifetime):
            write(kind: 40) {
                $0.write(value)
                $0.write(document)
                $0.write(lifetime)
            }
        case .mergeValue(let value, let patch):
            write(kind: 41) {
                $0.write(value)
                $0.write(patch)
            }
        case .removeValue(let value): write(kind: 42) { $0.write(value) }
        case .showAnnounced(let number): write(kind: 31) { $0.write(number) }
        case .addObserver(let observer, let client, let since):
            write(kind: 10) {
                $0.write(observer)
                $0.write(client)
                $0.write(since)
            }
        case .removeObserver, .removeObservers, .removeClient, .readMailbox, .attachReader,
            .detachReader, .dequeue, .dequeueEntry, .enterMode, .leaveMode, .endTurn, .idle,
            .passTime, .terminate, .trimHeld, .trim, .trimOwned:
            writeSecondHalf(action)
        }
    }

    private mutating func writeSecondHalf(_ action: Command.Action) {
        switch action {
        case .removeObserver(let serial, let remover):
            write(kind: 11) {
                $0.write(serial)
                $0.write(remover)
            }
        case .removeObservers(let client, let filter):
            write(kind: 12) {
                $0.write(client)
                $0.write(filter.name)
                $0.write(filter.object)
                $0.write(filter.target)
                $0.write(filter.selector)
            }
        case .removeClient(let client, let remover):
            write(kind: 13) {
                $0.write(client)
                $0.write(remover)
            }
        case .readMailbox(let observer, let through):
            write(kind: 14) {
                $0.write(observer)
                $0.write(through)
            }
        case .attachReader(let observer, let connection, let isStream):
            write(kind: 15) {
                $0.write(observer)
                $0.write(connection)
                $0.write(isStream)
            }
        case .detachReader(let observer, let connection):
            write(kind: 16) {
                $0.write(observer)
                $0.write(connection)
            }
        case .dequeue(let match): write(kind: 17) { $0.write(match) }
        case .dequeueEntry(let id, let scope):
            write(kind: 18) {
                $0.write(id)
                $0.write(scope)
            }
        case .enterMode(let entry): write(kind: 19) { $0.write(entry) }
        case .leaveMode(let serial): write(kind: 20) { $0.write(serial) }
        case .endTurn(let workLimit): write(kind: 21) { $0.write(workLimit) }
        case .idle: write(kind: 22) { _ in }
        case .passTime(let workLimit): write(kind: 23) { $0.write(workLimit) }
        case .terminate: write(kind: 24) { _ in }
        case .trimHeld(let byteCount): write(kind: 25) { $0.write(byteCount) }
        case .trim(let kind, let count):
            write(kind: 26) {
                $0.write(kind.rawValue)
                $0.write(count)
            }
        case .trimOwned(let kind, let owner):
            write(kind: 27) {
                $0.write(kind.rawValue)
                $0.write(UInt64(owner.number))
            }
        default: preconditionFailure("the first half of the commands is written before")
        }
    }

    private mutating func write(kind: UInt8, _ body: (inout CommandWriter) -> Void) {
        bytes.append(kind)
        body(&self)
    }
}

// MARK: - Parts

extension CommandWriter {
    mutating func write(_ limits: CenterLimits) {
        for number in [
            limits.clientObserverLimit, limits.replayCountLimit, limits.replayByteLimit,
            limits.tombstoneLimit, limits.fateLimit, limits.unobservedNameLimit,
            limits.causedByDepthLimit, limits.queueEntryLimit, limits.modeStackLimit,
            limits.queueModeLimit, limits.clientHeldCountLimit, limits.clientHeldByteLimit,
            limits.unacknowledgedLimit, limits.missedDeadlineLimit, limits.flushByteLimit,
            limits.keyLimit, limits.keyByteLimit, limits.askLimit, limits.clientAskLimit,
            limits.holderLimit, limits.hopLimit, limits.actionLookLimit, limits.answerMemoryLimit,
            limits.timerLimit, limits.farewellLimit,
            limits.valueLimit, limits.documentByteLimit, limits.documentDepthLimit,
            limits.valuePartLimit, limits.clientPartLimit,
        ] { write(number) }
        write(limits.fateLifetime)
        write(limits.keyLifetime)
        write(limits.orphanAfter)
        write(limits.commonModes)
        write(limits.isDurable)
    }

    mutating func write(_ client: ClientRegistration) {
        write(client.id)
        bytes.append(client.transport.rawValue)
        write(client.connection)
        write(client.sessionHash)
        write(client.principal)
    }

    mutating func write(_ observer: ObserverRegistration) {
        write(observer.serial)
        write(observer.tokenHash)
        write(observer.name)
        write(observer.object)
        write(observer.selector)
        bytes.append(observer.terms.suspensionBehavior.rawValue)
        write(observer.terms.acknowledges)
        write(observer.terms.endsWithConnection)
        write(observer.terms.holdLimit)
        write(observer.terms.minInterval)
        write(observer.terms.lease)
        write(observer.role.responder) { writer, responder in
            writer.write(responder.implements)
            writer.write(responder.next)
            writer.bytes.append(responder.ifHeld.rawValue)
            writer.write(responder.concurrency)
        }
        write(observer.role.target)
        write(observer.role.value) { $0.write($1) }
    }

    mutating func write(_ response: Response) {
        switch response {
        case .result(let answer, let canKeep):
            bytes.append(0)
            write(answer)
            write(canKeep)
        case .refusal(let error):
            bytes.append(1)
            write(error)
        case .passed(let error):
            bytes.append(2)
            write(error)
        case .oversized(let error):
            bytes.append(3)
            write(error)
        }
    }

    mutating func write(_ ask: Ask) {
        write(ask.id)
        write(ask.content.nameBytes)
        write(ask.content.objectBytes)
        write(ask.content.userInfoBytes)
        write(ask.causedBy) { $0.write($1) }
        write(ask.fallback)
        write(ask.isOnce)
        write(ask.lifetime)
        write(ask.wait)
    }

    mutating func write(_ terms: AskTerms) {
        write(terms.client)
        write(terms.principal)
        write(terms.canStore)
        write(terms.byteRoom)
        write(terms.key) { $0.write($1) }
    }

    mutating func write(_ key: IdempotencyKey) {
        write(key.principal)
        write(key.text)
        write(key.requestHash)
        bytes.append(key.form)
    }

    mutating func write(_ post: Post) {
        write(post.id)
        write(post.content.nameBytes)
        write(post.content.objectBytes)
        write(post.content.userInfoBytes)
        write(post.causedBy) { $0.write($1) }
        write(post.options) { writer, options in
            writer.write(options.style) { $0.bytes.append($1.rawValue) }
            writer.bytes.append(options.coalescing.rawValue)
            writer.write(options.keepsLatest)
            writer.write(options.modes)
            writer.write(options.maxDelay)
            writer.write(options.isImmediate)
            writer.write(options.timeToLive)
            writer.write(options.timer) { $0.write($1) }
        }
    }

    private mutating func write(_ timer: TimerTerms) {
        switch timer.start {
        case nil: bytes.append(0)
        case .after(let nanoseconds):
            bytes.append(1)
            write(nanoseconds)
        case .at(let milliseconds):
            bytes.append(2)
            write(milliseconds)
        }
        write(timer.period)
        write(timer.lease)
        write(timer.replaces)
        write(timer.isFarewell)
    }

    mutating func write(_ terms: PostTerms) {
        write(terms.wait)
        write(terms.reportsObservers)
        write(terms.canStore)
        write(terms.queueByteRoom)
        write(terms.details) { writer, details in
            writer.write(details.scope)
            writer.write(details.key) { $0.write($1) }
            writer.write(details.setter) { writer, setter in
                writer.write(setter.client)
                writer.write(setter.principal.name)
                writer.write(setter.principal.hasKey)
                writer.write(setter.byteRoom)
            }
        }
    }

    mutating func write(_ scope: PostScope) {
        guard case .some(let patterns) = scope else {
            bytes.append(0)
            return
        }
        bytes.append(1)
        write(patterns.count)
        for pattern in patterns {
            for texts in [pattern.names, pattern.objects] {
                write(texts.count)
                for text in texts {
                    switch text {
                    case .exact(let bytes):
                        self.bytes.append(0)
                        write(bytes)
                    case .prefix(let bytes):
                        self.bytes.append(1)
                        write(bytes)
                    }
                }
            }
        }
    }

    mutating func write(_ match: QueueMatch) {
        write(match.name)
        write(match.object)
        bytes.append(match.mask.rawValue)
        write(match.scope)
    }

    mutating func write(_ entry: ModeEntry) {
        write(entry.serial)
        write(entry.tokenHash)
        write(entry.mode)
        write(entry.client)
        write(entry.lease)
    }
}
