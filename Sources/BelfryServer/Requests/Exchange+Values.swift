import BelfryBytes
import BelfryCenter
import BelfryHTTP
import BelfryWire

// Values: the path names object and key path, fields have the conditions, and the content is the
// value or a patch.

extension Exchange {
    /// Reads the look at a value, which may be a long poll.
    mutating func readValue(
        _ path: RoutedPath, _ reader: RequestReader
    ) throws(Problem) -> CenterRequest {
        let look = ValueLook(
            place: try valuePlace(path, reader), condition: try condition(reader))
        return .readValue(look, wait: readingWait())
    }

    /// Reads the write of a value.
    mutating func setValue(
        _ path: RoutedPath, _ query: inout Query, content: Span<UInt8>, _ reader: RequestReader
    ) throws(Problem) -> CenterRequest {
        try checkContentType(allowsForm: true)
        return .write(
            try reader.setValue(
                valuePlace(path, reader), condition: condition(reader), query: query.takeRest(),
                content: content))
    }

    /// Reads a merge patch.
    mutating func mergeValue(
        _ path: RoutedPath, _ query: inout Query, content: Span<UInt8>, _ reader: RequestReader
    ) throws(Problem) -> CenterRequest {
        if !parser.head.hasContentType
            || !MediaType.matches(parser.head.contentType, "application/merge-patch+json")
        {
            try checkContentType(allowsForm: true)
        }
        return .write(
            try reader.mergeValue(
                valuePlace(path, reader), condition: condition(reader), query: query.takeRest(),
                content: content))
    }

    /// Reads a removal.
    mutating func removeValue(
        _ path: RoutedPath, _ reader: RequestReader
    ) throws(Problem) -> CenterRequest {
        let place = try valuePlace(path, reader)
        return .write(
            ValueRequest(
                object: place.object, path: place.path, condition: try condition(reader),
                change: .remove))
    }

    private func valuePlace(
        _ path: RoutedPath, _ reader: RequestReader
    ) throws(Problem) -> ValuePlace {
        try reader.valuePlace(object: path.argument, keyPath: path.secondArgument)
    }

    /// The preconditions (RFC 9110 §13.1); several lines of one field are one list.
    private func condition(_ reader: RequestReader) throws(Problem) -> ValueCondition {
        try reader.condition(ifMatch: joined("if-match"), ifNoneMatch: joined("if-none-match"))
    }

    /// The value of a field; several lines are one list.
    func joined(_ name: String) -> [UInt8]? {
        let lines = parser.head.values(of: name)
        guard !lines.isEmpty else { return nil }
        var value: [UInt8] = []
        for line in lines {
            if !value.isEmpty { value.append(UInt8(ascii: ",")) }
            value.append(parser.head.value(in: line))
        }
        return value
    }
}
