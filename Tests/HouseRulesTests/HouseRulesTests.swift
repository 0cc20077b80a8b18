import Testing

/// Each test is one rule of STYLE.md, read off the package's own files.
@Suite("The house rules (STYLE.md)")
struct HouseRulesTests {
    static let house = House.own
    static let rooms = house.sources(in: "Sources")
    static let tests = house.sources(in: "Tests")
    static let others = house.sources(in: "Examples") + house.sources(in: "Benchmarks")
    static let everything = rooms + tests + others
    static let manifest = Manifest(text: house.text(of: "Package.swift") ?? "")

    private func expectNone(
        _ violations: [Violation], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let list = violations.map(\.description).joined(separator: "\n")
        #expect(violations.isEmpty, "\n\(list)", sourceLocation: sourceLocation)
    }

    @Test("the checks find the package and its table of rooms")
    func findsHouse() {
        let table = RoomTable(style: Self.house.text(of: "STYLE.md") ?? "")
        #expect(!Self.rooms.isEmpty)
        #expect(table.imports(of: "BelfryWire") == ["BelfryBytes", "BelfryCenter", "BelfryJSON"])
        #expect(table.rows.map(\.room).contains("belfry"))
    }

    @Test("a room imports only what its row lists (section 1)")
    func arrows() {
        let table = RoomTable(style: Self.house.text(of: "STYLE.md") ?? "")
        expectNone(Self.rooms.flatMap { HouseRules.arrows(of: $0, in: table) })
    }

    @Test("Foundation is imported by tests only (section 1)")
    func foundation() {
        expectNone((Self.rooms + Self.others).flatMap(HouseRules.foundation))
    }

    @Test("type and file names say what a thing is (section 2)")
    func names() {
        expectNone(Self.everything.flatMap(HouseRules.bannedNames))
    }

    @Test("every public or package declaration has a summary (section 4)")
    func summaries() {
        expectNone(Self.rooms.flatMap(HouseRules.undocumentedInterface))
    }

    @Test("every task in a comment has an issue number (section 4)")
    func tasks() {
        expectNone(Self.everything.flatMap(HouseRules.unnumberedTasks))
    }

    @Test("nothing is unwrapped or tried by force (section 5)")
    func force() {
        expectNone(Self.everything.flatMap(HouseRules.forcedValues))
    }

    @Test("a Sendable check that is off says why (section 7)")
    func sendable() {
        expectNone(Self.everything.flatMap(HouseRules.unmarkedSendable))
    }

    @Test("who submits a command reads elsewhere what it brought about (section 7)")
    func submissions() {
        expectNone(Self.rooms.flatMap(HouseRules.hastyReads))
        // Each exception must still be one.
        let bodies = Self.rooms.filter { $0.target == "BelfryServer" }.flatMap { source in
            HouseRules.bodies(of: source).map { (source, $0) }
        }
        for (file, name) in HouseRules.hastyFunctions {
            let exempt = bodies.contains { source, body in
                source.path.hasSuffix("/" + file) && body.name == name
                    && source.tokens[body.tokens].contains { $0.text == "submitCommand" }
            }
            #expect(exempt, "\(file) has no `\(name)` that submits")
        }
    }

    @Test("no loop of a center or its host is without a price (section 7)")
    func loops() {
        let sources = Self.rooms.filter(HouseRules.pricesLoops)
        #expect(sources.flatMap(HouseRules.boundMarks).count > 400)
        expectNone(sources.flatMap(HouseRules.unpricedLoops))
    }

    /// With WRITE_DOCUMENTS=1 the column of the files is written instead.
    @Test("the table of what may be taken of a turn has each bound, and the files that name it")
    func bounds() throws {
        let marks = Self.rooms.filter(HouseRules.pricesLoops).flatMap(HouseRules.boundMarks)
        let document = Self.house.text(of: BoundTable.path) ?? ""
        let table = BoundTable(document: document)
        #expect(Set(table.names).count == table.names.count)
        #expect(BoundTable.elsewhere.isSubset(of: table.names))
        expectNone(table.violations(of: marks))
        let page = table.page(with: marks)
        if House.writesDocuments {
            try Self.house.write(page, to: BoundTable.path)
        } else {
            #expect(document == page)
        }
    }

    @Test("each unsafe expression has a sentence that names the bound (section 8)")
    func safety() {
        expectNone(Self.everything.flatMap(HouseRules.unmarkedUnsafe))
    }

    @Test("only the room of bytes and those at the machine's edge use unsafe code (section 8)")
    func unsafeRooms() {
        expectNone(Self.rooms.flatMap(HouseRules.misplacedUnsafe))
    }

