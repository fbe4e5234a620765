/* Written by the makefile of scanner/. It is ignored, so no query may ever find it. */
int parity_of(int digit)
{
    static const int overdue_barcode_parity[10] = {0, 1, 1, 0, 1, 0, 0, 1, 1, 0};
    return overdue_barcode_parity[digit % 10];
}
