/// The limits that are reached now, and the lines that clients cause.
struct LimitWatch {
    var reached = ReachedLimits()
    var isTimerSet = false
    var seldomLines = SeldomLines()
}
