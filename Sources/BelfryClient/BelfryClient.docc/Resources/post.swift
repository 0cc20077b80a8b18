import BelfryClient

let url = try BrokerURL("http://127.0.0.1:8080")
let center = try await RemoteCenter.connect(to: url)
let receipt = try await center.post(
    name: "Order", object: "shop", userInfo: UserInfo(json: #"{"total":12}"#))
print("\(receipt.matched) observers matched")
await center.close()
