internal import BelfryJSON

/// A caller, as callers see themselves.
public struct CallerRow: Sendable {
    /// The name under which they are listed; nil where they showed no credentials.
    public var principal: [UInt8]?
    /// The permissions of the caller.
    public var grants: [Grant]
    /// When their credentials expire, in milliseconds since 1970; nil is never.
    public var expiresAt: Int64?

    /// Joins the parts.
    public init(principal: [UInt8]?, grants: [Grant], expiresAt: Int64?) {
        self.principal = principal
        self.grants = grants
        self.expiresAt = expiresAt
    }

    /// Verbs on some names, objects and centers; a text that ends with `*` is a prefix.
    public struct Grant: Sendable {
        /// The words of the verbs.
        public var verbs: [[UInt8]]
        /// The names.
        public var names: [[UInt8]]
        /// The objects.
        public var objects: [[UInt8]]
        /// The centers.
        public var centers: [[UInt8]]
        /// The condition of the userInfo, as JSON.
        public var condition: [UInt8]?

        /// Joins the parts.
        public init(
            verbs: [[UInt8]], names: [[UInt8]], objects: [[UInt8]], centers: [[UInt8]],
            condition: [UInt8]? = nil
        ) {
            self.verbs = verbs
            self.names = names
            self.objects = objects
            self.centers = centers
            self.condition = condition
        }
    }
}

extension Shape {
    /// Appends the caller.
    public static func append(caller row: CallerRow, to output: inout [UInt8]) {
        var writer = JSONWriter()
        writer.beginObject(into: &output)
        writer.optionalString("principal", row.principal, into: &output)
        writer.array("grants", of: row.grants, into: &output) { grant, output, writer in
            writer.beginObject(into: &output)
            writer.strings("verbs", grant.verbs, into: &output)
            writer.strings("names", grant.names, into: &output)
            writer.strings("objects", grant.objects, into: &output)
            writer.strings("centers", grant.centers, into: &output)
            if let condition = grant.condition {
                writer.member("where", raw: condition, into: &output)
            }
            writer.endObject(into: &output)
        }
        if let expiresAt = row.expiresAt {
            writer.time("expiresAt", expiresAt, into: &output)
        } else {
            writer.member(null: "expiresAt", into: &output)
        }
        writer.endObject(into: &output)
    }
}
