import BelfryJSON
import BelfryTLS
import BelfryWebSocket

/// The fifteen lines of HTML that observe a name and an object.
///
/// What somebody put into the query stands in a title and in strings of the script, and ends neither.
struct TryPage {
    /// What is observed; nil is any.
    let name: [UInt8]?
    let object: [UInt8]?
    /// Where; nil is the center `default`.
    let center: [UInt8]?

    /// The page.
    var text: String {
        """
        <!doctype html>
        <meta charset="utf-8">
        <title>\(Self.html(name ?? Array("Belfry".utf8)))</title>
        <ol></ol>
        <script type="module">\(script)</script>

        """
    }

    /// What the page may do: run this one script, load the library, and talk to its own broker.
    var contentSecurityPolicy: String {
        let digest = Base64.standard.encode(Digest(of: script.utf8.span).bytes.span)
        return """
            default-src 'none'; script-src 'self' 'sha256-\(String(decoding: digest, as: UTF8.self))'; \
            connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
            """
    }

    private var script: String {
        """

        import { NotificationCenter } from "./belfry.js";
        function show(value) {
          const item = document.createElement("li");
          item.textContent = JSON.stringify(value);
          document.querySelector("ol").prepend(item);
        }
        const center = new NotificationCenter(undefined, { center: \(Self.literal(center)) });
        const observed = { name: \(Self.literal(name)), object: \(Self.literal(object)) };
        center.addObserver(observed, show).catch((error) => show(`${error}`));

        """
    }

    /// A text as a literal of JavaScript that ends no script: `<` is escaped.
    private static func literal(_ text: [UInt8]?) -> String {
        guard let text else { return "null" }
        var literal: [UInt8] = []
        JSONWriter.append(string: text.span, to: &literal)
        return escaped(literal) { $0 == UInt8(ascii: "<") ? #"\u003C"# : nil }
    }

    /// A text that is text in HTML, too.
    private static func html(_ text: [UInt8]) -> String {
        escaped(text) {
            switch $0 {
            case UInt8(ascii: "<"): "&lt;"
            case UInt8(ascii: "&"): "&amp;"
            default: nil
            }
        }
    }

    private static func escaped(_ text: [UInt8], _ escape: (UInt8) -> String?) -> String {
        let bytes = text.flatMap { byte in escape(byte).map { Array($0.utf8) } ?? [byte] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
