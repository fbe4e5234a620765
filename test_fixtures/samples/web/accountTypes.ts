// The shapes that the account page gets from the desk.

export enum LoanState {
  Active = 'active',
  Late = 'late',
  Lost = 'lost',
}

export interface LoanRow {
  copyId: string;
  title: string;
  due: string;
  state: LoanState;
  renewals: number;
}

export interface FeeRow {
  copyId: string;
  cents: number;
  waived: boolean;
}

export function isLate(row: LoanRow, today: string): boolean {
  // ISO dates compare as text.
  return row.state === LoanState.Active && today > row.due;
}
