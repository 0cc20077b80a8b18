// swift-tools-version: 6.2

import PackageDescription

/// Every room is built with the same strictness (STYLE.md, sections 1 and 8).
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableExperimentalFeature("Lifetimes"),
]

/// With BELFRY_FUZZ=1 the rooms are built so that libFuzzer sees which way they took, and with the
/// address sanitizer; what they depend on is built as it is released.
let isFuzzed = Context.environment["BELFRY_FUZZ"] != nil
// One flag: of several the compiler takes the last one alone.
let sanitizers = ["-sanitize=fuzzer,address"]

/// With BELFRY_RELEASE=1, as the scripts have it, rooms look into each other (decision 39).
///
/// Unsafe flags for everybody would keep the package from being a dependency.
let isReleased = Context.environment["BELFRY_RELEASE"] != nil
let built: [SwiftSetting] =
    isFuzzed
    ? [.unsafeFlags(sanitizers)]
    : isReleased
        ? [.unsafeFlags(["-cross-module-optimization"], .when(configuration: .release))] : []

/// Then the linker lays functions of the same code together, too: a program that is 250 KB smaller.
let linked: [LinkerSetting] =
    isReleased
    ? [.unsafeFlags(["-Xlinker", "--icf=safe"], .when(configuration: .release))] : []

/// One row of the table of rooms: a target in `Sources` that imports only what its row lists.
func room(_ name: String, _ imports: Target.Dependency...) -> Target {
    .target(name: name, dependencies: imports, swiftSettings: strict + built)
}

/// The tests of one room, in `Tests/<Room>Tests`.
func tests(
    of name: String, _ imports: Target.Dependency..., excluding files: [String] = []
) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: [.target(name: name)] + imports,
        exclude: files, swiftSettings: strict)
}

