// What was asked of a media library, one line for each, in the order in which it was asked:
//
//   add NAME HASH     an asset of that name whose content has that SHA-256
//   edit NAME HASH    another content in its place
//   revert NAME       its original again
//   delete NAME       into the bin
//   empty             the bin is emptied
//
// From that follows what the library has to hold after each: lines `NAME ORIGINAL EDIT kept|binned`, EDIT being - for none.
#pragma once
#include "account.h"

struct answers library_after(const struct account *account, size_t count);
// Adds a line as of an asset, in the order of names.
void library_line(struct answers *lines, const char *name, const char *original, const char *edit, const char *place);
