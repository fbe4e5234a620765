// Paper slips: what was borrowed, and when it must come back.
import { formatCents } from '../web/feeSummary';

const WIDTH = 32;

function centre(text) {
  const pad = Math.max(0, Math.floor((WIDTH - text.length) / 2));
  return ' '.repeat(pad) + text;
}

function receiptLine(line) {
  const due = line.due ?? 'ask at the desk';
  return `${line.barcode.padEnd(14)}${due.padStart(WIDTH - 14)}`;
}

export function printReceipt(printer, readerId, lines) {
  // Only the last four digits of the card go on paper: slips are left lying around.
  printer.write(centre('Quillshelf'));
  printer.write(`card ...${readerId.slice(-4)}`);
  for (const line of lines) {
    printer.write(receiptLine(line));
  }
  printer.cut();
}

export function printFeeSlip(printer, readerId, cents) {
  printer.write(centre('fee notice'));
  printer.write(`card ...${readerId.slice(-4)}  ${formatCents(cents)}`);
  printer.cut();
}