let package = Package(
    name: "belfry",
    products: [
        .executable(name: "belfry", targets: ["belfry"]),
        .library(name: "BelfryClient", targets: ["BelfryClient"]),
        .executable(name: "calculator-model1", targets: ["calculator-model1"]),
        .executable(name: "table-source", targets: ["table-source"]),
    ],
    // Exact versions, so that two builds of one commit have the same sources.
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    ],
    targets: [
        // The rooms, lowest first: what each is for stands in STYLE.md, section 1.
        room("BelfryBytes"),
        tests(of: "BelfryBytes"),
        room("BelfryCenter", "BelfryBytes", "BelfryJSON"),
        tests(
            of: "BelfryCenter", "BelfryBytes", "BelfryJSON", "TestSupport",
            excluding: ["Golden"]),
        room("BelfryCluster", "BelfryCenter", "BelfryNATS", "BelfryTLS"),
        tests(
            of: "BelfryCluster", "BelfryCenter", "BelfryNATS", "BelfryTLS", "SimulatedLog",
            "TestSupport"),
        room("BelfryJSON", "BelfryBytes"),
        tests(of: "BelfryJSON", "FuzzTargets", "TestSupport"),
        room("BelfryHTTP", "BelfryBytes"),
        tests(of: "BelfryHTTP", "TestSupport"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        room("BelfryWebSocket", "BelfryBytes", "CZlib"),
        tests(of: "BelfryWebSocket", "TestSupport"),
        room("BelfryNATS", "BelfryBytes", "BelfryJSON"),
        tests(of: "BelfryNATS", "BelfryJSON"),
        room("BelfryWire", "BelfryBytes", "BelfryCenter", "BelfryJSON"),
        tests(of: "BelfryWire", "BelfryCenter", "TestSupport"),
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        room("BelfryTLS", "COpenSSL"),
        tests(of: "BelfryTLS", "COpenSSL", "TestCertificates", "TestSupport"),
        room("BelfryAccess", "BelfryJSON", "BelfryTLS"),
        .testTarget(
            name: "BelfryAccessTests",
            dependencies: ["BelfryAccess", "BelfryTLS", "TestCertificates", "TestSupport"],
            exclude: ["Fixtures"], swiftSettings: strict),
        .target(name: "CBelfrySystem"),
        room("BelfrySystem", "CBelfrySystem"),
        tests(of: "BelfrySystem"),
        room("BelfryLoop", "BelfrySystem"),
        tests(of: "BelfryLoop", "BelfrySystem"),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        room("BelfryStore", "BelfryCenter", "BelfrySystem", "CSQLite"),
        tests(
            of: "BelfryStore", "BelfryCenter", "BelfryJSON", "BelfrySystem", "TestSupport"),
        .target(name: "CBelfryAssets"),
        room(
            "BelfryServer", "BelfryBytes", "BelfryCenter", "BelfryCluster", "BelfryJSON",
            "BelfryNATS", "BelfryHTTP", "BelfryWebSocket", "BelfryTLS",
            "BelfryWire", "BelfryAccess", "BelfrySystem", "BelfryLoop", "BelfryStore",
            "CBelfryAssets"),
        room(
            "BelfryClient", "BelfryJSON", "BelfryHTTP", "BelfryWebSocket", "BelfryTLS",
            "BelfrySystem", "BelfryLoop"),
        tests(
            of: "BelfryClient", "BelfryHTTP", "BelfryWebSocket", "BelfryTLS", "BelfrySystem",
            "BelfryLoop", "TestCertificates", "TestSupport"),

        .executableTarget(
            name: "belfry",
            dependencies: [
                "BelfryServer", "BelfryClient", "BelfryCenter", "BelfryJSON", "BelfryWire",
                "BelfryAccess", "BelfrySystem",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ], swiftSettings: strict, linkerSettings: linked),
        .testTarget(
            name: "BelfryToolTests",
            dependencies: [
                "belfry", "BelfryServer", "BelfryClient", "BelfryAccess", "BelfryCenter",
                "BelfryLoop", "BelfrySystem",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ], swiftSettings: strict),

        // The examples.
        .executableTarget(
            name: "calculator-model1", dependencies: ["BelfryClient"],
            path: "Examples/Calculator/Model1", swiftSettings: strict),
        .testTarget(
            name: "CalculatorTests", dependencies: ["calculator-model1"], swiftSettings: strict),
        .executableTarget(
            name: "table-source", dependencies: ["BelfryClient"],
            path: "Examples/Table/Source", swiftSettings: strict),
        .testTarget(name: "TableTests", dependencies: ["table-source"], swiftSettings: strict),
        tests(
            of: "BelfryServer", "BelfryAccess", "BelfryCenter", "BelfryHTTP", "BelfryJSON",
            "BelfryCluster", "BelfryLoop", "BelfryStore", "BelfrySystem", "BelfryTLS",
            "BelfryWebSocket", "BelfryWire", "SimulatedLog", "TestCertificates", "TestSupport"),

        // What several test targets use: it knows no room.
        .target(name: "TestSupport", path: "Tests/Support", swiftSettings: strict),

        // Certificates that tests make for themselves.
        .target(
            name: "TestCertificates", dependencies: ["COpenSSL"],
            path: "Tests/TestCertificates", swiftSettings: strict),

        // The runner of Clients/cases, which every library passes.
        .executableTarget(
            name: "belfry-case-runner",
            dependencies: ["BelfryClient", "BelfryJSON", "BelfrySystem"],
            path: "Tests/CaseRunner", swiftSettings: strict),

        // The conditions on userInfo that Tests/Where/where.py compares with its own.
        .executableTarget(
            name: "belfry-where", dependencies: ["BelfryJSON", "BelfrySystem"],
            path: "Tests/Where", exclude: ["where.py"], swiftSettings: strict),

        // Whole histories of a broker, checked by the laws alone: it knows no room.
        .target(name: "BelfryHistory", path: "Tests/History", swiftSettings: strict),

        // An engine in memory, with all that may go wrong at one.
        .target(
            name: "SimulatedLog", dependencies: ["BelfryCluster", "TestSupport"],
            path: "Tests/SimulatedLog", swiftSettings: strict),

        // The cases of journals on servers that run (Scripts/engine-check).
        .executableTarget(
            name: "belfry-engine-cases",
            dependencies: ["BelfryCenter", "BelfryCluster", "BelfrySystem", "SimulatedLog"],
            path: "Tests/EngineCases", swiftSettings: strict),

        // The simulator: center, wire and store in one thread, checked by a model and by its history.
        .executableTarget(
            name: "belfry-simulator",
            dependencies: [
                "BelfryBytes", "BelfryCenter", "BelfryCluster", "BelfryJSON", "BelfryWire",
                "BelfryStore", "BelfryHistory", "SimulatedLog", "TestSupport",
            ],
            path: "Tests/Simulator", swiftSettings: strict),

        // What must hold for all bytes from outside; the fuzzer and the suite ask the same.
        .target(
            name: "FuzzTargets",
            dependencies: [
                "BelfryAccess", "BelfryCenter", "BelfryHTTP", "BelfryJSON", "BelfryNATS",
                "BelfryWebSocket", "BelfryWire",
            ],
            path: "Tests/FuzzTargets", swiftSettings: strict + built),
        .testTarget(
            name: "FuzzTests", dependencies: ["FuzzTargets"], exclude: ["Corpora"],
            swiftSettings: strict),

        // The tests: one row a room, and the rules that hold for all of them.
        .testTarget(
            name: "HouseRulesTests", exclude: ["Exceptions.txt"], swiftSettings: strict),
        .testTarget(
            name: "ContractTests",
            dependencies: [
                "BelfryHTTP", "BelfryJSON", "BelfryNATS", "BelfryServer", "BelfryStore",
                "BelfryWebSocket", "BelfryWire",
            ],
            swiftSettings: strict),
    ]
)

// The fuzzer is built by Scripts/fuzz alone: its entry is libFuzzer's.
if isFuzzed {
    package.targets.append(
        .executableTarget(
            name: "belfry-fuzz", dependencies: ["FuzzTargets"], path: "Tests/Fuzzer",
            swiftSettings: strict + built + [.unsafeFlags(["-parse-as-library"])],
            linkerSettings: [.unsafeFlags(sanitizers)]))
}

// The programs of `Benchmarks` are built on request alone: BELFRY_BENCHMARKS=1 swift build.
if Context.environment["BELFRY_BENCHMARKS"] != nil {
    package.targets += [
        .executableTarget(
            name: "BenchmarkBroker", dependencies: ["BelfryServer", "BelfrySystem"],
            path: "Benchmarks/BenchmarkBroker", swiftSettings: strict),
        .executableTarget(
            name: "CenterBenchmark", dependencies: ["BelfryCenter", "BelfrySystem"],
            path: "Benchmarks/CenterBenchmark", swiftSettings: strict),
        .executableTarget(
            name: "RoomBenchmark",
            dependencies: [
                "BelfryCenter", "BelfryHTTP", "BelfryJSON", "BelfryWebSocket", "BelfrySystem",
            ],
            path: "Benchmarks/RoomBenchmark", swiftSettings: strict),
    ]
}
