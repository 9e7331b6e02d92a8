import { Client } from '@upstash/qstash'
import { Redis } from '@upstash/redis'

// Documents to be signed. After the last signature, a job mails the contract to all signers.

export interface Contract {
  readonly id: string
  readonly signers: readonly string[]
}

export const sendUrl = 'https://sign.test/api/jobs/send-contract'

export async function completed(contract: Contract): Promise<void> {
  await new Client().publishJSON({ url: sendUrl, body: contract, retries: 3 })
}

export async function sendContract(request: Request): Promise<Response> {
  const { id, signers } = (await request.json()) as Contract
  const redis = Redis.fromEnv()
  for (const signer of signers) {
    await redis.rpush(`outbox:${signer}`, `The contract ${id} is signed.`)
  }
  return Response.json({ sent: signers.length })
}
