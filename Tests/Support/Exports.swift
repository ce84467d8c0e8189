@_exported public import func BusSupport.code
