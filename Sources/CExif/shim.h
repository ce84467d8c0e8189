/* libexif: writing EXIF into photos, in the recorder alone. What comes in is read in Swift. */
#pragma once
#include <libexif/exif-content.h>
#include <libexif/exif-data.h>
#include <libexif/exif-entry.h>
#include <libexif/exif-utils.h>
