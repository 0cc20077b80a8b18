/// The table of folders in STYLE.md, section 1, with the folders whose types each may name.
struct FolderTable: Equatable {
    /// An arrow between two folders of a room.
    struct Arrow: Hashable, CustomStringConvertible {
        let room: String
        let from: String
        let to: String

        var description: String { "\(room): \(from) > \(to)" }
    }

    let arrows: Set<Arrow>
    /// The rooms whose folders are held.
    let rooms: Set<String>

    /// Reads the table whose first column is headed `Folder`; its cells are like `Center/Words`.
    init(style text: String) {
        var arrows: Set<Arrow> = []
        var rooms: Set<String> = []
        for row in MarkdownTable.rows(headed: "Folder", in: text) where row.count >= 3 {
            let place = row[0].filter { $0 != "`" }.split(separator: "/")
            guard place.count == 2 else { continue }
            let room = "Belfry" + place[0]
            rooms.insert(room)
            for name in row[2].split(separator: ",").map(MarkdownTable.trimmed)
            where name != "nothing" {
                arrows.insert(Arrow(room: room, from: String(place[1]), to: name))
            }
        }
        self.arrows = arrows
        self.rooms = rooms
    }
}
