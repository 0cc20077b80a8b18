extension RequestHead {
    /// How much the client wants a media type by its Accept fields, from 0 to 1000.
    ///
    /// The most specific range decides (RFC 9110 §12.5.1); without Accept all types are 1000.
    /// - Parameter essence: The type in lower case without parameters, as `text/html`.
    public func acceptQuality(of essence: String) -> Int {
        let fields = values(of: "accept")
        guard !fields.isEmpty else { return 1000 }
        var best = (specificity: 0, quality: 0)
        for field in fields {
            let text = value(in: field)
            var cursor = 0
            while let element = FieldList.nextElement(in: text, at: &cursor) {
                let found = Self.judge(text.extracting(element), essence)
                if found.specificity > best.specificity { best = found }
            }
        }
        return best.quality
    }

    /// How exactly one media range names the type (0 is not at all), and its weight.
    private static func judge(
        _ range: Span<UInt8>, _ essence: String
    ) -> (specificity: Int, quality: Int) {
        var cursor = 0
        let name = range.extracting(
            FieldList.nextPart(in: range, separator: ASCII.semicolon, at: &cursor))
        let type = essence.prefix { $0 != "/" }
        let specificity =
            name.equalsIgnoringCase(essence)
            ? 3 : name.equalsIgnoringCase("\(type)/*") ? 2 : name.equals("*/*") ? 1 : 0
        return (specificity, quality(of: range, behind: cursor))
    }

    /// The weight among the parameters of an element (RFC 9110 §12.4.2), in thousandths.
    private static func quality(of element: Span<UInt8>, behind start: Int) -> Int {
        var (quality, cursor) = (1000, start)
        while cursor < element.count {
            let part = element.extracting(
                FieldList.nextPart(in: element, separator: ASCII.semicolon, at: &cursor))
            guard part.count > 2, part[0] | 0x20 == 0x71, part[1] == ASCII.equals else { continue }
            quality = weight(part.extracting(droppingFirst: 2))
        }
        return quality
    }

    /// Whether content encoded with gzip is at least as welcome as content that is not encoded, by
    /// the Accept-Encoding fields (RFC 9110 §12.5.3).
    ///
    /// Without the field the client may not know any encoding: content stays as it is.
    public var acceptsGzip: Bool {
        var gzip: Int?
        var others: Int?
        var identity: Int?
        for field in values(of: "accept-encoding") {
            let text = value(in: field)
            var cursor = 0
            while let element = FieldList.nextElement(in: text, at: &cursor) {
                let coding = text.extracting(element)
                var end = 0
                let name = coding.extracting(
                    FieldList.nextPart(in: coding, separator: ASCII.semicolon, at: &end))
                let quality = Self.quality(of: coding, behind: end)
                if name.equalsIgnoringCase("gzip") || name.equalsIgnoringCase("x-gzip") {
                    gzip = gzip ?? quality
                } else if name.equals("*") {
                    others = others ?? quality
                } else if name.equalsIgnoringCase("identity") {
                    identity = identity ?? quality
                }
            }
        }
        let wanted = gzip ?? others ?? 0
        return wanted > 0 && wanted >= identity ?? 0
    }

    /// `0` or `1` with up to three decimals, in thousandths; anything else is 0.
    private static func weight(_ text: Span<UInt8>) -> Int {
        guard text.count <= 5, text[0] == 0x30 || text[0] == 0x31 else { return 0 }
        var weight = Int(text[0] &- ASCII.zero) * 1000
        guard text.count > 1 else { return weight }
        guard text[1] == 0x2E else { return 0 }
        var unit = 100
        for index in 2..<text.count {
            guard ASCII.isDigit(text[index]) else { return 0 }
            weight += Int(text[index] &- ASCII.zero) * unit
            unit /= 10
        }
        return min(weight, 1000)
    }
}
