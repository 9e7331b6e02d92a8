import { Client } from '@upstash/qstash'

// Sends a code by text message. The provider bills each try, so there shall be three at most.

export const textUrl = 'https://texts.test/api/send'

/** Two retries are three tries. */
export async function sendCode(phone: string, code: string): Promise<void> {
  await new Client().publishJSON({ url: textUrl, body: { phone, code }, retries: 2 })
}
