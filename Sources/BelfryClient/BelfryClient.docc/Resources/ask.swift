import BelfryClient

let url = try BrokerURL("http://127.0.0.1:8080")
let center = try await RemoteCenter.connect(to: url)
let kitchen = try await center.respond(to: "kitchen", ResponderOptions(["mayTake"])) {
    ask in
    ask.userInfo?.text == #"{"guests":4}"# ? "true" : "false"
}
let answer = try await center.ask(
    "kitchen", "mayTake", userInfo: UserInfo(json: #"{"guests":4}"#), default: "false")
print("the kitchen says \(answer.text)")
try await kitchen.remove()
await center.close()
