// One reader at the kiosk, from the card to the receipt.
import { printReceipt } from './receipt';
import { OfflineQueue } from './offlineQueue';

const IDLE_SECONDS = 45;

export class ScanSession {
  constructor(readerId, transport) {
    this.readerId = readerId;
    this.queue = new OfflineQueue(transport);
    this.scanned = [];
    this.lastTouch = Date.now();
  }

  addCopy(barcode) {
    // The gun repeats itself when the trigger is held: a second read of a copy is no error.
    if (this.scanned.includes(barcode)) {
      return false;
    }
    this.scanned.push(barcode);
    this.lastTouch = Date.now();
    this.queue.enqueue({ type: 'checkout', copyId: barcode, readerId: this.readerId });
    return true;
  }

  isIdle(now) {
    return now - this.lastTouch > IDLE_SECONDS * 1000;
  }

  finish(printer) {
    const lines = this.scanned.map((barcode) => ({ barcode, due: null }));
    printReceipt(printer, this.readerId, lines);
    this.scanned = [];
  }
}

export function startSession(card, transport) {
  if (!card || card.suspended) {
    throw new Error('this card may not borrow');
  }
  return new ScanSession(card.readerId, transport);
}