    @Test("only the files that are listed tell transports apart (Architecture.md section 2)")
    func transports() {
        let document = Self.house.text(of: "Documentation/Architecture.md") ?? ""
        let listed = HouseRules.files(namedIn: document, paragraph: "Each transport")
        #expect(listed.contains("Transport+Words.swift"))
        let file = Self.rooms.first { $0.path.hasSuffix("/Transport.swift") }
        var names = file.map(HouseRules.cases(declaredIn:)) ?? []
        // Why a client gets nothing has this name too, and a mailbox is touched by no other
        // transport.
        #expect(names.remove("mailbox") != nil && names.count >= 2)
        expectNone(
            Self.rooms.flatMap {
                HouseRules.strayTransports(in: $0, names: names, listed: listed)
            })
    }

    @Test("every folder of sources has its row in Package.swift", arguments: ["Sources", "Tests"])
    func rows(folder: String) {
        let missing = Self.house.targets(in: folder).subtracting(Self.manifest.rows.map(\.folder))
        #expect(missing.sorted() == [])
    }

    @Test("every target is built with strict memory safety, and warnings are errors (section 8)")
    func strictness() {
        let swift = Self.house.targets(in: "Sources").union(Self.house.targets(in: "Tests"))
        let lax = Self.manifest.rows.filter { swift.contains($0.folder) && !Manifest.isStrict($0) }
        #expect(lax.map(\.folder) == [])
        let text = Self.house.text(of: "Package.swift") ?? ""
        #expect(text.contains(".strictMemorySafety()"))
        #expect(text.contains(".treatAllWarnings(as: .error)"))
    }

    @Test("every rule, decision and section that a file cites exists (section 9)")
    func citations() {
        let citations = Citations(of: Self.house)
        #expect(citations.rules.count > 70)
        expectNone(
            Self.house.files().flatMap { path in
                Self.house.text(of: path).map { citations.unknown(in: $0, path: path) } ?? []
            })
    }

    @Test("every source file that a document names exists (section 9)")
    func namedFiles() {
        let files = Self.house.files().compactMap { $0.split(separator: "/").last }
        // Decisions tell of their time.
        let documents = Self.house.files(in: "Documentation").filter {
            !$0.contains("/Decisions/")
        }
        let named = documents.flatMap { path in
            (Self.house.text(of: path) ?? "").matches(of: /`([A-Za-z+]+\.swift)`/)
                .map { (path, $0.output.1) }
        }
        #expect(named.count > 70)
        let missing = named.filter { !files.contains($0.1) }.map { "\($0.0): \($0.1)" }
        #expect(missing == [])
    }

    @Test("every file of a walk exists, and its heading has the number of them (section 9)")
    func walks() {
        let walks = Walks(document: Self.house.text(of: "Documentation/Architecture.md") ?? "")
        #expect(walks.counts.keys.sorted() == ["a", "b", "c", "d", "e"])
        #expect(walks.steps.count > 30)
        #expect(walks.faults(in: Self.rooms.map(\.path)) == [])
    }

    @Test("every rule has a test that is named after it (section 9)")
    func namedRules() {
        let named = Self.house.files(in: "Tests").filter { $0.hasSuffix(".swift") }
            .compactMap { Self.house.text(of: $0) }
            .reduce(into: Set()) { $0.formUnion(Citations.named(in: $1)) }
        #expect(Citations(of: Self.house).rules.subtracting(named).sorted() == [])
    }

    @Test("the list of decisions has each of them once (section 11)")
    func decisions() {
        let list = Self.house.text(of: "Documentation/Decisions/README.md") ?? ""
        let listed = list.matches(of: /(?m)^\| \[(\d+)\]\(([^)]*)\)/).map { match in
            "Documentation/Decisions/\(match.output.2)"
        }
        let files = Self.house.files(in: "Documentation/Decisions").filter {
            !$0.hasSuffix("README.md")
        }
        #expect(listed == files)
    }

    @Test("every planted fault of Tests/Mutations still has its place")
    func mutations() {
        let patches = Self.house.files(in: "Tests/Mutations").filter { $0.hasSuffix(".patch") }
        #expect(patches.count > 30)
        expectNone(
            patches.flatMap { path in
                HouseRules.lostPlaces(
                    of: Self.house.text(of: path) ?? "", path: path, textOf: Self.house.text)
            })
    }

    @Test("no file names a path of one person's machine")
    func machinePaths() {
        expectNone(
            Self.house.files().flatMap { path in
                Self.house.text(of: path).map { HouseRules.machinePaths(path: path, text: $0) }
                    ?? []
            })
    }

    @Test("no figure of the house is past its limit, and no exception is larger than it must be")
    func figures() {
        let pages = Self.house.files().filter { $0.hasSuffix(".md") }
        let figures =
            HouseRules.types(of: Self.rooms) + HouseRules.plan(of: Self.rooms)
            + Self.everything.flatMap(HouseRules.figures)
            + pages.map { path in
                HouseRules.columns(ofPage: Self.house.text(of: path) ?? "", path: path)
            }
        #expect(figures.count > 5_000)
        let text = Self.house.text(of: "Tests/HouseRulesTests/Exceptions.txt") ?? ""
        expectNone(Exceptions(text: text).violations(of: figures))
    }
}
