import BelfryClient

let url = try BrokerURL("http://127.0.0.1:8080")
let center = try RemoteCenter.connecting(to: url)
Task {
    for await state in center.connectionStates {
        switch state {
        case .open: print("connected")
        case .away(let error): print("away: \(error)")
        case .over(let error): print("over: \(error)")
        }
    }
}
let orders = try await center.addObserver(forName: "Order", object: nil)
for try await order in orders {
    if let gap = order.gapBefore {
        print("lost before it: \(gap.lostCount.map { "\($0)" } ?? "nobody knows")")
    }
    print("an order: \(order.userInfo?.text ?? "{}")")
}
await center.close()
