import BelfryClient

/// The steps of the tutorial of BelfryClient as in its catalog (`TutorialTests` compares them).
///
/// The lines between the marks are a step, behind the lines that all steps begin with.
enum TutorialSteps {
    typealias Print = @Sendable (String) -> Void

    static func post(_ url: BrokerURL, print: Print) async throws {
        // step: post
        let center = try await RemoteCenter.connect(to: url)
        let receipt = try await center.post(
            name: "Order", object: "shop", userInfo: UserInfo(json: #"{"total":12}"#))
        print("\(receipt.matched) observers matched")
        await center.close()
        // end
    }

    static func observe(_ url: BrokerURL, print: Print) async throws {
        // step: observe
        let center = try await RemoteCenter.connect(to: url)
        let orders = try await center.addObserver(forName: "Order", object: nil)
        for try await order in orders {
            print("\(order.object ?? "somebody") has \(order.userInfo?.text ?? "{}")")
        }
        await center.close()
        // end
    }

    static func comeBack(_ url: BrokerURL, print: @escaping Print) async throws {
        // step: return
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
        // end
    }

    static func acknowledge(_ url: BrokerURL, print: Print) async throws {
        // step: acknowledge
        let center = try await RemoteCenter.connect(to: url)
        var options = ObserverOptions()
        options.acknowledges = true
        let orders = try await center.addObserver(forName: "Order", object: nil, options: options)
        try await orders.handle { order in
            guard let order = order.userInfo else { throw Refusal("An order has a total.") }
            print("cooked: \(order.text)")
        }
        await center.close()
        // end
    }

    static func ask(_ url: BrokerURL, print: Print) async throws {
        // step: ask
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
        // end
    }

    static func value(_ url: BrokerURL, print: Print) async throws {
        // step: value
        let center = try await RemoteCenter.connect(to: url)
        let menu = try await center.addObserver(object: "menu", keyPath: "soup")
        _ = try await center.setValue("menu", keyPath: "soup", json: #""tomato""#)
        for try await change in menu {
            print("the soup is \(change.value ?? "off the menu")")
        }
        await center.close()
        // end
    }
}
