import BelfryClient

let url = try BrokerURL("http://127.0.0.1:8080")
let center = try await RemoteCenter.connect(to: url)
let menu = try await center.addObserver(object: "menu", keyPath: "soup")
_ = try await center.setValue("menu", keyPath: "soup", json: #""tomato""#)
for try await change in menu {
    print("the soup is \(change.value ?? "off the menu")")
}
await center.close()
