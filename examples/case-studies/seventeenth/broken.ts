import { Client } from '@upstash/qstash'

// Sends a letter to 30 readers through a mailer that accepts five requests per ten seconds.

export const mailer = 'https://mailer.test/send'
const flowControl = { key: 'mailer', rate: 5, period: '10s' } as const

export async function sendLetter(): Promise<void> {
  const queue = new Client()
  for (let reader = 1; reader <= 30; reader++) {
    await queue.publishJSON({ url: mailer, body: { reader }, flowControl })
  }
}

/** Pauses the key while the mailer is being repaired. */
export async function pause(): Promise<void> {
  await new Client().flowControl.pause('mailer')
}

export async function resume(): Promise<void> {
  await new Client().flowControl.resume('mailer')
}
