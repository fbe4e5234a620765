/* Barcodes on copies and on reader cards. */
#ifndef QUILLSHELF_BARCODE_H
#define QUILLSHELF_BARCODE_H

#define BARCODE_DIGITS 13

enum barcode_kind {
    BARCODE_COPY,
    BARCODE_CARD,
    BARCODE_UNKNOWN
};

struct barcode {
    char digits[BARCODE_DIGITS + 1];
    enum barcode_kind kind;
};

int barcode_check_digit(const char *digits);
int barcode_parse(const char *text, struct barcode *out);

#endif
