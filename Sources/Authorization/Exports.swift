// Whoever decides about programs also knows them.
@_exported public import ProgramIdentity
