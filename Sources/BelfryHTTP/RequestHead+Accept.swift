extension RequestHead {
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
