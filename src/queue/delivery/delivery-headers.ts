import type { HeaderList } from '../../kernel/http.js'
import { type Random, singleId } from '../../kernel/random.js'
import type { Attempt, DeliveryWriter } from '../message/message-entries.js'
import { faultySignature } from '../signing/signature-lab.js'
import { claimsFor, type SignatureWindow, type SigningKeys, signToken } from '../signing/signing.js'

/**
 * Returns a function that creates the headers of a delivery. Headers are created when they are first read, because most
 * headers are never read. [queue.md 3.1]
 */
export function deliveryWriter(random: Random, window: SignatureWindow, keys: SigningKeys): DeliveryWriter {
  const signatureOf = (attempt: Attempt): ((issuer: string) => string) => {
    // Use a separate random stream for each signature. The ID in the signature then depends neither on when the header
    // is read nor on the durations by which a test advances time.
    const jti = singleId(random.fork(`jwt/${attempt.messageId}/${attempt.at}/${attempt.number}`), 'jwt_', 28)
    const { at, key, signing, message } = attempt
    if (signing !== undefined) {
      const { body } = attempt
      return (issuer) => faultySignature(signing, message.url, body, key, keys, { at, issuer, jti, window })
    }
    const hash = attempt.bodyHash
    return (issuer) => signToken(claimsFor(message.url, hash, at, issuer, jti, window), key)
  }
  return {
    headers: (attempt: Attempt): HeaderList => {
      const { message } = attempt
      const { words } = message.settings
      const { urlGroup, scheduleId, callerIp, region } = message.origin
      const headers: (readonly [string, string])[] = []
      if (!message.headers.some(([name]) => name === 'User-Agent')) headers.push(['User-Agent', words.userAgent])
      headers.push(...message.headers)
      if (message.part !== undefined) headers.push(...message.part.headers(message))
      const signature = signatureOf(attempt)
      for (const { prefix, issuer } of words.tongues) {
        headers.push([`${prefix}Signature`, signature(issuer)], [`${prefix}Message-Id`, message.id])
        headers.push([`${prefix}Retried`, String(attempt.retried)])
        if (urlGroup !== undefined) headers.push([`${prefix}Topic-Name`, urlGroup])
        if (scheduleId !== undefined) headers.push([`${prefix}Schedule-Id`, scheduleId])
        headers.push([`${prefix}Caller-Ip`, callerIp], [`${prefix}Region`, region.toUpperCase()])
      }
      return headers
    },
  }
}
