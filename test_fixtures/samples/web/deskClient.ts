// Talks to the desk over HTTP.
import { FeeRow, LoanRow } from './accountTypes';

export interface DeskReply<T> {
  ok: boolean;
  body: T;
}

export class DeskClient {
  constructor(
    private readonly baseUrl: string,
    private readonly fetcher: typeof fetch,
  ) {}

  async loans(readerId: string): Promise<LoanRow[]> {
    return (await this.get<LoanRow[]>(`/readers/${readerId}/loans`)).body;
  }

  async fees(readerId: string): Promise<FeeRow[]> {
    return (await this.get<FeeRow[]>(`/readers/${readerId}/fees`)).body;
  }

  async renew(copyId: string): Promise<boolean> {
    const reply = await this.fetcher(`${this.baseUrl}/loans/${copyId}/renew`, { method: 'POST' });
    return reply.ok;
  }

  private async get<T>(path: string): Promise<DeskReply<T>> {
    // A timeout of five seconds: a page without loans beats a page that hangs.
    const reply = await this.fetcher(this.baseUrl + path, { signal: AbortSignal.timeout(5000) });
    if (!reply.ok) {
      throw new Error(`desk answered ${reply.status} for ${path}`);
    }
    return { ok: true, body: (await reply.json()) as T };
  }
}
