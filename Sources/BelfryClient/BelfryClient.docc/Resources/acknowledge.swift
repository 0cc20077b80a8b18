import BelfryClient

let url = try BrokerURL("http://127.0.0.1:8080")
let center = try await RemoteCenter.connect(to: url)
var options = ObserverOptions()
options.acknowledges = true
let orders = try await center.addObserver(forName: "Order", object: nil, options: options)
try await orders.handle { order in
    guard let order = order.userInfo else { throw Refusal("An order has a total.") }
    print("cooked: \(order.text)")
}
await center.close()
