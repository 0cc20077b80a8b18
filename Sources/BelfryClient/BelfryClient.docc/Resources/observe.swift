import BelfryClient

let url = try BrokerURL("http://127.0.0.1:8080")
let center = try await RemoteCenter.connect(to: url)
let orders = try await center.addObserver(forName: "Order", object: nil)
for try await order in orders {
    print("\(order.object ?? "somebody") has \(order.userInfo?.text ?? "{}")")
}
await center.close()
