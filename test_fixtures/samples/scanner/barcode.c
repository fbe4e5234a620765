/* Reads what the laser saw: thirteen digits, the last of which is a checksum. */
#include <ctype.h>
#include <string.h>

#include "barcode.h"

int barcode_check_digit(const char *digits)
{
    /* Weights 1 and 3 in turn, as on every shop's price label. */
    int sum = 0;
    for (int i = 0; i < BARCODE_DIGITS - 1; i++) {
        sum += (digits[i] - '0') * (i % 2 ? 3 : 1);
    }
    return (10 - sum % 10) % 10;
}

static enum barcode_kind kind_of(const char *digits)
{
    if (strncmp(digits, "290", 3) == 0) {
        return BARCODE_COPY;
    }
    if (strncmp(digits, "291", 3) == 0) {
        return BARCODE_CARD;
    }
    return BARCODE_UNKNOWN;
}

int barcode_parse(const char *text, struct barcode *out)
{
    /* Returns 0, or -1 if the text is too short, holds a letter or fails the checksum. */
    for (int i = 0; i < BARCODE_DIGITS; i++) {
        if (!isdigit((unsigned char)text[i])) {
            return -1;
        }
        out->digits[i] = text[i];
    }
    out->digits[BARCODE_DIGITS] = '\0';
    if (barcode_check_digit(out->digits) != out->digits[BARCODE_DIGITS - 1] - '0') {
        return -1;
    }
    out->kind = kind_of(out->digits);
    return 0;
}
