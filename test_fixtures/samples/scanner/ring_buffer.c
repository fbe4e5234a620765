/* The gun's memory: reads that wait until the kiosk picks them up. */
#include <stddef.h>
#include <string.h>

#include "barcode.h"

#define RING_SLOTS 64

struct ring {
    struct barcode slots[RING_SLOTS];
    size_t head;
    size_t used;
};

void ring_clear(struct ring *ring)
{
    memset(ring, 0, sizeof *ring);
}

int ring_push(struct ring *ring, const struct barcode *code)
{
    /* When the ring is full the oldest read is overwritten: the newest is what the reader sees. */
    size_t slot = (ring->head + ring->used) % RING_SLOTS;
    ring->slots[slot] = *code;
    if (ring->used == RING_SLOTS) {
        ring->head = (ring->head + 1) % RING_SLOTS;
        return 1;
    }
    ring->used++;
    return 0;
}

int ring_pop(struct ring *ring, struct barcode *out)
{
    if (ring->used == 0) {
        return -1;
    }
    *out = ring->slots[ring->head];
    ring->head = (ring->head + 1) % RING_SLOTS;
    ring->used--;
    return 0;
}
