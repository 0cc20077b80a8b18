import BelfryCenter
import BelfrySystem
import BelfryWire
import Synchronization

// What operators are to be woken for. Labels are words of the broker; all of them are there from the
// start with 0, so that a rate begins with the first trouble.

extension MetricsText {
    /// What was lost and what was refused.
    mutating func addTroubles(_ shared: SharedState) {
        let losses = shared.losses.withLock { $0 }
        add(
            "belfry_lost_total", "counter",
            "Notifications that observers lost, once for each observer; a gap of unknown size counts as 1.",
            samples: Gap.Reason.allCases.map { ("{reason=\"\($0.text)\"}", "\(losses[$0])") })
        let refusals = shared.refusals.withLock { $0 }
        add(
            "belfry_refused_total", "counter",
            "Requests and calls that were refused, by the type of the problem that they were told.",
            samples: Problem.Kind.allCases.map {
                ("{type=\"\($0.slug)\"}", "\(refusals[$0] ?? 0)")
            })
    }

    /// What the process takes, under the names that Prometheus gives it everywhere.
    mutating func add(_ process: ProcessSampler.Sample, since start: WallTime) {
        let figures = process.figures
        add(
            "process_resident_memory_bytes", "gauge", "Resident memory, as of the look before.",
            UInt64(figures?.residentByteCount ?? 0))
        add(
            "process_open_fds", "gauge", "Open descriptors, as of the look before.",
            UInt64(figures?.openDescriptorCount ?? 0))
        add(
            "process_max_fds", "gauge", "How many descriptors may be open.",
            UInt64(process.descriptorLimit))
        let time = figures?.processorTime ?? .zero
        let hundredths = time.nanoseconds / 10_000_000
        let rest = hundredths % 100
        add(
            "process_cpu_seconds_total", "counter", "Processor time, as of the look before.",
            samples: [("", "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)")])
        add(
            "process_start_time_seconds", "gauge", "When the process started, since 1970.",
            UInt64(start.milliseconds / 1_000))
    }
}
