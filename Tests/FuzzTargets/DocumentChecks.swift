import BelfryJSON

/// Documents, their paths and patches, beside the plain model.
enum DocumentChecks {
    private static let limits = DocumentLimits(byteLimit: 2_000, depthLimit: 8)

    /// A text is a document for the model when it is one here; it is read back from what it writes.
    static func text(_ text: [UInt8]) -> String? {
        let model = try? PlainValue(reading: text)
        do throws(DocumentError) {
            let patch = try Document.parsePatch(text.span, limits: limits)
            guard let model else { return "a document of what is no JSON, or has a key twice" }
            if let fault = difference(patch, model) { return "a patch is \(fault)" }
            let document = try Document.parse(text.span, limits: limits)
            if let fault = difference(document, model.withoutNulls) { return "it is \(fault)" }
            guard try Document.parse(document.bytes.span, limits: limits) == document else {
                return "it is another one when it is read back"
            }
        } catch {
            switch error {
            case .text where model != nil: return "refused, and is no worse than others"
            case .text, .tooManyBytes, .tooDeep: break
            }
        }
        return nil
    }

    /// The first line is the document, the second one the patch, the third one its path.
    static func patch(_ input: [UInt8]) -> String? {
        guard let write = Write(reading: input, limits: limits) else { return nil }
        let before = write.document
        var document = before
        do throws(DocumentError) {
            let edit = try document.merge(write.patch, at: write.path, limits: limits)
            let model = write.model.setting(
                PlainValue.mergePatch(
                    write.model.value(at: write.path.keys[...]), write.patchModel),
                at: write.path.keys[...])
            if let fault = difference(document, model) { return "merged, it is \(fault)" }
            return changes(from: before, to: document, by: edit, seenFrom: write.path)
        } catch {
            return document == before ? nil : "refused, but changed"
        }
    }

    /// The first line is the document, the second one the value, the third one its path.
    static func path(_ input: [UInt8]) -> String? {
        guard let write = Write(reading: input, limits: limits) else { return nil }
        guard (try? DocumentPath.parse(write.path.text.span)) == write.path else {
            return "the path is another one when it is read back"
        }
        let before = write.document
        var document = before
        let value = write.patchModel.withoutNulls
        guard let parsed = try? Document.parse(value.bytes.span, limits: limits), !parsed.isNull
        else { return nil }
        do throws(DocumentError) {
            let edit = try document.set(parsed, at: write.path, limits: limits)
            let model = write.model.setting(value, at: write.path.keys[...])
            if let fault = difference(document, model) { return "set, it is \(fault)" }
            guard document.value(at: write.path) == parsed else { return "not what was set" }
            if let fault = changes(from: before, to: document, by: edit, seenFrom: write.path) {
                return fault
            }
        } catch {
            return document == before ? nil : "refused, but changed"
        }
        let middle = document
        let edit = document.remove(at: write.path)
        guard write.path.isWhole || document.value(at: write.path) == nil else {
            return "it is not gone"
        }
        return write.path.isWhole
            ? nil : changes(from: middle, to: document, by: edit, seenFrom: write.path)
    }

    /// The difference between a document and the model.
    private static func difference(_ document: Document, _ model: PlainValue) -> String? {
        let bytes = document.bytes
        guard bytes == model.bytes else {
            return "\(String(decoding: bytes, as: UTF8.self))"
        }
        guard document.byteCount == bytes.count else { return "counted wrong" }
        return nil
    }

    /// Checks that an edit reports the difference to each path on its way, and can be undone.
    private static func changes(
        from before: Document, to after: Document, by edit: DocumentEdit,
        seenFrom path: DocumentPath
    ) -> String? {
        for count in 0...path.keys.count {
            let text = [UInt8](path.keys.prefix(count).joined(separator: [UInt8(ascii: ".")]))
            guard let path = try? DocumentPath.parse(text.span) else { return "no path above it" }
            let (old, new) = (before.value(at: path), after.value(at: path))
            let change = edit.change(at: path)
            guard change == DocumentChange.difference(from: old, to: new) else {
                return "an edit tells another change than there is, \(count) keys down"
            }
            if let fault = fault(of: change, from: old, to: new) { return fault }
        }
        var undone = after
        undone.undo(edit)
        return undone == before ? nil : "it cannot be undone"
    }

    private static func fault(
        of change: DocumentChange, from old: Document?, to new: Document?
    ) -> String? {
        let free = DocumentLimits(byteLimit: .max, depthLimit: 128)
        switch change {
        case .none: return old == new ? nil : "a change was not told"
        case .removed(let told): return new == nil && told == old ? nil : "removed, or not"
        case .set(let value, let told): return value == new && told == old ? nil : "set, or not"
        case .merge(let forth, let back):
            guard var value = old else { return "merged into nothing" }
            _ = try? value.merge(forth, limits: free)
            guard value == new else { return "the patch does not lead forth" }
            _ = try? value.merge(back, limits: free)
            return value == old ? nil : "the patch does not lead back"
        }
    }

    /// A write that an input describes.
    private struct Write {
        let document: Document
        let model: PlainValue
        let patch: Document
        let patchModel: PlainValue
        let path: DocumentPath

        init?(reading input: [UInt8], limits: DocumentLimits) {
            let lines = input.split(
                separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false
            ).map { [UInt8]($0) }
            guard lines.count == 3 else { return nil }
            let (first, second, third) = (lines[0], lines[1], lines[2])
            guard let document = try? Document.parse(first.span, limits: limits),
                let model = try? PlainValue(reading: first),
                let patch = try? Document.parsePatch(second.span, limits: limits),
                let patchModel = try? PlainValue(reading: second),
                let path = try? DocumentPath.parse(third.span)
            else { return nil }
            self.document = document
            self.model = model.withoutNulls
            self.patch = patch
            self.patchModel = patchModel
            self.path = path
        }
    }
}
