import type { HeaderList } from '../../kernel/http.js'
import { type Random, singleId } from '../../kernel/random.js'
import type { Attempt, DeliveryWriter } from '../destinations/attempt.js'
import type { Words } from '../settings/words.js'
import { faultySignature } from '../signing/signature-lab.js'
import { claimsFor, type SignatureWindow, type SigningKeys, signToken } from '../signing/signing.js'

/** Builds the headers of a delivery when they are read: most are never looked at. [queue.md 3.1] */
export function deliveryWriter(
  words: Words,
  random: Random,
  window: SignatureWindow,
  keys: SigningKeys,
): DeliveryWriter {
  const names = {
    signature: words.header('Signature'),
    messageId: words.header('Message-Id'),
    retried: words.header('Retried'),
    topicName: words.header('Topic-Name'),
    scheduleId: words.header('Schedule-Id'),
    callerIp: words.header('Caller-Ip'),
    region: words.header('Region'),
  }
  const signature = (attempt: Attempt): string => {
    // From a stream of its own, so that it does not matter when, and whether, the header is read, nor in which steps the
    // test moved time.
    const jti = singleId(random.fork(`jwt/${attempt.messageId}/${attempt.at}/${attempt.number}`), 'jwt_', 28)
    if (attempt.signing !== undefined) {
      const context = { at: attempt.at, issuer: words.issuer, jti, window }
      return faultySignature(attempt.signing, attempt.message.url, attempt.body, attempt.key, keys, context)
    }
    const claims = claimsFor(attempt.message.url, attempt.bodyHash, attempt.at, words.issuer, jti, window)
    return signToken(claims, attempt.key)
  }
  return {
    headers: (attempt: Attempt): HeaderList => {
      const { message } = attempt
      const { urlGroup, scheduleId, callerIp, region } = message.origin
      const headers: (readonly [string, string])[] = []
      if (!message.headers.some(([name]) => name === 'User-Agent')) headers.push(['User-Agent', words.userAgent])
      headers.push(...message.headers)
      if (message.part !== undefined) headers.push(...message.part.headers(message))
      headers.push([names.signature, signature(attempt)], [names.messageId, message.id])
      headers.push([names.retried, String(attempt.retried)])
      if (urlGroup !== undefined) headers.push([names.topicName, urlGroup])
      if (scheduleId !== undefined) headers.push([names.scheduleId, scheduleId])
      headers.push([names.callerIp, callerIp], [names.region, region.toUpperCase()])
      return headers
    },
  }
}
