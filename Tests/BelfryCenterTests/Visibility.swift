/// The visibility of a caller that may see all rows.
func all(_ name: [UInt8]?, _ object: [UInt8]?) -> Bool { true }
