import BelfryJSON
import BelfryTLS
import BelfryWebSocket

/// The small page that observes a name and an object, and shows how to post a notification.
///
/// It begins when its reader presses a button: a link from a stranger makes neither a center nor an
/// observer.
///
/// Text from the query is in a title and in strings of the script, and is escaped for both.
struct TryPage {
    /// The observed name and object; nil is any.
    let name: [UInt8]?
    let object: [UInt8]?
    /// The center; nil is `default`.
    let center: [UInt8]?

    /// The page.
    var text: String {
        """
        <!doctype html>
        <meta charset="utf-8">
        <title>\(Self.html(name ?? Array("Belfry".utf8)))</title>
        <p>Loading; this page needs JavaScript and its broker.</p>
        <button hidden>Listen</button>
        <pre></pre>
        <ol></ol>
        <script type="module">\(script)</script>

        """
    }

    /// The policy of the page: run this one script, load the library, and talk to its own broker.
    var contentSecurityPolicy: String {
        let digest = Base64.standard.encode(Digest(of: script.utf8.span).bytes.span)
        return """
            default-src 'none'; script-src 'self' \
            'sha256-\(String(decoding: digest, as: UTF8.self))'; connect-src 'self'; base-uri \
            'none'; form-action 'none'; frame-ancestors 'none'
            """
    }

    private var script: String {
        """

        import { NotificationCenter } from "./belfry.js";
        const place = { center: \(Self.literal(center)) };
        const observed = { name: \(Self.literal(name)), object: \(Self.literal(object)) };
        function say(where, text) { document.querySelector(where).textContent = text; }
        function show(value) {
          const item = document.createElement("li");
          item.textContent = JSON.stringify(value);
          document.querySelector("ol").prepend(item);
        }
        const of = observed.object === null ? "" : ` of ${observed.object}`;
        const what = `${observed.name ?? "every notification"}${of}`;
        function explain() {
          say("p", `Listening to ${what}; post with:`);
          const center = place.center === null ? [] : ["centers", place.center];
          const path = ["v1", ...center, "channels", observed.name ?? "ButtonChange"];
          const url = new URL(path.map(encodeURIComponent).join(`/`), document.baseURI);
          if (of) url.searchParams.set("object", observed.object);
          // A quote of the query must not end the argument of the shell.
          say("pre", `curl -d '{"title":"7"}' '${url.href.replaceAll("'", "%27")}'`);
        }
        function listen(event) {
          event.target.remove();
          new NotificationCenter(undefined, place).addObserver(observed, show)
            .then(explain, (error) => say("p", `${error}`));
        }
        say("p", `Press the button to listen to ${what}.`);
        Object.assign(document.querySelector("button"), { hidden: false, onclick: listen });

        """
    }

    /// A text as a literal of JavaScript that ends no script: `<` is escaped.
    private static func literal(_ text: [UInt8]?) -> String {
        guard let text else { return "null" }
        var literal: [UInt8] = []
        JSONWriter.append(string: text.span, to: &literal)
        return escaped(literal) { $0 == UInt8(ascii: "<") ? #"\u003C"# : nil }
    }

    /// A text escaped for HTML.
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
