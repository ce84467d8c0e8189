/* OpenSSL's libcrypto: SHA-256 by the EVP interface, which takes the processor's own instructions, and AES-256-GCM. */
#pragma once
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
