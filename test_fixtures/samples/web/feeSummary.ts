// What a reader owes, as the account page shows it.
import { FeeRow } from './accountTypes';

export function totalFees(rows: FeeRow[]): number {
  return rows.filter((row) => !row.waived).reduce((sum, row) => sum + row.cents, 0);
}

export function formatCents(cents: number): string {
  const whole = Math.trunc(cents / 100);
  const rest = String(cents % 100).padStart(2, '0');
  return `${whole}.${rest}`;
}

export function feeBanner(rows: FeeRow[]): string | null {
  // Borrowing stops at ten: the banner warns a little earlier.
  const cents = totalFees(rows);
  if (cents === 0) {
    return null;
  }
  if (cents >= 1000) {
    return `You owe ${formatCents(cents)}: please pay at the desk before you borrow again.`;
  }
  return `You owe ${formatCents(cents)}.`;
}
