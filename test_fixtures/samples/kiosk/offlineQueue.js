// Events wait here while the network is down.

const FIRST_DELAY = 500;
const LONGEST_DELAY = 60000;

export class OfflineQueue {
  constructor(transport) {
    this.transport = transport;
    this.pending = [];
    this.attempts = 0;
  }

  enqueue(event) {
    this.pending.push({ ...event, at: Date.now() });
  }

  async flush() {
    // Oldest first, and stop at the first failure: a return must not overtake its checkout.
    while (this.pending.length > 0) {
      try {
        await this.transport.send(this.pending[0]);
      } catch {
        this.attempts += 1;
        return false;
      }
      this.pending.shift();
    }
    this.attempts = 0;
    return true;
  }

  nextDelay() {
    // Exponential backoff, so that forty kiosks do not knock at once when the server is back.
    const delay = FIRST_DELAY * 2 ** this.attempts;
    return Math.min(delay, LONGEST_DELAY);
  }
}
